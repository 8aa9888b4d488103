/** Transcription cases that both clients must pass against a scripted server. */
import { createReadStream, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { responseOf, type FileInput } from "@sounding/client";
import { errorOf, kindOf, type ModeCases } from "./mode-case.ts";

const audio = "RIFF some audio\r\n--sounding";
const bytes = new TextEncoder().encode(audio);
const transcribed = { model: "m", file: bytes };

/** Runs `work` with the path of a file that holds the audio. */
async function withFile<T>(work: (path: string) => T): Promise<Awaited<T>> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-client-"));
  try {
    const path = join(directory, 'a "b".wav');
    writeFileSync(path, audio);
    return await work(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function* pieces(): Generator<Uint8Array, void, void> {
  for (let start = 0; start < bytes.length; start += 5) yield bytes.subarray(start, start + 5);
}

function* brokenPieces(): Generator<Uint8Array, void, void> {
  yield bytes;
  throw new Error("the tape broke");
}

export const transcriptionModeCases = {
  "transcribes a recording": async ({ client }) => {
    const answer = await client.audio.transcriptions.create({
      ...transcribed,
      language: "en-US",
      prompt: undefined,
      extra_body: { language: "fr-FR", hints: { a: [1] } },
    });
    return [answer.text, responseOf(answer)?.status];
  },
  "transcribes with times": async ({ client }) => {
    const answer = await client.audio.transcriptions.create({
      ...transcribed,
      response_format: "verbose_json",
      timestamp_granularities: ["segment", "word"],
      chunking_strategy: { type: "server_vad", prefix_padding_ms: 4000 },
      timeout: 5,
    });
    return [answer.duration, answer.segments.length, answer.words?.map(({ word }) => word)];
  },
  "transcribes while the recording is understood": async ({ client }) => {
    const seen: string[] = [];
    for await (const event of await client.audio.transcriptions.create({ ...transcribed, stream: true })) {
      switch (event.type) {
        case "transcript.text.delta":
          seen.push(event.delta);
          break;
        case "transcript.word":
          seen.push(event.word);
          break;
        case "transcript.segment":
          seen.push(event.segment.text);
          break;
        case "transcript.text.done":
          seen.push(event.text);
      }
    }
    return seen;
  },
  "sends files of every kind": async ({ client }) => {
    const heard: (string | null)[] = [];
    const send = async (file: FileInput): Promise<void> => {
      heard.push((await client.audio.transcriptions.create({ model: "m", file })).text);
    };
    await withFile(async (path) => {
      await send(path);
      await send(pathToFileURL(path));
      await send(createReadStream(path));
      const fd = openSync(path, "r");
      await send({ fd });
      closeSync(fd);
      await using handle = await open(path);
      await send(handle);
    });
    await send(bytes);
    await send(Buffer.from(audio));
    await send(bytes.buffer);
    await send(new DataView(bytes.buffer));
    await send(new Blob([bytes], { type: "audio/wav" }));
    await send(new File([bytes], "f.wav", { type: "audio/x-wav" }));
    await send(pieces());
    await send({ content: pieces(), name: "g\r\n.pcm", type: "audio/L16; rate=8000" });
    return heard;
  },
  "sends a file again for another attempt": ({ make }) =>
    withFile(async (file) => {
      const client = make({ maxRetries: 2 });
      const one = await client.audio.transcriptions.create({ model: "m", file });
      const two = await client.audio.transcriptions.create(transcribed);
      return [one.text, two.text];
    }),
  "sends what can be read once but once": ({ make }) =>
    kindOf(() => make({ maxRetries: 2 }).audio.transcriptions.create({ model: "m", file: pieces() })),
  "throws when a file cannot be read": async ({ make }) => {
    const { transcriptions } = make({ maxRetries: 2 }).audio;
    const send = (file: FileInput) => () => transcriptions.create({ model: "m", file });
    const missing = (await errorOf(send("/nowhere/a.wav"))) as { kind: string; message: string };
    const failures = [send(tmpdir()), send(brokenPieces()), send(["text"] as never), send(7 as never)];
    const kinds: unknown[] = [missing.kind, /ENOENT/.test(missing.message)];
    for (const failure of failures) kinds.push(await kindOf(failure));
    return kinds;
  },
  "cancels a transcription by leaving the loop": async ({ client }) => {
    for await (const event of await client.audio.transcriptions.create({ ...transcribed, stream: true })) {
      return event.type;
    }
    return undefined;
  },
  "throws when a stream of a transcription ends too early": ({ client }) =>
    kindOf(async () => {
      for await (const _ of await client.audio.transcriptions.create({ ...transcribed, stream: true }));
    }),
} satisfies ModeCases;

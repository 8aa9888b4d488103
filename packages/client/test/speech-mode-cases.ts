/** Speech cases that both clients must pass against a scripted server. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { responseOf, TTSResponse } from "@sounding/client";
import { errorOf, kindOf, type CaseTools, type ModeCases } from "./mode-case.ts";

const spoken = { model: "m", voice: "v", input: "Hello." };
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Returns what `write` wrote to the file whose path it received. */
async function written(write: (path: string) => unknown): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-client-"));
  try {
    const path = join(directory, "hello.mp3");
    await write(path);
    return readFileSync(path, "utf8");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** All items of a stream, bytes as text. */
async function items({ client, reached }: CaseTools, params: object = {}, options: object = {}): Promise<unknown[]> {
  const seen: unknown[] = [];
  const stream = await client.audio.speech.with_streaming_response.create({ ...spoken, ...params }, options);
  for await (const item of stream as AsyncIterable<unknown>) {
    seen.push(item instanceof Uint8Array ? text(item) : item);
    reached("item");
  }
  return seen;
}

export const speechModeCases = {
  "speaks a text": async ({ client }) => {
    const params = { ...spoken, response_format: "mp3" as const, speed: undefined };
    const speech = await client.audio.speech.create({ ...params, extra_body: { sample_rate: 8000 } });
    return [
      speech instanceof TTSResponse,
      text(speech.content),
      "word_boundaries" in speech,
      responseOf(speech)?.requestId,
    ];
  },
  "speaks a text and tells its words": async ({ client }) => {
    const speech = await client.audio.speech.create({ ...spoken, extra_body: { enable_word_boundary: true } });
    return [text(speech.content), speech.word_boundaries];
  },
  "gives audio in chunks of a size": async ({ client }) => {
    const speech = await client.audio.speech.create(spoken);
    const chunks = [...speech.iter_bytes(4)].map(text);
    for await (const chunk of speech.iterBytes(6)) chunks.push(text(chunk));
    return [...chunks, [...speech.iter_bytes()].length];
  },
  "writes audio into files": async ({ client }) => {
    const speech = await client.audio.speech.create(spoken);
    return [
      await written((path) => speech.write_to_file(path)),
      await written((path) => speech.writeToFile(new URL(`file://${path}`))),
      await written((path) => speech.stream_to_file(path)),
      await written((path) => speech.streamToFile(path, 3)),
    ];
  },
  "speaks while the audio is made": (tools) => items(tools),
  "speaks while the audio is made and tells the words": (tools) => items(tools, { enable_word_boundary: true }),
  "gives streamed audio in chunks of a size": async ({ client }) => {
    const stream = await client.audio.speech.with_streaming_response.create({
      ...spoken,
      extra_body: { enable_word_boundary: true },
    });
    const chunks: string[] = [];
    for await (const chunk of stream.iter_bytes(4)) chunks.push(text(chunk));
    return chunks;
  },
  "writes streamed audio into a file": async ({ client }) => {
    const { with_streaming_response: streaming } = client.audio.speech;
    const [one, two] = [await streaming.create(spoken), await streaming.create(spoken)];
    return [await written((path) => one.stream_to_file(path)), await written((path) => two.streamToFile(path, 2))];
  },
  "refuses a chunk size that is none": async ({ client }) => {
    const speech = await client.audio.speech.create(spoken);
    const stream = await client.audio.speech.with_streaming_response.create(spoken);
    const refusals = [await errorOf(() => speech.iter_bytes(0)), await kindOf(() => stream.iter_bytes(-1))];
    await stream.close();
    return refusals;
  },
  "throws when audio is a web page": ({ client }) => errorOf(() => client.audio.speech.create(spoken)),
  "throws when JSON has no audio": ({ client }) => kindOf(() => client.audio.speech.create(spoken)),
  "throws when audio is not base64": ({ client }) => kindOf(() => client.audio.speech.create(spoken)),
  "throws when streamed audio is something else": (tools) => errorOf(() => items(tools)),
  "throws when streamed audio is cut": (tools) => kindOf(() => items(tools)),
  "throws when a line of a stream is cut": (tools) => errorOf(() => items(tools)),
  "throws an error among lines of speech": (tools) => errorOf(() => items(tools)),
  "cancels speech by leaving the loop": async ({ client }) => {
    for await (const piece of await client.audio.speech.with_streaming_response.create(spoken)) return text(piece);
    return undefined;
  },
  "cancels speech by leaving a loop over chunks": async ({ client }) => {
    const stream = await client.audio.speech.with_streaming_response.create(spoken);
    for await (const piece of stream.iter_bytes(2)) return text(piece);
    return undefined;
  },
  "cancels speech by a signal": ({ client }) =>
    kindOf(async () => {
      const controller = new AbortController();
      const { signal } = controller;
      for await (const _ of await client.audio.speech.with_streaming_response.create(spoken, { signal })) {
        controller.abort();
      }
    }),
  "cancels speech at its time limit": (tools) => kindOf(() => items(tools, { timeout: 0.3 })),
  "repeats speech only until its first byte": async ({ make }) => {
    const client = make({ maxRetries: 2 });
    return kindOf(async () => {
      for await (const _ of await client.audio.speech.with_streaming_response.create(spoken));
    });
  },
  "lists voices": async ({ client }) => {
    const all = await client.audio.voices.list();
    const some = await client.audio.voices.list({ language: "fr-FR", model: "a b" });
    return [all.data.length, some.object];
  },
} satisfies ModeCases;

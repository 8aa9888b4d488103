import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import {
  done,
  events,
  failure,
  formOf,
  json,
  startScriptedServer,
  type Answer,
} from "../../client/test/scripted-server.ts";
import { run } from "../src/run.ts";
import { wavHeader } from "../src/speak/wav-header.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();
const directory = mkdtempSync(join(tmpdir(), "sounding-transcribe-test-"));
after(() => rmSync(directory, { recursive: true }));

const recording = join(directory, "talk.wav");
writeFileSync(recording, Buffer.concat([wavHeader(8_000, 64_000), Buffer.alloc(64_000)]));

const segment = (id: number, start: number, end: number, text: string): object => ({
  id,
  seek: start,
  start,
  end,
  text,
  avg_logprob: -0.1,
  compression_ratio: 4,
});
const word = (word: string, start: number, end: number, confidence?: number): object => ({
  type: "transcript.word",
  word,
  start,
  end,
  segment: 0,
  ...(confidence === undefined ? {} : { confidence }),
});
const delta = (text: string): object => ({ type: "transcript.text.delta", delta: text, text, logprobs: null });
const finished = (text: string): object => ({ type: "transcript.text.done", text, logprobs: null });
const transcript = [
  delta("six "),
  delta("feet"),
  word("six", 0.5, 0.75, 0.9),
  word("feet", 1, 1.25),
  { type: "transcript.segment", segment: segment(0, 0.5, 2, "six feet") },
  finished("six feet"),
];
const streamed = events([...transcript, done]);

const refusesWords = failure(400, {}, { param: "timestamp_granularities", code: "unsupported_parameter" });

const asked = ["-m", "m"];

function transcribe(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url, PATH: "/nowhere", ...options.env };
  return runSounding(["transcribe", ...words], { ...options, env });
}

async function fieldsOf(index = 0): Promise<Record<string, unknown>> {
  const form = await formOf(server.requests[index]!);
  const lists = form.getAll("timestamp_granularities[]") as string[];
  const file = form.get("file") as File;
  const { "timestamp_granularities[]": _, ...fields } = Object.fromEntries(form.entries());
  return { ...fields, granularities: lists.join(), file: `${file.name} ${file.type}` };
}

describe("sounding transcribe", () => {
  test("writes the text of a file", async () => {
    server.answer(streamed);
    assert.deepEqual(await transcribe([recording, "-l", "en-US", ...asked]), {
      code: 0,
      stdout: "six feet\n",
      stderr: "",
    });
    assert.deepEqual(await fieldsOf(), {
      model: "m",
      language: "en-US",
      timeout: "86400",
      stream: "true",
      response_format: "verbose_json",
      granularities: "segment",
      file: "talk.wav application/octet-stream",
    });
  });

  test("uses the first transcription model if none is named", async () => {
    const model = { object: "model", created: 1, owned_by: "x" };
    server.answer(json({ object: "list", data: [{ id: "first", ...model }] }), streamed);
    assert.equal((await transcribe([recording])).code, 0);
    assert.equal(server.requests[0]!.url, "/v1/models?capability=transcription");
    assert.equal((await fieldsOf(1))["model"], "first");
    server.answer(json({ object: "list", data: [] }));
    const none = await transcribe([recording]);
    assert.deepEqual([none.code, /the server has no transcription model/.test(none.stderr)], [5, true]);
  });

  test("writes text as it is recognized", async () => {
    let release = (): void => undefined;
    const seen = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.answer(async (response, request) => {
      void events([delta("six ")], true)(response, request);
      await seen;
      response.end(
        [delta("feet"), finished("six feet")].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + done,
      );
    });
    const { stdout } = await transcribe(["--stream", "--type", "audio/L16; rate=8000", ...asked], {
      input: "samples",
      during: ({ stdout }) => void once(stdout, "data").then(() => release()),
    });
    assert.match(stdout, /feet\n$/);
    assert.equal((await fieldsOf())["file"], "recording audio/l16; rate=8000");
  });

  test("reports when each word is spoken", async () => {
    server.answer(streamed);
    const { stdout } = await transcribe([recording, "--words", ...asked]);
    assert.equal(stdout, "   0.500   0.750  0.90  six\n   1.000   1.250     -  feet\n");
    assert.equal((await fieldsOf())["granularities"], "segment,word");
  });

  test("writes subtitles, word by word on request", async () => {
    server.answer(streamed);
    assert.equal(
      (await transcribe([recording, "-f", "srt", ...asked])).stdout,
      "1\n00:00:00,500 --> 00:00:02,000\nsix feet\n",
    );
    assert.equal(
      (await transcribe([recording, "-f", "vtt", "--words", ...asked])).stdout,
      "WEBVTT\n\n00:00:00.500 --> 00:00:00.750\nsix\n\n00:00:01.000 --> 00:00:01.250\nfeet\n",
    );
  });

  test("writes subtitles of piped input from a model without word times", async () => {
    server.answer(refusesWords, streamed);
    const { stdout, code } = await transcribe(["-", "-f", "srt", ...asked], { input: "samples" });
    assert.deepEqual([code, stdout], [0, "1\n00:00:00,500 --> 00:00:02,000\nsix feet\n"]);
    assert.equal((await fieldsOf(1))["granularities"], "segment");
  });

  test("writes the server's answer as JSON", async () => {
    const answer = { task: "transcribe", language: "en-US", duration: 4, text: "six feet", segments: [] };
    server.answer(json(answer));
    for (const how of [["--json"], ["--format", "json"]]) {
      assert.deepEqual(JSON.parse((await transcribe([recording, ...how, ...asked])).stdout), answer);
    }
  });

  test("writes nothing if there is no speech", async () => {
    server.answer(events([finished(""), done]));
    assert.deepEqual(await transcribe([recording, ...asked]), { code: 0, stdout: "", stderr: "" });
  });

  test("shows progress on a terminal and clears it at the end", async () => {
    server.answer(streamed);
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, shown] = [text(stdout), text(stderr)];
    const code = await run(["transcribe", recording, ...asked], {
      stdin: new PassThrough(),
      stdout,
      stderr,
      isTTY: { stdin: true, stdout: false, stderr: true },
      env: { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url },
      signal: new AbortController().signal,
      abortedExitCode: () => 130,
    });
    stdout.end();
    stderr.end();
    assert.deepEqual([code, await out], [0, "six feet\n"]);
    assert.match(await shown, /^\r\[ {30}\] 0 % {2}0:00 of 0:04\r\[={6} {24}\] 18 % {2}0:00 of 0:04.*\r +\r$/s);
  });

  test("cancels everything when it is interrupted", async () => {
    server.answer(events([delta("six ")], true));
    const { code } = await transcribe([recording, "--stream", ...asked], {
      during: (child) => void once(child.stdout, "data").then(() => child.kill("SIGINT")),
    });
    assert.equal(code, 130);
    await server.requests[0]!.closed;
  });

  for (const [title, words, code, message] of [
    ["a file that is not there", ["nowhere.wav", ...asked], 5, /nowhere\.wav cannot be read: the file does not exist/],
    ["a folder", [directory, ...asked], 1, /cannot be read/],
    ["a file and the microphone", [recording, "--mic", ...asked], 2, /cannot be combined/],
    ["a stream of subtitles", [recording, "--stream", "-f", "srt", ...asked], 2, /--stream requires --format text/],
    ["a duration without a microphone", [recording, "--duration", "3", ...asked], 2, /--duration requires --mic/],
    ["a microphone without its program", ["--mic", ...asked], 5, /--mic requires arecord/],
  ] as const) {
    test(`refuses ${title}`, async () => {
      server.answer(streamed);
      const outcome = await transcribe(words);
      assert.equal(outcome.code, code, outcome.stderr);
      assert.match(outcome.stderr, message);
    });
  }
});

describe("sounding transcribe --mic", () => {
  /** A folder whose `arecord` is this script. */
  function microphone(script: string): string {
    const folder = mkdtempSync(join(directory, "bin-"));
    writeFileSync(join(folder, "arecord"), `#!/bin/sh\nPATH=/usr/bin:/bin\necho "$@" > "$0.words"\n${script}\n`);
    chmodSync(join(folder, "arecord"), 0o755);
    return folder;
  }

  const echo: Answer = async (response, request) => {
    const heard = await ((await formOf(request)).get("file") as File).text();
    return events([delta(heard), finished(heard), done])(response, request);
  };

  test("transcribes the microphone for the given duration", async () => {
    server.answer(echo);
    const folder = microphone("printf 'six feet'");
    const { stdout, code } = await transcribe(["--mic", "--duration", "2.5", ...asked], { env: { PATH: folder } });
    assert.deepEqual([code, stdout], [0, "six feet\n"]);
    assert.equal(readFileSync(join(folder, "arecord.words"), "utf8"), "-q -t raw -f S16_LE -c 1 -r 16000 -d 3 -\n");
    assert.equal((await fieldsOf())["file"], "microphone.pcm audio/l16; rate=16000");
  });

  /** Transcribes a microphone that records until Ctrl-C. */
  function transcribeUntilInterrupted(words: readonly string[]): Promise<Outcome> {
    // Creates a file to signal that it listens, then waits to be stopped.
    const folder = microphone(
      `printf 'six feet'; trap 'exit 1' TERM; touch "$0.listens"; while :; do sleep 0.05; done`,
    );
    return transcribe(["--mic", ...words, ...asked], {
      env: { PATH: folder },
      during: (child) => {
        const look = setInterval(() => {
          try {
            readFileSync(join(folder, "arecord.listens"));
          } catch {
            return;
          }
          clearInterval(look);
          child.kill("SIGINT");
        }, 20);
      },
    });
  }

  test("ends the recording, not the transcription, at the first Ctrl-C", async () => {
    server.answer(echo);
    const { stdout, code } = await transcribeUntilInterrupted([]);
    assert.deepEqual([code, stdout], [0, "six feet\n"]);
  });

  test("writes subtitles from a model without word times, with everything heard before Ctrl-C", async () => {
    server.answer(refusesWords, streamed);
    const { stdout, code } = await transcribeUntilInterrupted(["-f", "srt"]);
    assert.deepEqual([code, stdout], [0, "1\n00:00:00,500 --> 00:00:02,000\nsix feet\n"]);
    assert.equal((await fieldsOf(1))["file"], "microphone.pcm audio/l16; rate=16000");
    assert.equal(await ((await formOf(server.requests[1]!)).get("file") as File).text(), "six feet");
  });

  test("reports why it hears nothing", async () => {
    server.answer(echo);
    const folder = microphone("echo 'no soundcards found' >&2; exit 1");
    const { code, stderr } = await transcribe(["--mic", ...asked], { env: { PATH: folder } });
    assert.deepEqual([code, stderr], [1, "sounding: arecord cannot record: no soundcards found\n"]);
  });
});

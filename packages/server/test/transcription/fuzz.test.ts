/** Corrupted requests to a whole server: each is answered, none with an internal error, and no upload is left behind. */
import assert from "node:assert/strict";
import { readdir, readlink } from "node:fs/promises";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { sine } from "../audio/signals.ts";
import { scriptedTranscription, transcriptionEngine } from "../support/scripted-transcription.ts";
import { startTestTranscription } from "../support/test-transcription.ts";

const model = scriptedTranscription();
const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)] });
after(() => server[Symbol.asyncDispose]());

const names = [
  "model",
  "stream",
  "language",
  "response_format",
  "timestamp_granularities",
  "timestamp_granularities[]",
  "chunking_strategy",
  "chunking_strategy[type]",
  "extra_body",
  "timeout",
  "include",
  "temperature",
  "x[",
  "__proto__",
  "constructor[prototype]",
];
const values = [
  "scripted",
  "True",
  "None",
  "en-US",
  "verbose_json",
  '["word"]',
  "word",
  "auto",
  '{"type":"server_vad"}',
  "{}",
  "[]",
  '{"stream":1e400}',
  '{"__proto__":{"stream":true}}',
  "-0",
  "\0",
  "\u{1f600}",
  "[[[[[[",
  '"',
];
/** Above the in-memory limit, so that each is spooled to a file. */
const recording = Buffer.from(encodeWav(sine(300, 16_000, 10), 16_000));

const soundFields: [name: string, value: string][] = [
  ["stream", "True"],
  ["language", "de"],
  ["response_format", "verbose_json"],
  ["timeout", "30"],
  ["include", "[]"],
  ["x", "y"],
];
const arbitraryField = fc
  .oneof(
    { weight: 9, arbitrary: fc.constantFrom(...soundFields) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom(...names),
        fc.oneof(fc.constantFrom(...values), fc.string({ maxLength: 12 })),
      ),
    },
  )
  .map(([name, value]) => Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`));
const arbitraryFile = fc
  .record({
    length: fc.oneof(fc.constant(recording.length), fc.integer({ min: 0, max: recording.length })),
    at: fc.nat(),
    with: fc.oneof(fc.constant(new Uint8Array(0)), fc.uint8Array({ maxLength: 30 })),
  })
  .map(({ length, at, with: bytes }) => {
    const content = Buffer.from(recording.subarray(0, length));
    if (length > 0) content.set(bytes.subarray(0, length), Math.max(0, (at % Math.min(length, 100)) - bytes.length));
    return Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
      content,
      Buffer.from("\r\n"),
    ]);
  });
const arbitraryBody = fc
  .record({
    before: fc.array(arbitraryField, { maxLength: 4 }),
    file: arbitraryFile,
    behind: fc.array(arbitraryField, { maxLength: 4 }),
    end: fc.constantFrom("--b--\r\n", "--b--\r\n", "--b--\r\n", "--b", ""),
    spoilAt: fc.option(fc.nat(), { nil: undefined, freq: 3 }),
  })
  .map(({ before, file, behind, end, spoilAt }) => {
    const model = Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nscripted\r\n');
    const body = Buffer.concat([model, ...before, file, ...behind, Buffer.from(end)]);
    if (spoilAt !== undefined) body[spoilAt % body.length] = spoilAt % 256;
    return body;
  });

test("corrupted forms never cause an internal error and never leave a file", { timeout: 240_000 }, async () => {
  const statuses = new Map<number, number>();
  const property = fc.asyncProperty(arbitraryBody, async (body) => {
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { ...server.headers, "content-type": "multipart/form-data; boundary=b" },
    });
    const text = await response.text();
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    assert.ok([200, 400, 404, 408, 413, 415].includes(response.status), `${response.status}: ${text}`);
    assert.doesNotMatch(text, /server_error/);
  });
  await fc.assert(property, { numRuns: 300 });
  // Otherwise the bodies were so corrupted that the test shows nothing.
  assert.ok((statuses.get(200) ?? 0) > 20 && (statuses.get(400) ?? 0) > 20, JSON.stringify([...statuses]));
  assert.deepEqual(await readdir(server.directory), []);
  if (process.platform !== "linux") return;
  const open = await Promise.all(
    (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
  );
  assert.deepEqual(
    open.filter((link) => link.startsWith(server.directory)),
    [],
  );
});

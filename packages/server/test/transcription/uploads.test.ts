/** Transcription over time: responses during the upload, clients that disconnect, timeouts, large uploads. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readlink, stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { describe, test } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { outcomeOf } from "../../src/finished-call.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import type { TranscribedSegment, TranscriptionCall } from "../../src/engines/engine.ts";
import { sine } from "../audio/signals.ts";
import {
  delta,
  listen,
  scriptedTranscription,
  segment,
  spoken,
  transcriptionEngine,
  type TranscriptionScript,
} from "../support/scripted-transcription.ts";
import { readFrames } from "../support/test-chat.ts";
import { testSecret } from "../support/test-http.ts";
import { formOf, startTestTranscription, toneFile } from "../support/test-transcription.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";

type Options = Partial<Parameters<typeof startTestTranscription>[0]>;

async function serverWith(script: TranscriptionScript = {}, options: Options = {}) {
  const model = scriptedTranscription(script);
  const server = await startTestTranscription({ engines: [transcriptionEngine("scripted", model)], ...options });
  return Object.assign(server, { calls: model.calls });
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const form = { model: "scripted", file: toneFile(1) };

/** A field of a form as bytes. */
function field(name: string, value: string): Buffer {
  return Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
}

/** The same after the file. */
function lateField(name: string, value: string): Buffer {
  return Buffer.from(`\r\n--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`);
}

const fileHead = Buffer.from(
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.pcm"\r\nContent-Type: audio/pcm\r\n\r\n',
);
const formEnd = Buffer.from("\r\n--b--\r\n");
/** One second of audio. */
const pcm = Buffer.from(encodeWav(sine(440, 16_000, 1), 16_000)).subarray(44);

/** A request whose body is written gradually. */
function beginUpload(url: string) {
  const sending = request(`${url}/v1/audio/transcriptions`, {
    method: "POST",
    headers: { authorization: `Bearer ${testSecret}`, "content-type": "multipart/form-data; boundary=b" },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sending.once("response", resolve);
    sending.once("error", reject);
  });
  answered.catch(() => {});
  const write = (...pieces: Buffer[]): void => void sending.write(Buffer.concat(pieces));
  return { sending, answered, write, end: () => void sending.end(formEnd) };
}

/** The events of an answer as they arrive. */
async function* eventsOf(
  answer: IncomingMessage,
): AsyncGenerator<{ type?: string; text?: string; error?: { param: string } } | "[DONE]"> {
  let rest = "";
  for await (const bytes of answer as AsyncIterable<Buffer>) {
    const frames = (rest + bytes.toString()).split("\n\n");
    rest = frames.pop()!;
    for (const frame of frames) {
      const data = frame.replace(/^(: ping\n)*data: /, "");
      yield data === "[DONE]" ? data : (JSON.parse(data) as object);
    }
  }
}

/** Reports every second of audio as soon as it has read it. */
async function* counting({ audio }: TranscriptionCall) {
  let count = 0;
  let told = 0;
  for await (const samples of audio.open(16_000)) {
    count += samples.length;
    for (; told < Math.floor(count / 16_000); told++) yield delta(`${told === 0 ? "" : " "}${told + 1}`);
  }
  yield segment(Array.from({ length: told }, (_, index) => index + 1).join(" "), { endMs: told * 1_000 });
}

describe("a slow upload", () => {
  test("is answered while it runs, if model and stream precede the file", async () => {
    await using server = await serverWith({ transcribe: counting });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm);
    const events = eventsOf(await upload.answered);
    assert.equal(((await events.next()).value as { text: string }).text, "1");
    for (const second of ["2", "3"]) {
      upload.write(pcm);
      assert.equal(((await events.next()).value as { text: string }).text, ` ${second}`);
    }
    upload.end();
    const rest = [];
    for await (const event of events) rest.push(event);
    assert.deepEqual(rest, [{ type: "transcript.text.done", text: "1 2 3", logprobs: null }, "[DONE]"]);
  });

  test("may have its fields after the file, if they arrive soon", async () => {
    await using server = await serverWith({ transcribe: counting });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm, lateField("language", "de"));
    upload.end();
    for await (const event of eventsOf(await upload.answered)) event satisfies unknown;
    assert.equal(server.calls[0]!.language, "de-DE");
  });

  test("fails by name when a late field would have changed the running call, but not when it changes nothing", async () => {
    await using server = await serverWith({ transcribe: counting });
    for (const [name, value, last] of [
      ["language", "de", "error"],
      ["language", "en-us", "[DONE]"],
      ["temperatur", "1", "[DONE]"],
    ] as const) {
      const upload = beginUpload(server.url);
      upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm);
      const events = eventsOf(await upload.answered);
      await events.next();
      upload.write(lateField(name, value));
      upload.end();
      const rest = [];
      for await (const event of events) rest.push(event);
      const end = rest.at(-1)!;
      if (last === "[DONE]") assert.equal(end, last);
      else assert.equal((end as { error: { param: string } }).error.param, "language");
    }
  });

  test("may name the language late if the model found the same, before or after it", async () => {
    for (const [found, last] of [
      ["de", "[DONE]"],
      ["fr", "error"],
    ] as const) {
      const named = Promise.withResolvers<void>();
      await using server = await serverWith({
        async *transcribe(call) {
          const german = { ...segment("eins", { endMs: 1_000 }), language: "de" };
          yield german;
          await listen(call);
          await named.promise;
          yield { ...segment("zwei", { startMs: 1_000, endMs: 9_000 }), language: found };
        },
      });
      const upload = beginUpload(server.url);
      upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm);
      const events = eventsOf(await upload.answered);
      await events.next();
      upload.write(lateField("language", "de-AT"));
      upload.end();
      await once(upload.sending, "finish");
      named.resolve();
      const rest = [];
      for await (const event of events) rest.push(event);
      const end = rest.at(-1)!;
      if (last === "[DONE]") assert.equal(end, last);
      else assert.equal((end as { error: { param: string } }).error.param, "language");
    }
  });

  test("that is interrupted fails its stream and stops the engine", async () => {
    const stopped = Promise.withResolvers<AppError>();
    await using server = await serverWith({
      async *transcribe(call) {
        call.signal.addEventListener("abort", () => stopped.resolve(call.signal.reason as AppError));
        yield* counting(call);
      },
    });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm);
    await eventsOf(await upload.answered).next();
    upload.sending.destroy();
    assert.equal((await stopped.promise).code, "client_closed");
    await server.untilFinished(1);
    assert.equal(server.finished[0]!.status, 499);
    assert.equal(outcomeOf(server.finishedTranscriptions[0]!), "client_closed");
  });

  test("that is malformed after its file fails its stream", async () => {
    await using server = await serverWith({ transcribe: counting });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), field("stream", "true"), fileHead, pcm);
    const events = eventsOf(await upload.answered);
    await events.next();
    upload.sending.end(Buffer.from("\r\n--bx\r\n"));
    const rest = [];
    for await (const event of events) rest.push(event);
    assert.ok("error" in (rest.at(-1) as object), JSON.stringify(rest));
  });

  test("is not delayed by a slow engine", async () => {
    const go = Promise.withResolvers<void>();
    await using server = await serverWith({
      async *transcribe(call) {
        await go.promise;
        yield* counting(call);
      },
    });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), field("stream", "true"), fileHead);
    // More than all buffers between two processes hold.
    for (let seconds = 0; seconds < 600; seconds++) {
      if (!upload.sending.write(pcm)) await once(upload.sending, "drain");
    }
    upload.end();
    await once(upload.sending, "finish");
    go.resolve();
    let last: unknown;
    for await (const event of eventsOf(await upload.answered)) if (event !== "[DONE]") last = event;
    assert.ok((last as { text: string }).text.endsWith(" 600"));
  });
});

describe("time and cancellation", () => {
  async function* silentUntilAborted({ signal }: TranscriptionCall): AsyncGenerator<never, void, undefined> {
    await delay(600_000, undefined, { signal, ref: false }).catch(() => {
      throw signal.reason;
    });
    yield* [];
  }

  test("a timeout is a 408, streamed or not", async () => {
    await using server = await serverWith({ transcribe: silentUntilAborted });
    for (const stream of ["false", "true"]) {
      const response = await server.post(formOf({ ...form, stream, timeout: "0.05" }));
      assert.equal(response.status, 408);
      const { error } = (await response.json()) as { error: { param: string; type: string } };
      assert.deepEqual([error.type, error.param], ["timeout_error", "timeout"]);
    }
    assert.deepEqual(server.finishedTranscriptions.map(outcomeOf), ["timeout", "timeout"]);
  });

  test("the default time limit follows the length of the recording, which need not have been read", async () => {
    const script = { transcribe: silentUntilAborted };
    await using server = await serverWith(script, {
      defaultTimeout: { timeout_seconds: 0.05, timeout_per_audio_second: 0 },
    });
    const response = await server.post(formOf(form));
    assert.equal(response.status, 408);
    // OpenAI's clients would repeat the call twice.
    assert.equal(response.headers.get("x-should-retry"), "false");
    assert.match(await response.text(), /the default for a recording of 1 s/);
    async function* slow({ signal }: TranscriptionCall): AsyncGenerator<TranscribedSegment, void, undefined> {
      await delay(300, undefined, { signal });
      yield segment("done");
    }
    await using patient = await serverWith(
      { transcribe: slow },
      { defaultTimeout: { timeout_seconds: 0.05, timeout_per_audio_second: 600 } },
    );
    for (const stream of ["false", "true"]) assert.equal((await patient.post(formOf({ ...form, stream }))).status, 200);
  });

  test("a timeout ends a stream that has begun without [DONE]", async () => {
    await using server = await serverWith({
      async *transcribe(call) {
        yield delta("so far");
        yield* silentUntilAborted(call);
      },
    });
    const frames = (await readFrames(
      await server.post(formOf({ ...form, stream: "true", timeout: "0.3" })),
    )) as object[];
    assert.equal(frames.length, 2);
    assert.equal((frames[1] as { error: { type: string } }).error.type, "timeout_error");
  });

  for (const stream of ["false", "true"]) {
    test(`a client that disconnects stops the engine, stream ${stream}`, async () => {
      const begun = Promise.withResolvers<void>();
      const stopped = Promise.withResolvers<AppError>();
      await using server = await serverWith({
        async *transcribe(call) {
          call.signal.addEventListener("abort", () => stopped.resolve(call.signal.reason as AppError));
          yield delta("so far");
          begun.resolve();
          yield* silentUntilAborted(call);
        },
      });
      const leave = new AbortController();
      server.post(formOf({ ...form, stream }), { signal: leave.signal }).catch(() => {});
      await begun.promise;
      leave.abort();
      assert.equal((await stopped.promise).code, "client_closed");
      await server.untilFinished(1);
      assert.equal(server.finished[0]!.status, 499);
    });
  }
});

describe("an engine that fails", () => {
  const broken = new AppError("upstream_failed", "It broke.");

  test("before its first output is an HTTP error, streamed or not", async () => {
    await using server = await serverWith({
      // oxlint-disable-next-line require-yield
      async *transcribe() {
        throw new AppError("unsupported_parameter", "No such language.", { param: "language" });
      },
    });
    for (const stream of ["false", "true"]) {
      const response = await server.post(formOf({ ...form, stream }));
      assert.equal(response.status, 400);
    }
    const [finished] = server.finishedTranscriptions;
    assert.deepEqual([outcomeOf(finished!), finished!.audioSeconds], ["unsupported_parameter", 0]);
  });

  test("later is an HTTP error of a batch answer, and the last frame of a stream", async () => {
    await using server = await serverWith({
      async *transcribe(call) {
        await listen(call);
        yield spoken("so far");
        throw broken;
      },
    });
    assert.equal((await server.post(formOf(form))).status, 502);
    const text = await (await server.post(formOf({ ...form, stream: "true" }))).text();
    assert.match(text, /data: \{"error":\{"message":"It broke\.".*\}\}\n\n$/);
    assert.doesNotMatch(text, /done|\[DONE\]/);
  });

  test("by retracting its output fails the call", async () => {
    await using server = await serverWith({
      async *transcribe() {
        yield delta("good day");
        yield segment("good night");
      },
    });
    assert.equal((await server.post(formOf(form))).status, 502);
  });

  test("is retried, with the recording from its beginning", async () => {
    let tries = 0;
    const heard: number[] = [];
    await using server = await serverWith({
      async *transcribe(call) {
        heard.push(await listen(call));
        if (++tries === 1) throw broken;
        yield spoken("at last");
      },
    });
    const answer = await server.post(formOf(form));
    assert.deepEqual(await answer.json(), { text: "at last" });
    assert.deepEqual(heard, [16_000, 16_000]);
  });
});

describe("large uploads", () => {
  /** The directory's files that this process has open, named or unlinked. */
  async function openFiles(directory: string): Promise<string[]> {
    const links = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
    );
    return links.filter((link) => link.startsWith(directory));
  }

  /** The size of those files together. */
  async function openBytes(directory: string): Promise<number> {
    const sizes = (await readdir("/proc/self/fd")).map(async (fd) => {
      const path = `/proc/self/fd/${fd}`;
      const link = await readlink(path).catch(() => "");
      return link.startsWith(directory) ? (await stat(path)).size : 0;
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  /** Reachable memory: the heap, and buffers and strings outside it. */
  function heldBytes(): number {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  }

  /** V8 subtracts collected buffers in the background, so the count falls after a few collections. */
  async function assertHeldBytes(maximumBytes: number): Promise<void> {
    let bytes = heldBytes();
    for (let turn = 0; bytes > maximumBytes && turn < 100; turn++) {
      await setImmediate();
      bytes = heldBytes();
    }
    assert.ok(bytes <= maximumBytes, `${bytes} bytes are held; at most ${maximumBytes} were expected`);
  }

  test("are spooled to an unlinked file that is gone with the call", { skip: onlyOnLinux }, async () => {
    const seen: { names: string[]; open: string[] }[] = [];
    let directory = "";
    await using server = await serverWith({
      async *transcribe(call) {
        seen.push({ names: await readdir(directory), open: await openFiles(directory) });
        await listen(call);
        yield spoken("heard");
      },
    });
    ({ directory } = server);
    const response = await server.post(formOf({ ...form, file: toneFile(20) }));
    assert.equal(response.status, 200);
    await server.untilFinished(1);
    assert.deepEqual([seen[0]!.names, seen[0]!.open.length], [[], 1]);
    assert.deepEqual(await openFiles(directory), []);
  });

  test(
    "of 256 MiB are in the spool file, not in memory, before and while the engine reads them",
    { skip: onlyOnLinux },
    async () => {
      const isSent = Promise.withResolvers<void>();
      let heard = 0;
      await using server = await serverWith(
        {
          async *transcribe({ audio }) {
            await isSent.promise;
            for await (const samples of audio.open()) {
              heard += samples.length;
              if (heard === (seconds / 2) * 48_000) await assertHeldBytes(maximumHeldBytes);
            }
            yield spoken("a long talk");
          },
        },
        { settings: { body_timeout_ms: 300_000 } },
      );
      const seconds = 1_398;
      const head = Buffer.from(fileHead.toString().replace("audio/pcm", "audio/pcm; rate=48000; channels=2"));
      const piece = Buffer.alloc(192_000, 1);
      const maximumHeldBytes = heldBytes() + 32 * 1024 * 1024;
      const upload = beginUpload(server.url);
      upload.write(field("model", "scripted"), field("timeout", "600"), head);
      for (let second = 0; second < seconds; second++) {
        if (!upload.sending.write(piece)) await once(upload.sending, "drain");
      }
      upload.end();
      while ((await openBytes(server.directory)) < seconds * piece.length) {
        assert.equal(server.finished.length, 0, "the call ended before the upload was read");
      }
      await assertHeldBytes(maximumHeldBytes).finally(isSent.resolve);
      const answer = await upload.answered;
      assert.equal(answer.statusCode, 200);
      answer.resume();
      await once(answer, "end");
      assert.equal(heard, seconds * 48_000);
    },
  );

  test("beyond the limit are refused by their declared length immediately, or when it is reached", async () => {
    await using server = await serverWith({}, { maxFileBytes: 100_000 });
    const announced = await server.post(formOf({ ...form, file: new Blob([new Uint8Array(6_000_000)]) }));
    assert.equal(announced.status, 413);
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), fileHead);
    upload.sending.on("error", () => {});
    const sending = new AbortController();
    const answered = upload.answered.finally(() => sending.abort());
    while (!sending.signal.aborted) {
      upload.sending.write(pcm);
      await setImmediate();
    }
    assert.equal((await answered).statusCode, 413);
    upload.sending.destroy();
  });

  test("of a process that was killed are removed when the next one starts", async () => {
    await using server = await serverWith();
    const script = `
      import { open } from "node:fs/promises";
      await open(${JSON.stringify(`${server.directory}/upload-left`)}, "wx");
      process.stdout.write("made");
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.deepEqual(await readdir(server.directory), ["upload-left"]);
    const { clearSpoolDirectory } = await import("../../src/http/spool.ts");
    await clearSpoolDirectory(server.directory);
    assert.deepEqual(await readdir(server.directory), []);
  });
});

describe("limits", () => {
  test("count calls, and tokens by the seconds heard and the text", async () => {
    await using server = await serverWith({}, { limits: { requests_per_minute: 2, tokens_per_minute: 1_000 } });
    const first = await server.post(formOf({ ...form, file: toneFile(10) }));
    assert.equal(first.status, 200);
    await first.text();
    // 10 s at 10 tokens per second and 11 characters at 4 per token.
    const second = await server.post(formOf(form));
    assert.equal(second.headers.get("x-ratelimit-remaining-tokens"), String(1_000 - 100 - 3));
    const third = await server.post(formOf(form));
    assert.equal(third.status, 429);
    assert.ok(Number(third.headers.get("retry-after")) > 0);
  });

  test("of concurrent calls apply while an upload runs", async () => {
    await using server = await serverWith({}, { limits: { concurrent_requests: 1 } });
    const upload = beginUpload(server.url);
    upload.write(field("model", "scripted"), fileHead, pcm);
    for (;;) {
      const other = await server.post(formOf(form));
      if (other.status === 429) break;
      await other.text();
    }
    upload.end();
    const answer = await upload.answered;
    assert.equal(answer.statusCode, 200);
    answer.resume();
    await once(answer, "end");
    await server.untilFinished(2);
    assert.equal((await server.post(formOf(form))).status, 200);
  });

  const unknown = { model: "nobody's", file: form.file };
  for (const [where, parts] of [
    ["before", ["model", "file"]],
    ["behind", ["file", "model"]],
  ] as const) {
    test(`do not count a request for an unknown model, named ${where} the file`, async () => {
      const limits = { requests_per_minute: 1, concurrent_requests: 1 };
      await using server = await serverWith({}, { limits });
      for (let count = 0; count < 3; count += 1) {
        const answer = await server.post(formOf(parts.map((name): [string, string | Blob] => [name, unknown[name]])));
        assert.equal(answer.status, 404);
        await answer.text();
      }
      const [first, second] = [await server.post(formOf(form)), await server.post(formOf(form))];
      assert.deepEqual([first.status, second.status], [200, 429]);
      assert.deepEqual(
        server.refusedTranscriptions.map(({ model, error }) => [model, error?.code]),
        [...Array.from({ length: 3 }, () => ["nobody's", "model_not_found"]), ["scripted", "rate_limited"]],
      );
      assert.equal(server.finishedTranscriptions.length, 1);
    });
  }

  test("do not count a request whose fields are invalid or that has no file", async () => {
    await using server = await serverWith({}, { limits: { requests_per_minute: 1 } });
    const { model, file } = form;
    for (const parts of [
      { file },
      { model },
      { file, model, temperature: "hot" },
      { model, temperature: "hot", file },
    ]) {
      const answer = await server.post(formOf(parts));
      assert.equal(answer.status, 400);
      await answer.text();
    }
    const [first, second] = [await server.post(formOf(form)), await server.post(formOf(form))];
    assert.deepEqual([first.status, second.status], [200, 429]);
  });

  test("count an upload that its client abandons", async () => {
    await using server = await serverWith({}, { limits: { requests_per_minute: 1 } });
    const upload = beginUpload(server.url);
    upload.write(fileHead, pcm);
    for (let others = 1; ; others += 1) {
      const { status } = await server.post(
        formOf([
          ["file", form.file],
          ["model", "nobody's"],
        ]),
      );
      if (status === 404) continue;
      assert.equal(status, 429);
      upload.sending.destroy();
      await server.untilFinished(others + 1);
      break;
    }
    assert.equal((await server.post(formOf(form))).status, 429);
  });

  test("refuse an unknown model while its upload still runs", async () => {
    await using server = await serverWith();
    const upload = beginUpload(server.url);
    upload.write(field("model", "nobody's"), fileHead, pcm);
    const answer = await upload.answered;
    assert.equal(answer.statusCode, 404);
    answer.resume();
    upload.sending.destroy();
  });

  test("apply while the file of an upload arrives whose model is not known yet", async () => {
    await using server = await serverWith({}, { limits: { concurrent_requests: 1 } });
    const upload = beginUpload(server.url);
    upload.write(fileHead, pcm);
    for (;;) {
      const other = await server.post(formOf(form));
      if (other.status === 429) break;
      await other.text();
    }
    upload.write(lateField("model", "scripted"));
    upload.end();
    assert.equal((await upload.answered).statusCode, 200);
    (await upload.answered).resume();
  });
});

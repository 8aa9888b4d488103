/** Recordings that try to block, fill or break the server: each yields samples or an AppError, and other calls are not affected. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { createEncoder } from "../../src/audio/create-encoder.ts";
import { DecoderPool, type DecoderPoolOptions, decoderLimits } from "../../src/audio/decoder-pool.ts";
import { readAudio } from "../../src/audio/read-audio.ts";
import { joinBytes, joinSamples } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { endlessFlac, endlessWebm, silentFlac } from "./hostile-files.ts";
import { runOn } from "./programs.ts";
import { chirp, cut } from "./signals.ts";
import { chunk, formatChunk, read, riff } from "./wav-files.ts";
import { needs } from "../../../../test/support/needs.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const seconds = 4;
const encoder = await createEncoder({ format: "opus", sampleRate: 24_000, stream: false });
const goodOgg = joinBytes([encoder.push(chirp(24_000, seconds)), encoder.end()]);

/** The bytes, repeated on request, and then the behavior of `last`. */
function sourceOf(bytes: Uint8Array, last: () => Promise<void> = async () => {}) {
  return async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    for (const piece of cut(bytes, [3000])) {
      await nextTurn();
      yield piece;
    }
    await last();
  };
}

function createPool(options: Partial<DecoderPoolOptions> = {}): DecoderPool & AsyncDisposable {
  const pool = new DecoderPool({ workers: 2, logger: silentLogger, ...options });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

async function secondsOf(decoders: DecoderPool, bytes: Uint8Array, owner?: string): Promise<number> {
  const input = await readAudio(sourceOf(bytes), { decoders, owner });
  for await (const samples of input.open(8_000)) samples satisfies Float32Array;
  return input.heardSeconds;
}

async function refusal(promise: Promise<unknown>): Promise<AppError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  return assert.fail("was not refused");
}

/** The most CPU time of this thread between two turns of its event loop while the work runs, in ms. */
async function longestHold(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
  }, 1);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

test("mediabunny 1.61.0 never finishes a WebM file of 112 bytes", async () => {
  const { version } = JSON.parse(
    readFileSync(new URL("../../../../node_modules/mediabunny/package.json", import.meta.url), "utf8"),
  ) as { version: string };
  assert.equal(version, "1.61.0", "Another version: see whether the fault is gone, and update opus-reader.ts.");
  const script = `
    const { workerData, parentPort } = require("node:worker_threads");
    import(${JSON.stringify(import.meta.resolve("mediabunny"))}).then(async ({ ALL_FORMATS, BufferSource, Input }) => {
      const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(workerData) });
      parentPort.postMessage("begun");
      await input.getPrimaryAudioTrack().catch(() => {});
      parentPort.postMessage("ended");
    });`;
  const worker = new Worker(script, { eval: true, workerData: endlessWebm });
  after(() => worker.terminate());
  const messages: unknown[] = [];
  worker.on("message", (message) => messages.push(message));
  await once(worker, "message");
  const { user: begun } = await worker.cpuUsage();
  // A valid file of this length takes a few milliseconds.
  while (messages.length < 2 && (await worker.cpuUsage()).user - begun < 1_000_000) await delay(20);
  assert.deepEqual(messages, ["begun"], "The fault is gone: remove endEndlessReading from opus-reader.ts.");
});

describe("a recording that its decoder cannot finish", () => {
  test("is refused immediately if the fault is known", async () => {
    const error = await refusal(read(endlessWebm));
    assert.equal(error.code, "invalid_request");
    assert.match(error.message, /^The WebM file is damaged: /);
  });

  test("is refused when its decoder uses CPU time without progress, and the next one is read", async () => {
    await using pool = createPool({ workers: 1 });
    const error = await refusal(secondsOf(pool, endlessFlac()));
    assert.equal(error.code, "invalid_request");
    assert.equal(error.message, "The FLAC file is damaged: its decoder makes no progress.");
    assert.ok(Math.abs((await secondsOf(pool, goodOgg)) - seconds) < 0.1);
  });

  test("is refused when its decoder waits forever", async () => {
    // Found by fuzzing; a line with the file's name comes first.
    const url = new URL("../../../../test/fuzz/regressions/audio/mp4-whose-reader-waits.400.bin", import.meta.url);
    const found = readFileSync(url);
    const error = await refusal(read(found.subarray(found.indexOf("\n") + 1)));
    assert.equal(error.message, "The MP4 file is damaged: its decoder makes no progress.");
  });

  test("is refused when its decoder needs too much memory", async () => {
    const file = silentFlac({ frames: 3_000, channels: 8 });
    for (const less of [{ buffersMiB: 1 }, { heapMiB: 1 }]) {
      await using pool = createPool({ limits: { ...decoderLimits, ...less } });
      const error = await refusal(secondsOf(pool, file));
      assert.equal(error.message, "The FLAC file is damaged: decoding it needs too much memory.");
    }
  });

  test("does not disturb one that is decoded concurrently", async () => {
    await using pool = createPool({ limits: { ...decoderLimits, stallCpuMs: 1_000 } });
    const gate = Promise.withResolvers<void>();
    const half = Math.round(goodOgg.length * 0.75);
    const slow = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield goodOgg.subarray(0, half);
      await gate.promise;
      yield goodOgg.subarray(half);
    };
    const input = await readAudio(slow(), { decoders: pool });
    assert.equal((await refusal(secondsOf(pool, endlessFlac()))).code, "invalid_request");
    gate.resolve();
    for await (const samples of input.open()) samples satisfies Float32Array;
    assert.ok(Math.abs(input.heardSeconds - seconds) < 0.1);
  });
});

describe("FLAC that expands without bound", () => {
  // 5 kB, 7 minutes.
  const frames = 290;
  const bomb = silentFlac({ frames, channels: 1 });

  test("arrives in small pieces, on demand, and never blocks the server", async () => {
    assert.ok(bomb.length < 5_000);
    await using pool = createPool();
    await secondsOf(pool, goodOgg);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    let buffered = 0;
    let input: Awaited<ReturnType<typeof readAudio>> | undefined;
    const hold = await longestHold(async () => {
      input = await readAudio(sourceOf(bomb), { decoders: pool });
      for await (const samples of input.open(8_000)) {
        most = Math.max(most, samples.length);
        buffered = Math.max(buffered, process.memoryUsage().arrayBuffers - before);
      }
    });
    assert.equal(input!.heardSeconds, (frames * 65_535) / 44_100);
    assert.ok(most <= 16_384, `${most} samples`);
    assert.ok(buffered < 32 * 2 ** 20, `${buffered} bytes`);
    assert.ok(hold < 50, `${hold} ms`);
  });

  test("is a 413 when it is longer than allowed", async () => {
    const error = await refusal(read(bomb, { limits: { maxSeconds: 60 } }));
    assert.deepEqual(
      [error.code, error.message],
      ["payload_too_large", "The audio is longer than 60 seconds, which is the limit. Send a shorter recording."],
    );
  });

  test("writes nothing to standard error, however damaged it is", async () => {
    const written: string[] = [];
    const { write } = process.stderr;
    process.stderr.write = (text: string | Uint8Array) => written.push(String(text)) > 0;
    try {
      const damaged = Buffer.from(bomb);
      for (let at = 60; at < damaged.length; at += 16) damaged[at] = damaged[at]! ^ 0x55;
      await read(damaged).catch((error: unknown) => assert.ok(error instanceof AppError, String(error)));
      await nextTurn();
    } finally {
      process.stderr.write = write;
    }
    assert.deepEqual(written, []);
  });
});

describe("a pool whose workers are all busy", () => {
  const withTime = { timeout: 120_000 };

  test("reclaims one from a stalled upload, which is decoded to its end later", withTime, async () => {
    await using pool = createPool({ workers: 1 });
    const whole = await read(goodOgg);
    const gate = Promise.withResolvers<void>();
    const half = Math.round(goodOgg.length * 0.75);
    const slow = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield goodOgg.subarray(0, half);
      await gate.promise;
      yield goodOgg.subarray(half);
    };
    const input = await readAudio(slow, { decoders: pool, owner: "slow" });
    const samples = input.open();
    const heard = [(await samples.next()).value!];
    assert.ok(Math.abs((await secondsOf(pool, goodOgg, "other")) - seconds) < 0.1);
    gate.resolve();
    for await (const piece of samples) heard.push(piece);
    assert.deepEqual(joinSamples(heard), whole.samples);
  });

  test("reclaims one from a recording that waits for its engine", withTime, async () => {
    await using pool = createPool({ workers: 1 });
    const waiting = await readAudio(sourceOf(goodOgg), { decoders: pool });
    assert.ok(Math.abs((await secondsOf(pool, goodOgg)) - seconds) < 0.1);
    const heard: Float32Array[] = [];
    for await (const piece of waiting.open()) heard.push(piece);
    assert.deepEqual(joinSamples(heard), (await read(goodOgg)).samples);
  });

  test("reclaims one from an organization that has several for one that has none", withTime, async () => {
    await using pool = createPool({ workers: 2 });
    // Never read to their end, and never idle: they are consumed as they arrive.
    const left = new AbortController();
    const long = silentFlac({ frames: 20_000, channels: 1 });
    const busy = Array.from({ length: 6 }, async () => {
      const options = { decoders: pool, owner: "busy", signal: left.signal, limits: { maxSeconds: 1e6 } };
      const input = await readAudio(sourceOf(long), options);
      for await (const samples of input.open()) samples satisfies Float32Array;
    });
    const ended = Promise.allSettled(busy);
    assert.ok(Math.abs((await secondsOf(pool, goodOgg, "other")) - seconds) < 0.1);
    left.abort(new AppError("client_closed", "Gone."));
    for (const result of await ended) assert.equal((result as PromiseRejectedResult).reason, left.signal.reason);
  });

  test("gets the worker of a caller that disconnects, and closes its upload", async () => {
    await using pool = createPool({ workers: 1 });
    const left = new AbortController();
    let closed = false;
    const endless = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        yield goodOgg.subarray(0, 2_000);
        await new Promise((_resolve, reject) =>
          left.signal.addEventListener("abort", () => reject(left.signal.reason)),
        );
      } finally {
        closed = true;
      }
    };
    const reading = readAudio(endless(), { decoders: pool, signal: left.signal }).then((input) =>
      Array.fromAsync(input.open()),
    );
    const next = secondsOf(pool, goodOgg);
    await nextTurn();
    left.abort(new AppError("client_closed", "Gone."));
    assert.equal(await refusal(reading), left.signal.reason);
    assert.ok(Math.abs((await next) - seconds) < 0.1);
    assert.ok(closed);
  });

  test("ends running and waiting work when it is closed", async () => {
    await using pool = createPool({ workers: 1 });
    const running = await readAudio(sourceOf(goodOgg), { decoders: pool });
    const waiting = refusal(secondsOf(pool, goodOgg));
    await pool.close();
    assert.equal((await waiting).code, "overloaded");
    assert.equal((await refusal(Array.fromAsync(running.open()))).code, "overloaded");
    assert.equal((await refusal(secondsOf(pool, goodOgg))).code, "overloaded");
  });
});

describe("any random mutation of a file is read or refused with an AppError", () => {
  const skip = needs("ffmpeg");
  const wave = encodeWav(chirp(16_000, 1), 16_000);
  const kinds: [name: string, options: string][] = [
    ["MP3", "-c:a libmp3lame -f mp3"],
    ["FLAC", "-f flac"],
    ["Ogg Vorbis", "-c:a libvorbis -f ogg"],
    ["Ogg Opus", "-c:a libopus -f ogg"],
    ["WebM", "-c:a libopus -f webm"],
    ["MP4", "-c:a libopus -movflags frag_keyframe+empty_moov -f mp4"],
  ];
  const pool = createPool();
  after(() => pool.close());
  for (const [name, options] of kinds) {
    test(name, { skip }, async () => {
      const good = runOn(wave, "wav", `ffmpeg -v error -i {} ${options} -`);
      const random = randomNumbers(name.length);
      const outcomes = { read: 0, refused: 0 };
      for (let turn = 0; turn < propertyRuns(100); turn += 1) {
        try {
          await secondsOf(pool, spoilt(good, random));
          outcomes.read += 1;
        } catch (error) {
          assert.ok(error instanceof AppError && error.status < 500, String(error));
          outcomes.refused += 1;
        }
      }
      assert.ok(outcomes.read > 0 && outcomes.refused > 0, JSON.stringify(outcomes));
      assert.ok(Math.abs((await secondsOf(pool, good)) - 1) < 0.1);
    });
  }
});

test("WAV with maximum channels, rates and false sizes never blocks the server", async () => {
  const format = formatChunk({ tag: 1, bits: 8, channels: 64, sampleRate: 768_000 });
  const data = chunk("data", Buffer.alloc(2 ** 21), 0xffff_ffff);
  const lists = Array.from({ length: 900 }, () => chunk("LIST", Buffer.alloc(100)));
  for (const file of [riff([format, data]), riff([...lists, format, data], { size: 0xffff_ffff })]) {
    const hold = await longestHold(async () => {
      const input = await readAudio(sourceOf(file));
      for await (const samples of input.open(16_000)) assert.ok(samples.length <= 16_384);
    });
    assert.ok(hold < 50, `${hold} ms`);
  }
  const endless = riff([chunk("LIST", Buffer.alloc(10), 0xffff_ffff)]);
  assert.match((await refusal(read(endless))).message, /ends before its samples/);
});

/** The same numbers from 0 to 1 for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function spoilt(good: Buffer, random: () => number): Buffer {
  const upTo = (limit: number): number => Math.floor(random() * limit);
  const bytes = Buffer.from(good);
  for (let change = upTo(8); change >= 0; change -= 1) {
    // Headers contain the sizes and counts.
    const at = random() < 0.5 ? upTo(Math.min(bytes.length, 300)) : upTo(bytes.length);
    const what = upTo(4);
    if (what === 0) bytes[at] = upTo(256);
    else if (what === 1) bytes.fill(0xff, at, Math.min(bytes.length, at + upTo(9)));
    else if (what === 2) bytes.copy(bytes, at, upTo(bytes.length));
    else if (change === 0) return bytes.subarray(0, at + 4);
  }
  return bytes;
}

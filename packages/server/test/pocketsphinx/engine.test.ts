/** The engine `pocketsphinx` as the rest of the server uses it: real decoding in real processes, if it is installed. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readAudio } from "../../src/audio/read-audio.ts";
import type { PocketSphinxEngineSettings } from "../../src/config/engines/pocketsphinx.ts";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine, TranscribedSegment, TranscriptionModel } from "../../src/engines/engine.ts";
import { createPocketSphinxEngine } from "../../src/engines/pocketsphinx/engine.ts";
import { findInstallation } from "../../src/engines/pocketsphinx/installation.ts";
import { noise } from "../audio/signals.ts";
import { pocketSphinxSettings } from "./engine-settings.ts";
import { callOf, rate, recording, silence, speak, type Spoken } from "./spoken.ts";

function createEngine(changes: Partial<PocketSphinxEngineSettings> = {}): Engine {
  return createPocketSphinxEngine("pocketsphinx", { ...pocketSphinxSettings, ...changes }, { logger: silentLogger });
}

const modelOf = (engine: Engine): TranscriptionModel => engine.transcription!("pocketsphinx")!;

function isInstalled(): boolean {
  try {
    findInstallation({ library: undefined, modelDirectory: undefined });
    return true;
  } catch {
    return false;
  }
}

async function segmentsOf(
  model: TranscriptionModel,
  call: Parameters<TranscriptionModel["transcribe"]>[0],
): Promise<TranscribedSegment[]> {
  const events = await Array.fromAsync(model.transcribe(call));
  return events.filter((event) => event.kind === "segment");
}

/** The recognizers' processes that this process has started. */
function recognizers(): number[] {
  const path = `/proc/${process.pid}/task/${process.pid}/children`;
  const children = readFileSync(path, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return children.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("pocketsphinx"));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

const sentence = "The weather is very good today, and we are going to the park.";

describe("pocketsphinx", { skip: isInstalled() ? false : "needs libpocketsphinx3 and pocketsphinx-en-us" }, () => {
  const engine = createEngine({ processes: 1 });
  const model = modelOf(engine);
  let spoken: Spoken;
  let short: Spoken;
  before(async () => {
    spoken = await speak(sentence, "rms");
    short = await speak("Go home.", "rms");
  });
  after(() => engine.close());

  test("transcribes speech with times", async () => {
    const [segment, ...more] = await segmentsOf(model, callOf(recording(silence(4), spoken.samples)));
    assert.equal(more.length, 0);
    assert.match(segment!.text, /weather is very good today.* going to the park/);
    assert.equal(segment!.text, segment!.words!.map(({ text }) => text).join(" "));
    const park = spoken.words.at(-1)!;
    const heard = segment!.words!.at(-1)!;
    assert.ok(Math.abs(heard.startMs - 4_000 - park.startMs) < 150, `${heard.startMs} ${park.startMs}`);
    assert.equal(segment!.startMs, segment!.words![0]!.startMs);
    assert.equal(segment!.endMs, heard.endMs);
    for (const { confidence } of segment!.words!) assert.ok(confidence! >= 0 && confidence! <= 1);
  });

  test("returns stable text within a second and a half of audio, and never retracts it", async () => {
    const whole = recording(spoken.samples, silence(2), short.samples);
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    const audio = {
      sampleRate: rate,
      async *open() {
        let heardSeconds = 0;
        for await (const samples of whole.open()) {
          heardSeconds += samples.length / rate;
          yield samples;
          // Without a delta by then, the test would time out here.
          if (heardSeconds === 1.5) await told;
        }
      },
    };
    const segments: string[] = [];
    let text = "";
    for await (const event of model.transcribe(callOf(audio, { partials: true }))) {
      if (event.kind === "delta") {
        tell();
        text += event.text;
      } else {
        assert.ok(event.text.startsWith(text), `${text} | ${event.text}`);
        text = "";
        segments.push(event.text);
      }
    }
    assert.equal(segments.length, 2, segments.join(" | "));
  });

  test("recognizes nothing in silence and noise", async () => {
    assert.deepEqual(await segmentsOf(model, callOf(recording(silence(3)))), []);
    assert.deepEqual(await segmentsOf(model, callOf(recording(noise(3 * rate, 0.1) as never))), []);
    assert.deepEqual(await segmentsOf(model, callOf(recording(new Float32Array(1)))), []);
    assert.deepEqual(await segmentsOf(model, callOf(recording())), []);
  });

  test("refuses other languages and models", async () => {
    const german = callOf(recording(silence(1)), { language: "de-DE" });
    await assert.rejects(segmentsOf(model, german), { code: "invalid_request", param: "language" });
    assert.throws(() => engine.transcription!("whisper"), { code: "model_not_found" });
  });

  test("an abort ends the call and its process immediately, and the next call gets another", async () => {
    const controller = new AbortController();
    const reason = new AppError("client_closed", "gone");
    const call = callOf(recording(spoken.samples, spoken.samples), { signal: controller.signal });
    const running = segmentsOf(model, call);
    await until(() => recognizers().length > 0);
    controller.abort(reason);
    await assert.rejects(running, (error) => error === reason);
    const [segment] = await segmentsOf(model, callOf(recording(short.samples)));
    assert.match(segment!.text, /home/);
  });

  test("a call that waits for a stalled upload can also be aborted", async () => {
    const controller = new AbortController();
    const audio = {
      sampleRate: rate,
      async *open() {
        yield spoken.samples;
        await new Promise(() => {});
      },
    };
    const running = segmentsOf(model, callOf(audio, { signal: controller.signal, partials: true }));
    setImmediate(() => controller.abort(new AppError("client_closed", "gone")));
    await assert.rejects(running, { code: "client_closed" });
  });

  test("a failed upload fails the call", async () => {
    const audio = {
      sampleRate: rate,
      async *open() {
        yield spoken.samples;
        throw new AppError("payload_too_large", "too long");
      },
    };
    await assert.rejects(segmentsOf(model, callOf(audio)), { code: "payload_too_large" });
  });

  test("a process that dies fails one call and is replaced", { skip: !existsSync("/proc/self/task") }, async () => {
    await segmentsOf(model, callOf(recording(short.samples)));
    const [pid] = recognizers();
    const running = segmentsOf(model, callOf(recording(short.samples)));
    process.kill(pid!, "SIGKILL");
    await assert.rejects(running, { code: "upstream_failed" });
    const [segment] = await segmentsOf(model, callOf(recording(short.samples)));
    assert.match(segment!.text, /home/);
  });

  test("the caller with less usage goes first", async () => {
    const pause = silence(1.5);
    const parts = Array.from({ length: 3 }, () => [short.samples, pause]).flat();
    const order: string[] = [];
    const follow = async (name: string, audio: ReturnType<typeof recording>): Promise<void> => {
      for await (const event of model.transcribe(callOf(audio))) {
        if (event.kind === "segment") order.push(name);
      }
    };
    await Promise.all([follow("long", recording(...parts)), follow("short", recording(short.samples))]);
    assert.equal(order.length, 4);
    assert.ok(order.indexOf("short") <= 2, order.join(" "));
  });

  test("a call beyond the queue limit is refused", async () => {
    const small = createEngine({ processes: 1, queue_limit: 0 });
    const only = modelOf(small);
    const first = segmentsOf(only, callOf(recording(short.samples)));
    await assert.rejects(segmentsOf(only, callOf(recording(short.samples))), { code: "overloaded" });
    assert.equal((await first).length, 1);
    await small.close();
  });

  test("a closed engine fails running calls and ends its processes", async () => {
    const closing = createEngine({ processes: 1 });
    const running = segmentsOf(modelOf(closing), callOf(recording(short.samples)));
    running.catch(() => {});
    const before = recognizers().length;
    await until(() => recognizers().length > before);
    await closing.close();
    await assert.rejects(running, { code: "overloaded" });
    await until(() => recognizers().length === before);
  });

  const recordings = new URL("../../../../../shared/data/speech/", import.meta.url);
  test("recorded speakers are understood", { skip: existsSync(recordings) ? false : "has no recordings" }, async () => {
    const file = readdirSync(recordings).find((name) => name.startsWith("lj-003"));
    const bytes = readFileSync(new URL(file!, recordings));
    const input = await readAudio(
      (async function* () {
        yield bytes;
      })(),
    );
    const audio = { sampleRate: rate, open: () => input.open() };
    const segments = await segmentsOf(model, callOf(audio));
    assert.match(segments.map(({ text }) => text).join(" "), /immediate predecessors of the true printed book/);
  });
});

describe("pocketsphinx that is not installed", () => {
  test("has no models, and reports how to install it", async () => {
    const engine = createEngine({ library: "/nowhere/libpocketsphinx.so.3" });
    const absent = { code: "overloaded", message: /apt-get install libpocketsphinx3 pocketsphinx-en-us/ };
    await assert.rejects(engine.listModels(new AbortController().signal), absent);
    const call = callOf(recording(silence(1)));
    await assert.rejects(segmentsOf(modelOf(engine), call), absent);
    await engine.close();
  });
});

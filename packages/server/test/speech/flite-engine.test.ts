/** The engine `flite` as the rest of the server uses it: real synthesis in real worker threads. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { createFliteEngine } from "../../src/engines/flite/engine.ts";
import { voiceNames } from "../../src/engines/flite/voices.ts";
import { createWorkerPool } from "../../src/engines/flite/worker-pool.ts";
import type { SpeechCall, SpeechModel, SpeechPiece } from "../../src/engines/engine.ts";
import { fliteEngineSettings } from "./engine-settings.ts";
import { assertMarks } from "./assert-marks.ts";
import { awkwardTexts } from "./awkward-texts.ts";

const engine = createFliteEngine(
  "flite",
  { ...fliteEngineSettings, workers: 2, preload: false },
  { logger: silentLogger },
);
after(() => engine.close());
const model = engine.speech!("flite")!;

function call(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  const signal = new AbortController().signal;
  return {
    input,
    voice: "slt",
    language: undefined,
    speed: 1,
    marks: true,
    instructions: undefined,
    signal,
    ...changes,
  };
}

async function collect(pieces: AsyncIterable<SpeechPiece>): Promise<SpeechPiece[]> {
  return Array.fromAsync(pieces);
}

function seconds(pieces: readonly SpeechPiece[]): number {
  return pieces.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
}

function loudness({ samples }: SpeechPiece): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

describe("flite", () => {
  for (const name of voiceNames) {
    test(`the voice ${name} speaks`, async () => {
      const [piece] = await collect(model.speak(call("Hello there.", { voice: name })));
      assert.equal(piece!.sampleRate, 16_000);
      assert.ok(seconds([piece!]) > 0.7 && seconds([piece!]) < 1.6);
      assert.ok(loudness(piece!) > 0.01);
      const words = piece!.marks.filter(({ kind }) => kind === "word");
      assert.equal(words.length, 2);
    });
  }

  test("audio is loud at the marks, and silent in the pauses", async () => {
    const [piece] = await collect(model.speak(call("Boats go home.")));
    const at = (ms: number): number => Math.round((ms / 1000) * piece!.sampleRate);
    const part = (from: number, to: number) => loudness({ ...piece!, samples: piece!.samples.slice(at(from), at(to)) });
    const words = piece!.marks.filter(({ kind }) => kind === "word");
    assert.equal(words.length, 3);
    for (const { startMs, durationMs } of words) assert.ok(part(startMs, startMs + durationMs) > 0.02);
    const stop = piece!.marks.at(-1)!;
    assert.equal(stop.kind, "punctuation");
    assert.ok(stop.durationMs > 300 && part(stop.startMs + 50, stop.startMs + stop.durationMs) < 0.01);
  });

  test("speed changes the length and keeps the number of words", async () => {
    const text = "The quick brown fox jumps over the lazy dog and runs away.";
    const lengths = new Map<number, number>();
    for (const speed of [0.25, 0.5, 1, 2, 4]) {
      const pieces = await collect(model.speak(call(text, { speed })));
      lengths.set(speed, seconds(pieces));
      assert.equal(pieces.flatMap(({ marks }) => marks).filter(({ kind }) => kind === "word").length, 12);
    }
    for (const [speed, length] of lengths) {
      const ratio = (length * speed) / lengths.get(1)!;
      assert.ok(ratio > 0.9 && ratio < 1.15, `speed ${speed} gives ${ratio} of the expected length`);
    }
  });

  test("a long text is streamed in pieces, each starting with a sentence", async () => {
    const pieces = await collect(model.speak(call("One is here. Two is there. Three, at last, is everywhere.")));
    assert.deepEqual(
      pieces.flatMap(({ sentence }) => (sentence === undefined ? [] : [sentence.offset])),
      [0, 13, 27],
    );
  });

  test("a text without a word is a short silence", async () => {
    const pieces = await collect(model.speak(call(" \u0000\n ")));
    assert.ok(seconds(pieces) > 0 && seconds(pieces) < 1);
  });

  test("leaving the loop ends the work: the next call is answered immediately", async () => {
    const long = "All work and no play makes Jack a dull boy. ".repeat(2_000);
    for await (const piece of model.speak(call(long, { speed: 0.25 }))) {
      assert.ok(piece.samples.length > 0);
      break;
    }
    const pieces = await collect(model.speak(call("Hello.")));
    assert.ok(seconds(pieces) > 0.3);
  });

  test("an abort is the call's error", async () => {
    const controller = new AbortController();
    const reason = new AppError("client_closed", "gone");
    const run = async (): Promise<void> => {
      for await (const _ of model.speak(call("One. Two. Three. Four.", { signal: controller.signal }))) {
        controller.abort(reason);
      }
    };
    await assert.rejects(run(), (error) => error === reason);
  });

  test("a call beyond the queue is refused", async () => {
    const small = createFliteEngine(
      "small",
      { type: "flite", workers: 1, queue_limit: 0, preload: false },
      { logger: silentLogger },
    );
    const { speak }: SpeechModel = small.speech!("flite")!;
    const running = speak(call("One. Two."))[Symbol.asyncIterator]();
    await running.next();
    await assert.rejects(collect(speak(call("Three."))), { code: "overloaded" });
    await running.return!();
    assert.ok(seconds(await collect(speak(call("Three.")))) > 0);
    await small.close();
  });

  test("an unknown model and an unknown voice are named", async () => {
    assert.throws(() => engine.speech!("other"), { code: "model_not_found" });
    await assert.rejects(collect(model.speak(call("Hi", { voice: "nobody" }))), {
      code: "invalid_request",
      param: "voice",
    });
  });
});

describe("awkward texts", () => {
  test("are two hundred", () => assert.equal(new Set(awkwardTexts).size, 200));

  for (const text of awkwardTexts) {
    test(`marks of ${JSON.stringify(text).slice(0, 60)} are in the text and in order`, async () => {
      assertMarks(text, await collect(model.speak(call(text, { voice: "kal16" }))));
    });
  }
});

describe("worker threads", () => {
  test("a thread that crashes fails one phrase and is replaced", async () => {
    const warnings: string[] = [];
    const pool = createWorkerPool({
      workers: 1,
      logger: { ...silentLogger, warn: (_, message) => warnings.push(message) },
    });
    const job = { first: true, signal: new AbortController().signal };
    const phrase = { text: "Hello.", voice: "kal16" as const, stretch: 1 };
    await assert.rejects(pool.speak({ ...phrase, voice: "nobody" as never }, job), { code: "upstream_failed" });
    assert.ok((await pool.speak(phrase, job)).samples.length > 1000);
    assert.equal(warnings.length, 1);
    await pool.close();
    await assert.rejects(pool.speak(phrase, job), { code: "overloaded" });
  });

  test("a cancelled phrase releases its thread", async () => {
    const pool = createWorkerPool({ workers: 1, logger: silentLogger });
    const controller = new AbortController();
    const slow = { text: "many words ".repeat(400), voice: "slt" as const, stretch: 8 };
    const cancelled = pool.speak(slow, { first: true, signal: controller.signal });
    const quick = pool.speak(
      { text: "Hello.", voice: "kal16", stretch: 1 },
      { first: true, signal: new AbortController().signal },
    );
    // Uninterrupted, the slow phrase would take minutes.
    controller.abort(new Error("left"));
    await assert.rejects(cancelled, /left/);
    assert.ok((await quick).samples.length > 1000);
    await pool.close();
  });
});

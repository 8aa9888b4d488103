/** The engine `pocketsphinx` as the rest of the server uses it: real decoding in real processes, if it is installed. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { joinSamples } from "../../src/audio/samples.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { readAudio } from "../../src/audio/read-audio.ts";
import type { PocketSphinxEngineSettings } from "../../src/config/engines/pocketsphinx.ts";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine, TranscribedSegment, TranscriptionModel } from "../../src/engines/engine.ts";
import { createPocketSphinxEngine } from "../../src/engines/pocketsphinx/engine.ts";
import { noise } from "../audio/signals.ts";
import { formOf, startTestTranscription } from "../support/test-transcription.ts";
import { pocketSphinxSettings } from "./engine-settings.ts";
import { callOf, rate, recording, silence, speak, type Spoken } from "./spoken.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";
import { noRecordedSpeakers, recordedSpeakers } from "../../../../test/support/recorded-speakers.ts";

function createEngine(changes: Partial<PocketSphinxEngineSettings> = {}): Engine {
  return createPocketSphinxEngine("pocketsphinx", { ...pocketSphinxSettings, ...changes }, { logger: silentLogger });
}

const modelOf = (engine: Engine): TranscriptionModel => engine.transcription!("pocketsphinx")!;

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

describe("pocketsphinx", { skip: needs("pocketsphinx") }, () => {
  const engine = createEngine({ processes: 1 });
  const model = modelOf(engine);
  let spoken: Spoken;
  let short: Spoken;
  /** Takes a third of the time of `short`. */
  let yes: Spoken;
  beforeTests(async (stack) => {
    stack.defer(() => engine.close());
    spoken = await speak(sentence, "rms");
    short = await speak("Turn on the light.", "rms");
    yes = await speak("Yes.", "rms");
  });

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

  test("understands single words, also when they begin with the recording", async () => {
    const heard: string[] = [];
    const words = ["yes", "no", "stop", "left", "go", "six", "three", "eight"];
    for (const word of words) {
      const { samples } = await speak(`${word}.`);
      const first = samples.findIndex((sample) => Math.abs(sample) >= 0.003);
      const segments = await segmentsOf(model, callOf(recording(samples.slice(first))));
      heard.push(segments.map(({ text }) => text).join(" "));
    }
    // The decoder itself takes some for others.
    const right = words.filter((word, index) => heard[index] === word);
    assert.ok(right.length >= 6, heard.join(", "));
  });

  test("returns the text of an utterance while the rest of the recording is still uploaded", async () => {
    const { promise: told, resolve: tell } = Promise.withResolvers<void>();
    const audio = {
      sampleRate: rate,
      async *open() {
        yield* recording(spoken.samples, silence(2)).open();
        // Without a segment by then, the test would time out here.
        await told;
        yield* recording(short.samples).open();
      },
    };
    const texts: string[] = [];
    for await (const event of model.transcribe(callOf(audio, { partials: true }))) {
      tell();
      texts.push(event.text);
    }
    assert.equal(texts.length, 2, texts.join(" | "));
  });

  test("the words depend neither on streaming nor on how fast the recording arrives", async () => {
    // The decoder's first guess at this sentence is another than its last.
    const { samples } = await speak("He was not an ill disposed young man.");
    const whole = recording(samples, silence(0.3), yes.samples, silence(1.2), yes.samples);
    const slow = {
      sampleRate: rate,
      async *open() {
        for await (const piece of whole.open()) {
          for (let start = 0; start < piece.length; start += 999) yield piece.slice(start, start + 999);
          await sleep(piece.length / 160);
        }
      },
    };
    const expected = await segmentsOf(model, callOf(whole));
    assert.ok(expected.length >= 2);
    for (const audio of [whole, slow]) {
      assert.deepEqual(await Array.fromAsync(model.transcribe(callOf(audio, { partials: true }))), expected);
    }
  });

  test("every response format has the same words", async () => {
    await using server = await startTestTranscription({ engines: [createEngine({ processes: 1 })], textFormats: true });
    const { samples } = await speak("He was not an ill disposed young man.");
    const audio = joinSamples([samples, silence(1.2), yes.samples]);
    const file = new Blob([encodeWav(audio, rate)], { type: "audio/wav" });
    const ask = async (fields: Record<string, string>): Promise<string> =>
      (await server.post(formOf({ model: "pocketsphinx", ...fields, file }))).text();
    type Verbose = { text: string; segments: { text: string }[]; words: { word: string }[] };
    const verbose = JSON.parse(
      await ask({ response_format: "verbose_json", timestamp_granularities: '["segment","word"]' }),
    ) as Verbose;
    const expected = verbose.text;
    assert.ok(verbose.segments.length === 2 && expected.split(" ").length > 5, expected);
    assert.equal(verbose.segments.map(({ text }) => text).join(" "), expected);
    assert.equal(verbose.words.map(({ word }) => word).join(" "), expected);
    assert.equal((JSON.parse(await ask({})) as { text: string }).text, expected);
    assert.equal(await ask({ response_format: "text" }), `${expected}\n`);
    for (const response_format of ["srt", "vtt"]) {
      const lines = (await ask({ response_format })).split("\n");
      const spokenLines = lines.filter((line) => line !== "" && !/-->|^\d+$|^WEBVTT$/.test(line));
      assert.equal(spokenLines.join(" "), expected);
    }
    const done = (await ask({ stream: "true" })).split("\n\n").find((line) => line.includes("text.done"));
    assert.equal((JSON.parse(done!.replace("data: ", "")) as { text: string }).text, expected);
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
    assert.match(segment!.text, /light/);
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

  test("a process that dies fails one call and is replaced", { skip: onlyOnLinux }, async () => {
    await segmentsOf(model, callOf(recording(short.samples)));
    const [pid] = recognizers();
    const running = segmentsOf(model, callOf(recording(short.samples)));
    process.kill(pid!, "SIGKILL");
    await assert.rejects(running, { code: "upstream_failed" });
    const [segment] = await segmentsOf(model, callOf(recording(short.samples)));
    assert.match(segment!.text, /light/);
  });

  for (const [who, other] of [
    ["organization", "another"],
    ["call", "same"],
  ] as const) {
    test(`a short recording of another ${who} gets the next turn while a long one is transcribed`, async () => {
      const parts = Array.from({ length: 6 }, () => [yes.samples, silence(1.5)]).flat();
      const order: string[] = [];
      const brief = async (): Promise<void> => {
        await segmentsOf(model, callOf(recording(yes.samples), { fairnessKey: other }));
        order.push("short");
      };
      let joined: Promise<void> | undefined;
      for await (const _ of model.transcribe(callOf(recording(...parts), { fairnessKey: "same" }))) {
        order.push("long");
        joined ??= brief();
      }
      await joined;
      assert.equal(order.length, 7);
      // The utterance that is being decoded, and one that may have begun before the short recording was cut.
      assert.ok(order.indexOf("short") <= 3, order.join(" "));
    });
  }

  test("a call beyond the queue limit is refused", async () => {
    const small = createEngine({ processes: 1, queue_limit: 0 });
    const only = modelOf(small);
    const first = segmentsOf(only, callOf(recording(yes.samples)));
    await assert.rejects(segmentsOf(only, callOf(recording(yes.samples))), { code: "overloaded" });
    assert.equal((await first).length, 1);
    await small.close();
  });

  test("a closed engine fails running calls and ends its processes", async () => {
    const closing = createEngine({ processes: 1 });
    const running = segmentsOf(modelOf(closing), callOf(recording(yes.samples)));
    running.catch(() => {});
    const before = recognizers().length;
    await until(() => recognizers().length > before);
    await closing.close();
    await assert.rejects(running, { code: "overloaded" });
    await until(() => recognizers().length === before);
  });

  test("recorded speakers are understood", { skip: noRecordedSpeakers }, async () => {
    const bytes = readFileSync(join(recordedSpeakers, "lj-003.wav"));
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

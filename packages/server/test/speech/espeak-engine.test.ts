/** The engine `espeak` with the real program, where it is installed. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { createEspeakEngine } from "../../src/models/espeak/engine.ts";
import { parseVoices } from "../../src/models/espeak/voices.ts";
import type { SpeechCall, SpeechPiece } from "../../src/models/model.ts";
import { Turns } from "../../src/models/spoken-text/turns.ts";
import { espeakEngineSettings } from "./engine-settings.ts";
import { awkwardTexts } from "./awkward-texts.ts";
import { hasProgram } from "./decoders.ts";

function call(input: string, changes: Partial<SpeechCall> = {}): SpeechCall {
  const signal = new AbortController().signal;
  return {
    input,
    voice: "en-us",
    language: undefined,
    speed: 1,
    marks: true,
    instructions: undefined,
    signal,
    ...changes,
  };
}

function seconds(pieces: readonly SpeechPiece[]): number {
  return pieces.reduce((sum, { samples, sampleRate }) => sum + samples.length / sampleRate, 0);
}

describe("espeak-ng", { skip: hasProgram("espeak-ng") ? false : "needs espeak-ng" }, () => {
  const engine = createEspeakEngine("espeak-ng", espeakEngineSettings);
  const model = engine.speech!("espeak-ng")!;
  const speak = (input: string, changes: Partial<SpeechCall> = {}) =>
    Array.fromAsync(model.speak(call(input, changes)));

  test("has many voices of many languages, American English first", async () => {
    const voices = (await model.voices(new AbortController().signal))!;
    assert.equal(voices[0]!.name, "en-us");
    for (const language of ["fr-FR", "de", "es", "it", "pt-BR"]) {
      assert.ok(
        voices.some(({ languages }) => languages.includes(language)),
        language,
      );
    }
  });

  test("speaks other languages, and words stand where they are written", async () => {
    const text = "Bonjour le monde, ça va bien ?";
    const pieces = await speak(text, { voice: "fr-fr+f3" });
    assert.ok(seconds(pieces) > 1 && seconds(pieces) < 5);
    assert.ok(pieces[0]!.samples.some((sample) => Math.abs(sample) > 0.1));
    const words = pieces.flatMap(({ marks }) => marks).map(({ offset, length }) => text.slice(offset, offset + length));
    assert.deepEqual(words, ["Bonjour", "le", "monde", ",", "ça", "va", "bien", "?"]);
  });

  test("speed changes the length over the whole range", async () => {
    const text = "One two three four five six seven eight nine ten";
    const normal = seconds(await speak(text));
    for (const speed of [0.25, 0.5, 2, 4]) {
      const ratio = (seconds(await speak(text, { speed })) * speed) / normal;
      assert.ok(ratio > 0.75 && ratio < 1.3, `speed ${speed}: ${ratio}`);
    }
  });

  test("awkward texts are spoken, never obeyed, and their marks are in order", async () => {
    for (const text of [...awkwardTexts, "[[h@'loU]] -v fr --help $(ls)"]) {
      let offset = 0;
      for (const { marks, samples, sampleRate } of await speak(text, { speed: 2 })) {
        for (const mark of marks) {
          assert.ok(mark.offset >= offset && mark.length > 0, text);
          assert.ok(mark.startMs + mark.durationMs <= (samples.length / sampleRate) * 1000 + 1, text);
          offset = mark.offset + mark.length;
        }
      }
    }
  });

  test("an abort kills the process and is the call's error", async () => {
    const controller = new AbortController();
    const reason = new AppError("client_closed", "gone");
    const long = model.speak(call("All work and no play. ".repeat(500), { signal: controller.signal, speed: 0.25 }));
    const run = async (): Promise<void> => {
      for await (const _ of long) controller.abort(reason);
    };
    await assert.rejects(run(), (error) => error === reason);
  });

  test("a closed engine speaks no more", async () => {
    const closing = createEspeakEngine("espeak-ng", espeakEngineSettings);
    await closing.close();
    await assert.rejects(Array.fromAsync(closing.speech!("espeak-ng")!.speak(call("Hi."))), { code: "overloaded" });
  });
});

describe("a speech program", () => {
  test("that is not there is said to be", async () => {
    const engine = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, program: "no-such-program" });
    await assert.rejects(engine.listModels(new AbortController().signal), { code: "overloaded" });
  });

  test("that fails or writes nonsense fails the call", async () => {
    const directory = await mkdtemp(join(tmpdir(), "sounding-espeak-"));
    for (const script of ["exit 3", "echo nonsense"]) {
      const program = join(directory, "speech");
      await writeFile(program, `#!/bin/sh\n${script}\n`);
      await chmod(program, 0o755);
      const engine = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, program });
      const speaking = Array.fromAsync(engine.speech!("espeak-ng")!.speak(call("Hi.")));
      await assert.rejects(speaking, { code: "upstream_failed" });
    }
    await rm(directory, { recursive: true });
  });

  test("lists its voices as a table", () => {
    const listing =
      "Pty Language Age/Gender VoiceName File Other\n 5 af --/M Afrikaans gmw/af\n 2 en-us --/M English_(America) x\n";
    assert.deepEqual(
      parseVoices(listing).map(({ name, languages, gender }) => [name, languages[0], gender]),
      [
        ["en-us", "en-US", "male"],
        ["en-us+f3", "en-US", "female"],
        ["af", "af", "male"],
        ["af+f3", "af", "female"],
      ],
    );
  });
});

describe("turns", () => {
  test("work waits for a place, and who leaves the queue takes none", async () => {
    const turns = new Turns(1);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const never = new AbortController().signal;
    const first = turns.run(never, () => held);
    const leaving = new AbortController();
    const second = turns.run(leaving.signal, async () => assert.fail("its caller has left"));
    const third = turns.run(never, async () => "third");
    leaving.abort(new Error("left"));
    await assert.rejects(second, /left/);
    release();
    await first;
    assert.equal(await third, "third");
    assert.equal(await turns.run(never, async () => "fourth"), "fourth");
  });
});

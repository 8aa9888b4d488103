/** The engine `espeak` with the real program, if it is installed. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { createEspeakEngine } from "../../src/engines/espeak/engine.ts";
import { createPackageBackend } from "../../src/engines/espeak/package-backend.ts";
import { parseVoices } from "../../src/engines/espeak/voices.ts";
import type { SpeechCall, SpeechPiece } from "../../src/engines/engine.ts";
import { espeakEngineSettings } from "./engine-settings.ts";
import { assertMarks } from "./assert-marks.ts";
import { awkwardTexts } from "./awkward-texts.ts";
import { withoutPackage } from "./local-engines.ts";
import { needs } from "../../../../test/support/needs.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";
import { childProcesses } from "../../../../test/support/child-processes.ts";

const parts = { logger: silentLogger };
const programSettings = { ...espeakEngineSettings, variant: "program" as const };

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

for (const [variant, skip] of [
  ["program", needs("espeak-ng")],
  ["package", withoutPackage],
] as const) {
  describe(`espeak-ng as a ${variant}`, { skip }, () => {
    const engine = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, variant }, parts);
    after(() => engine.close());
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

    test("speaks other languages, with correct word positions", async () => {
      const text = "Bonjour le monde, ça va bien ?";
      const pieces = await speak(text, { voice: "fr-fr+f3" });
      assert.ok(seconds(pieces) > 1 && seconds(pieces) < 5);
      assert.ok(pieces[0]!.samples.some((sample) => Math.abs(sample) > 0.1));
      const words = pieces
        .flatMap(({ marks }) => marks)
        .map(({ offset, length }) => text.slice(offset, offset + length));
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

    test("awkward texts are spoken as text, never as commands, and their marks are in order", async () => {
      // A program is a process per phrase, so it reads only some of them.
      const texts = variant === "package" ? awkwardTexts : awkwardTexts.filter((_, index) => index % 4 === 0);
      for (const text of [...texts, "[[h@'loU]] -v fr --help $(ls)"])
        assertMarks(text, await speak(text, { speed: 2 }));
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

    test("a closed engine refuses to speak", async () => {
      const closing = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, variant }, parts);
      await closing.close();
      await assert.rejects(Array.fromAsync(closing.speech!("espeak-ng")!.speak(call("Hi."))), { code: "overloaded" });
    });
  });
}

/** The processes of the package that this process started. */
function childrenThatSpeak(): number[] {
  return childProcesses(/package-process/);
}

describe("the package of espeak-ng", { skip: withoutPackage }, () => {
  const engine = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, variant: "package" }, parts);

  test("speaks if no program is installed", async () => {
    const settings = { ...espeakEngineSettings, program: "no-such-program" };
    const other = createEspeakEngine("espeak-ng", settings, parts);
    const [piece] = await Array.fromAsync(other.speech!("espeak-ng")!.speak(call("Guten Tag.", { voice: "de" })));
    assert.ok(seconds([piece!]) > 0.4);
    await other.close();
  });

  test("is found when models are listed, without starting its process", async () => {
    const settings = { ...espeakEngineSettings, program: "no-such-program" };
    const other = createEspeakEngine("espeak-ng", settings, parts);
    const before = childrenThatSpeak();
    const listed = await other.listModels(new AbortController().signal);
    assert.deepEqual(listed, [{ id: "espeak-ng", created: 0, ownedBy: "espeak-ng" }]);
    assert.deepEqual(childrenThatSpeak(), before);
    await other.close();
  });

  test("has a voice behind every name", async () => {
    const model = engine.speech!("espeak-ng")!;
    const voices = (await model.voices(new AbortController().signal))!;
    const step = isThorough ? 1 : 36;
    for (const { name } of voices.filter((_, index) => index % step === 0)) {
      assert.ok(seconds(await Array.fromAsync(model.speak(call("1", { voice: name })))) > 0.05, name);
    }
    await assert.rejects(Array.fromAsync(model.speak(call("1", { voice: "nobody" }))), { code: "invalid_request" });
  });

  test("reports when words are spoken: loud within them, silent at a comma, stretched or not", async () => {
    const text = "😀 Cost $3.50, out of it, gone.";
    for (const speed of [0.4, 1]) {
      const input = call(text, { speed });
      const [piece] = await Array.fromAsync(engine.speech!("espeak-ng")!.speak(input));
      const { marks, samples, sampleRate } = piece!;
      const loudness = (startMs: number, durationMs: number): number => {
        const [from, to] = [startMs, startMs + durationMs].map((ms) => Math.round((ms / 1000) * sampleRate));
        const part = samples.subarray(from, to);
        return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
      };
      const words = marks.map(({ offset, length }) => text.slice(offset, offset + length));
      assert.deepEqual(words, ["Cost", "$3.50", ",", "out", "of", "it", ",", "gone", "."]);
      const within = marks.filter(({ kind }) => kind === "word").map((mark) => loudness(mark.startMs, mark.durationMs));
      const pauses = marks
        .filter((_, index) => words[index] === ",")
        .map((mark) => loudness(mark.startMs, mark.durationMs));
      assert.ok(Math.min(...within) > 2 * Math.max(...pauses), `${within.join()} against ${pauses.join()}`);
    }
    await engine.close();
  });

  test("that crashes on a phrase fails one call and is replaced", async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: unknown, message: string) => warnings.push(message) };
    const variant = createPackageBackend({ processes: 1, logger });
    const phrase = { text: "One.", voice: "en-us", wordsPerMinute: 175, first: true };
    const { signal } = new AbortController();
    assert.ok((await variant.speak({ ...phrase, signal })).samples.length > 1000);
    const long = variant.speak({ ...phrase, text: "All work and no play. ".repeat(2_000), signal });
    for (const pid of childrenThatSpeak()) process.kill(pid, "SIGKILL");
    await assert.rejects(long, { code: "upstream_failed" });
    assert.ok((await variant.speak({ ...phrase, signal })).samples.length > 1000);
    assert.deepEqual(warnings, ["An espeak-ng process failed while speaking"]);
    await variant.close();
    await assert.rejects(variant.speak({ ...phrase, signal }), { code: "overloaded" });
  });
});

describe("a speech program", () => {
  test("that is missing is reported", async () => {
    const engine = createEspeakEngine("espeak-ng", { ...programSettings, program: "no-such-program" }, parts);
    await assert.rejects(engine.listModels(new AbortController().signal), { code: "overloaded" });
  });

  test("is looked up by each caller: one that disconnects affects no other", async () => {
    const directory = await mkdtemp(join(tmpdir(), "sounding-espeak-"));
    const program = join(directory, "speech");
    const listing = "Pty Language Age/Gender VoiceName\n 2 en-us --/M English_(America)\n";
    await writeFile(program, `#!/bin/sh\nuntil [ -e ${directory}/go ]; do sleep 0.02; done\nprintf '${listing}'\n`);
    await chmod(program, 0o755);
    const engine = createEspeakEngine("espeak-ng", { ...espeakEngineSettings, program }, parts);
    const leaving = new AbortController();
    const left = assert.rejects(engine.listModels(leaving.signal), /left/);
    const staying = engine.listModels(new AbortController().signal);
    leaving.abort(new Error("left"));
    await writeFile(join(directory, "go"), "");
    assert.deepEqual(await staying, [{ id: "espeak-ng", created: 0, ownedBy: "espeak-ng" }]);
    await left;
    await engine.close();
    await rm(directory, { recursive: true });
  });

  test("that fails or writes nonsense fails the call", async () => {
    const directory = await mkdtemp(join(tmpdir(), "sounding-espeak-"));
    for (const script of ["exit 3", "echo nonsense"]) {
      const program = join(directory, "speech");
      await writeFile(program, `#!/bin/sh\n${script}\n`);
      await chmod(program, 0o755);
      const engine = createEspeakEngine("espeak-ng", { ...programSettings, program }, parts);
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

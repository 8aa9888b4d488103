/** Speech by sherpa-onnx, with the real library and a tiny voice. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { silentLogger } from "../../src/logger.ts";
import type { SpeechCall, SpeechPiece } from "../../src/engines/engine.ts";
import { awkwardTexts } from "../speech/awkward-texts.ts";
import { modelProcesses, speechCall, startTestEngine, until, type TestEngine } from "./test-engine.ts";
import { signSamples, tinyVoiceRate, unspeakable, writeTinyVoice, type TinyVoiceOptions } from "./tiny-voice.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";

function startVoice(options: TinyVoiceOptions = {}, settings: object = {}): Promise<TestEngine> {
  return startTestEngine({ kind: "vits", ...settings }, (folder) => writeTinyVoice(folder, options));
}

function speak({ engine }: TestEngine, input: string, changes: Partial<SpeechCall> = {}): Promise<SpeechPiece[]> {
  return Array.fromAsync(engine.speech!("tiny")!.speak(speechCall(input, changes)));
}

function samplesOf(pieces: readonly SpeechPiece[]): number {
  return pieces.reduce((sum, { samples }) => sum + samples.length, 0);
}

/** How often the wave crosses zero upwards per second. */
function heightOf({ samples, sampleRate }: SpeechPiece): number {
  let rises = 0;
  for (let index = 1; index < samples.length; index++) if (samples[index - 1]! <= 0 && samples[index]! > 0) rises++;
  return (rises * sampleRate) / samples.length;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const mibs = (bytes: number): number => Math.round(bytes / 2 ** 20);

describe("a voice of sherpa-onnx", () => {
  let voice: TestEngine;
  beforeTests(async (stack) => {
    voice = stack.use(await startVoice());
  });

  test("a text is spoken phrase by phrase, and its words are located in the audio", async () => {
    const input = "Hello there. This is a somewhat longer sentence, it goes on and on.";
    const pieces = await speak(voice, input);
    assert.equal(pieces.length, 2);
    const text = (piece: SpeechPiece) =>
      input.slice(piece.sentence!.offset, piece.sentence!.offset + piece.sentence!.length);
    assert.deepEqual(pieces.map(text), ["Hello there.", "This is a somewhat longer sentence, it goes on and on."]);
    for (const piece of pieces) {
      assert.equal(piece.sampleRate, tinyVoiceRate);
      const pauseSeconds = 0.35;
      const expected = text(piece).length * signSamples + pauseSeconds * tinyVoiceRate;
      assert.ok(Math.abs(piece.samples.length - expected) < 0.05 * tinyVoiceRate, `${piece.samples.length} samples`);
      const signMs = (signSamples / tinyVoiceRate) * 1000;
      for (const { kind, offset, startMs } of piece.marks) {
        if (kind !== "word") continue;
        const trueMs = (offset - piece.sentence!.offset) * signMs;
        assert.ok(Math.abs(startMs - trueMs) < 200, `${input.slice(offset, offset + 8)} at ${startMs}, not ${trueMs}`);
      }
    }
  });

  test("speed changes the length over the whole range, and keeps the pitch", async () => {
    const whole = await speak(voice, "aaaaaaaaaaaaaaaaaaaa");
    for (const speed of [0.25, 0.5, 1.5, 2, 4]) {
      const pieces = await speak(voice, "aaaaaaaaaaaaaaaaaaaa", { speed });
      const ratio = samplesOf(whole) / samplesOf(pieces) / speed;
      assert.ok(ratio > 0.97 && ratio < 1.03, `${speed}: ${ratio}`);
      assert.ok(Math.abs(heightOf(pieces[0]!) / heightOf(whole[0]!) - 1) < 0.1, `${speed}: ${heightOf(pieces[0]!)}`);
    }
  });

  test("awkward texts are spoken, and unpronounceable parts are silent", async () => {
    for (const input of ["", " ", "日本語", "…", "\u0000\uD800", ...awkwardTexts]) {
      if (input.includes(unspeakable)) continue;
      const pieces = await speak(voice, input);
      assert.ok(pieces.length > 0, input);
      for (const { offset, length } of pieces.flatMap(({ marks }) => marks)) {
        assert.ok(length > 0 && offset >= 0 && offset + length <= input.length, input);
      }
    }
    await assert.rejects(speak(voice, "Hi.", { instructions: "Sing." }), { code: "unsupported_parameter" });
  });

  test("a text that crashes the library fails only its call, and a new process speaks the next one", async () => {
    await speak(voice, "Hi.");
    const [before] = modelProcesses();
    await assert.rejects(speak(voice, `All ${unspeakable} now.`), { code: "upstream_failed" });
    assert.equal((await speak(voice, "Hi.")).length, 1);
    assert.notEqual(modelProcesses()[0], before);
  });

  test("a long text needs no more memory than a short one", async () => {
    const model = voice.engine.speech!("tiny")!;
    let seconds = 0;
    let most = 0;
    const before = process.memoryUsage().rss;
    for await (const piece of model.speak(speechCall("It is a long way to go from here. ".repeat(500)))) {
      seconds += piece.samples.length / piece.sampleRate;
      most = Math.max(most, process.memoryUsage().rss - before);
    }
    assert.ok(seconds > 900, `${seconds} s`);
    // All samples of it take more.
    assert.ok(most < 50 * 2 ** 20, `${mibs(most)} MiB more`);
  });
});

describe("speech by sherpa-onnx", () => {
  test("a model's speakers are voices, under their numbers or configured names", async () => {
    await using numbered = await startVoice({ speakers: 3 });
    const voices = await numbered.engine.speech!("tiny")!.voices(new AbortController().signal);
    assert.deepEqual(
      voices!.map(({ name, languages }) => [name, languages]),
      [
        ["0", ["en-US"]],
        ["1", ["en-US"]],
        ["2", ["en-US"]],
      ],
    );
    const [low] = await speak(numbered, "aaaa", { voice: "0" });
    const [high] = await speak(numbered, "aaaa", { voice: "2" });
    assert.ok(Math.abs(heightOf(high!) / heightOf(low!) - 3) < 0.1);
    await assert.rejects(speak(numbered, "aaaa", { voice: "3" }), { code: "invalid_request", param: "voice" });

    const named = { anna: { speaker: 2, gender: "female", languages: ["de-DE"] } } as const;
    await using configured = await startVoice({ speakers: 3 }, { voices: named });
    assert.deepEqual(await configured.engine.speech!("tiny")!.voices(new AbortController().signal), [
      { name: "anna", speaker: 2, gender: "female", languages: ["de-DE"] },
    ]);
    const [anna] = await speak(configured, "aaaa", { voice: "anna" });
    assert.ok(Math.abs(heightOf(anna!) / heightOf(high!) - 1) < 0.01);
    await using few = await startVoice({ speakers: 2 }, { voices: named });
    assert.match(few.engine.problemOf!("tiny")!.message, /"anna" uses speaker 2, but the model has 2/);
  });

  test("names of speakers in the file become voice names, Kokoro's with language and gender", async () => {
    await using voice = await startVoice({ speakers: 2, metadata: { speaker_names: "af_bella,zm_yunxi" } });
    assert.deepEqual(await voice.engine.speech!("tiny")!.voices(new AbortController().signal), [
      { name: "af_bella", speaker: 0, languages: ["en-US"], gender: "female" },
      { name: "zm_yunxi", speaker: 1, languages: ["zh-CN"], gender: "male" },
    ]);
  });

  test("callers' texts never reach the log", async () => {
    const logged: unknown[] = [];
    const log = (fields: object): void => void logged.push(fields);
    const logger = { debug: log, info: log, warn: log, error: log };
    await using voice = await startTestEngine({ kind: "vits" }, (folder) => writeTinyVoice(folder), logger);
    // The library complains about both, and quotes their texts.
    await speak(voice, "Geheimnis: 秘密");
    await assert.rejects(speak(voice, `秘密 ${unspeakable}`), { code: "upstream_failed" });
    const text = inspect(logged, { depth: 9 });
    assert.match(text, /what\(\):/);
    assert.doesNotMatch(text, /秘密|Geheimnis/);
  });

  test("a killed process fails its running calls, and queued ones are answered", async () => {
    await using voice = await startVoice({ work: 5 });
    await speak(voice, "Hi.");
    const [pid] = modelProcesses();
    const running = speak(voice, "one");
    const waiting = speak(voice, "two");
    process.kill(pid!, "SIGKILL");
    await assert.rejects(running, { code: "upstream_failed" });
    assert.equal((await waiting).length, 1);
  });

  test("a disconnected caller is released immediately, and its work does not delay others", async () => {
    await using voice = await startVoice({ work: 40 });
    await speak(voice, "Hi.");
    const [pid] = modelProcesses();
    const leaving = new AbortController();
    const left = speak(voice, "This takes seconds.", { signal: leaving.signal });
    const reason = new Error("gone");
    leaving.abort(reason);
    await assert.rejects(left, reason);
    // The abandoned work is not waited for: its process is ended.
    await until(() => modelProcesses()[0] !== pid);
  });

  test("leaving the loop stops the work on the next phrase", async () => {
    await using voice = await startVoice({ work: 4 });
    const pieces = voice.engine.speech!("tiny")!.speak(speechCall("One. Two. Three. Four. ".repeat(500)));
    let count = 0;
    for await (const piece of pieces) {
      assert.ok(piece.samples.length > 0);
      if (++count === 2) break;
    }
    assert.equal((await speak(voice, "Hi.")).length, 1);
  });

  test("a call beyond processes and queue_limit is refused", async () => {
    await using voice = await startVoice({ work: 5 }, { queue_limit: 1 });
    const taken = [speak(voice, "one"), speak(voice, "two")];
    await assert.rejects(speak(voice, "three"), { code: "overloaded" });
    assert.equal((await Promise.all(taken)).length, 2);
    assert.equal((await speak(voice, "three")).length, 1);
  });

  test("several processes work concurrently", async () => {
    await using voice = await startVoice({ work: 5 }, { processes: 2 });
    await Promise.all([speak(voice, "one"), speak(voice, "two"), speak(voice, "three")]);
    assert.equal(modelProcesses().length, 2);
  });

  test("an idle model is unloaded, and loaded again", async () => {
    await using voice = await startVoice({}, { idle_unload_ms: 50 });
    await speak(voice, "Hi.");
    await until(() => modelProcesses().length === 0);
    assert.equal((await speak(voice, "Hi.")).length, 1);
  });

  test("a model whose only caller left during loading is unloaded", { timeout: 60_000 }, async () => {
    const messages: string[] = [];
    const logger = { ...silentLogger, info: (_: unknown, message: string) => void messages.push(message) };
    const settings = { kind: "vits", idle_unload_ms: 50 } as const;
    await using voice = await startTestEngine(settings, (folder) => writeTinyVoice(folder), logger);
    const leaving = new AbortController();
    const left = assert.rejects(speak(voice, "Hi.", { signal: leaving.signal }), /left/);
    await until(() => modelProcesses().length === 1);
    leaving.abort(new Error("left"));
    await left;
    await until(() => messages.includes("model unloaded after being idle"));
  });

  test("a model's process gets none of the server's keys, only the library paths", { skip: onlyOnLinux }, async (t) => {
    const environment = { SOUNDING_ADMIN_KEY: "secret", LD_LIBRARY_PATH: "/nowhere" };
    const before = { ...process.env };
    Object.assign(process.env, environment);
    t.after(() => {
      for (const name of Object.keys(environment)) delete process.env[name];
      Object.assign(process.env, before);
    });
    await using voice = await startVoice();
    await speak(voice, "Hi.");
    const given = readFileSync(`/proc/${modelProcesses()[0]}/environ`, "utf8").split("\0").filter(Boolean);
    assert.deepEqual(
      given.filter((each) => !/^NODE_(CHANNEL_|COMPILE_CACHE=)/.test(each)),
      ["LD_LIBRARY_PATH=/nowhere"],
    );
  });

  test("a model's process does not outlive a server that is killed", async () => {
    const script = fileURLToPath(new URL("orphan.ts", import.meta.url));
    const server = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    const [directory] = (await once(createInterface(server.stdout), "line")) as [string];
    const [model] = modelProcesses(server.pid);
    assert.ok(model !== undefined);
    server.kill("SIGKILL");
    await until(() => !isRunning(model));
    await rm(directory, { recursive: true });
  });

  test("after closing nothing runs, and calls are refused", async () => {
    const voice = await startVoice({ work: 100 });
    const running = speak(voice, "This takes a while.");
    await until(() => modelProcesses().length === 1);
    const refused = assert.rejects(running, { code: "overloaded" });
    await voice[Symbol.asyncDispose]();
    await refused;
    assert.deepEqual(modelProcesses(), []);
    await assert.rejects(speak(voice, "Hi."), { code: "overloaded" });
  });
});

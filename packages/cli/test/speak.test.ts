import assert from "node:assert/strict";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { brokenBytes, bytes, json, startScriptedServer, type Answer } from "../../client/test/scripted-server.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";

const server = await startScriptedServer();
const directory = mkdtempSync(join(tmpdir(), "sounding-speak-"));
after(() => rmSync(directory, { recursive: true }));

const voiceOf = (model: string, name: string): object => ({
  name,
  model,
  engine: model,
  languages: ["en-US"],
  gender: null,
  description: null,
});
const voices = json({ object: "list", data: [voiceOf("espeak-ng", "en-us"), voiceOf("flite", "slt")] });

const samples = "0123456789abcdef";
const pcm = (text = samples): Answer => {
  const answer = bytes("audio/pcm", [text]);
  return (response, request) => {
    response.setHeader("x-sample-rate", "16000");
    return answer(response, request);
  };
};
const boundary = {
  type: "word_boundary",
  text: "Hello",
  audio_offset_ms: 50,
  duration_ms: 310.4,
  text_offset: 0,
  word_length: 5,
  boundary_type: "word",
};
const lines: Answer = (response, request) => {
  response.setHeader("x-sample-rate", "16000");
  const audio = { type: "audio", data: Buffer.from(samples).toString("base64") };
  return bytes("application/x-ndjson", [`${JSON.stringify(boundary)}\n${JSON.stringify(audio)}\n`])(response, request);
};

/** A folder with a program that writes its arguments and input to files next to it. */
function programFolder(program: string, script = 'cat > "$0.heard"'): string {
  const folder = mkdtempSync(join(directory, "bin-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, program), `#!/bin/sh\nPATH=/usr/bin:/bin\necho "$@" > "$0.words"\n${script}\n`);
  chmodSync(join(folder, program), 0o755);
  return folder;
}

const asked = ["-m", "m", "-v", "v"];

function speak(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const env = {
    SOUNDING_API_KEY: "sk-test",
    SOUNDING_BASE_URL: server.url,
    PATH: "/nowhere",
    PULSE_SERVER: "x",
    ...options.env,
  };
  return runSounding(["speak", ...words], { ...options, env });
}

function sent(index = 0): Record<string, unknown> {
  return JSON.parse(server.requests[index]!.body) as Record<string, unknown>;
}

const file = (name: string): string => join(directory, name);

describe("sounding speak", () => {
  test("writes a file in the format of its extension, with all its options", async () => {
    server.answer(bytes("audio/mpeg", ["one ", "two"]));
    const words = ["Hello", "world.", "-o", file("a.mp3"), "--rate", "24000", "--speed", "1.5", "-l", "en-US"];
    assert.deepEqual(await speak([...words, ...asked]), { code: 0, stdout: "", stderr: "" });
    assert.equal(readFileSync(file("a.mp3"), "utf8"), "one two");
    assert.deepEqual(sent(), {
      model: "m",
      voice: "v",
      input: "Hello world.",
      response_format: "mp3",
      sample_rate: 24_000,
      speed: 1.5,
      speech_synthesis_language: "en-US",
      stream: true,
    });
  });

  test("creates one WAV file from piped lines, with correct sizes", async () => {
    server.answer(pcm());
    const { code } = await speak(["-o", file("b.wav"), ...asked], { input: `${"a".repeat(60_000)}\ntwo\n` });
    assert.equal(code, 0);
    const wav = readFileSync(file("b.wav"));
    const count = server.requests.length;
    assert.ok(count > 1);
    assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 36, 40), "RIFFdata");
    assert.deepEqual(
      [wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40)],
      [36 + 16 * count, 16_000, 16 * count],
    );
    assert.equal(wav.toString("latin1", 44), samples.repeat(count));
  });

  test("creates one recording if the first line has no audio", async () => {
    const lines = { input: "...\nsix" };
    server.answer(pcm(""), pcm());
    assert.equal((await speak(["-o", file("e.wav"), ...asked], lines)).code, 0);
    assert.equal(server.requests.length, 2);
    const wav = readFileSync(file("e.wav"));
    assert.deepEqual([wav.readUInt32LE(40), wav.toString("latin1", 44)], [samples.length, samples]);
    server.answer(pcm(""), pcm());
    const { code, stdout } = await speak(["-f", "wav", ...asked], lines);
    assert.deepEqual([code, stdout.slice(0, 4), stdout.lastIndexOf("RIFF")], [0, "RIFF", 0]);
    const folder = programFolder("afplay", 'cat "$1" >> "$0.heard"');
    server.answer(pcm(""), pcm());
    const outcome = await speak(["--play", ...asked], { ...lines, env: { PATH: folder, TMPDIR: folder } });
    assert.deepEqual(outcome, { code: 0, stdout: "", stderr: "" });
    assert.equal(readFileSync(join(folder, "afplay.heard"), "latin1").slice(44), samples);
    assert.deepEqual(readdirSync(folder).toSorted(), ["afplay", "afplay.heard", "afplay.words"]);
  });

  test("leaves no file behind if no text is given", async () => {
    server.answer(pcm(""));
    const { code, stderr } = await speak(["...", "-o", file("silent.wav"), ...asked]);
    assert.deepEqual([code, /the text is empty/.test(stderr)], [2, true]);
    assert.ok(!existsSync(file("silent.wav")));
  });

  test("speaks a line before the next one is written", async () => {
    server.answer(pcm("one-"), pcm("two-"));
    const { stdout } = await speak(["--format", "pcm", ...asked], {
      keepOpen: true,
      during({ stdin, stdout }) {
        stdin.write("one\n");
        void once(stdout, "data").then(() => stdin.end("two\n"));
      },
    });
    assert.match(stdout, /two-$/);
    assert.deepEqual([sent(0)["input"], sent(1)["input"], sent(1)["sample_rate"]], ["one\n", "two\n", 16_000]);
  });

  test("writes audio to a pipe, as WAV of unknown length", async () => {
    server.answer(pcm());
    const { stdout, code } = await speak(["Hello.", ...asked]);
    assert.deepEqual([code, stdout.slice(0, 4), stdout.slice(-samples.length)], [0, "RIFF", samples]);
  });

  test("uses the first easily intelligible voice if none is named", async () => {
    server.answer(voices, pcm());
    assert.equal((await speak(["Hello.", "-f", "pcm"])).code, 0);
    assert.deepEqual([sent(1)["model"], sent(1)["voice"]], ["flite", "slt"]);
    server.answer(voices, pcm());
    assert.equal((await speak(["Hello.", "-f", "pcm", "-v", "alloy"])).code, 0);
    assert.deepEqual([sent(1)["model"], sent(1)["voice"]], ["flite", "alloy"]);
    server.answer(json({ object: "list", data: [] }));
    const none = await speak(["Hello.", "-l", "tlh"]);
    assert.deepEqual([none.code, /no voice that speaks tlh/.test(none.stderr)], [5, true]);
  });

  test("prints the words next to the file", async () => {
    server.answer(lines);
    const { stdout, code } = await speak(["Hello.", "--words", "-o", file("c.wav"), ...asked]);
    assert.deepEqual([code, stdout], [0, "   0.050   0.310  word         Hello\n"]);
    assert.equal(sent()["enable_word_boundary"], true);
    assert.equal(readFileSync(file("c.wav"), "latin1").slice(44), samples);
  });

  test("reports everything in JSON", async () => {
    server.answer(lines);
    const { stdout } = await speak(["--json", "--words", "-o", file("d.wav"), ...asked], { input: "Hello." });
    assert.deepEqual(JSON.parse(stdout), {
      model: "m",
      voice: "v",
      format: "wav",
      output: file("d.wav"),
      bytes: samples.length,
      sample_rate: 16_000,
      word_boundaries: [boundary],
    });
  });

  for (const [program, words, heard] of [
    ["paplay", "--raw --format=s16le --channels=1 --rate=16000", samples],
    ["aplay", "-q -t raw -f S16_LE -c 1 -r 16000 -", samples],
    ["mpg123", "-q -", samples],
  ] as const) {
    test(`plays with ${program}`, async () => {
      const folder = programFolder(program);
      server.answer(pcm());
      const outcome = await speak(["Hello.", "--play", ...asked], { env: { PATH: folder } });
      assert.deepEqual(outcome, { code: 0, stdout: "", stderr: "" });
      assert.equal(readFileSync(join(folder, `${program}.words`), "utf8"), `${words}\n`);
      assert.equal(readFileSync(join(folder, `${program}.heard`), "utf8"), heard);
    });
  }

  test("plays files with a program that reads only files, and removes them afterwards", async () => {
    const folder = programFolder("afplay", 'cat "$1" > "$0.heard"');
    server.answer(pcm());
    const env = { PATH: folder, TMPDIR: folder };
    assert.equal((await speak(["Hello.", "--play", ...asked], { env })).code, 0);
    assert.equal(readFileSync(join(folder, "afplay.heard"), "latin1").slice(44), samples);
    assert.ok(!existsSync(readFileSync(join(folder, "afplay.words"), "utf8").trim()));
  });

  test("reports why a player fails, and when none is installed", async () => {
    const folder = programFolder("aplay", "echo 'audio open error' >&2; exit 1");
    server.answer(pcm());
    const failed = await speak(["Hello.", "--play", ...asked], { env: { PATH: folder } });
    assert.deepEqual([failed.code, /aplay cannot play it: audio open error/.test(failed.stderr)], [1, true]);
    const none = await speak(["Hello.", "--play", ...asked]);
    assert.deepEqual([none.code, /no audio player is installed/.test(none.stderr)], [1, true]);
  });

  test("leaves no truncated file behind", async () => {
    server.answer(brokenBytes("audio/mpeg", "one"));
    const { code, stderr } = await speak(["Hello.", "-o", file("cut.mp3"), ...asked]);
    assert.deepEqual([code, /The stream failed/.test(stderr)], [3, true]);
    assert.ok(!existsSync(file("cut.mp3")));
  });

  test("cancels the request when it is interrupted", async () => {
    server.answer(bytes("audio/mpeg", ["one"], true));
    const { code } = await speak(["Hello.", "-f", "mp3", ...asked], {
      during: (child) => void once(child.stdout, "data").then(() => child.kill("SIGINT")),
    });
    assert.equal(code, 130);
    await server.requests[0]!.closed;
  });

  for (const [title, words, message] of [
    ["an ending that names no format", ["hi", "-o", "x.flac", ...asked], /the extension \.flac is not one of/],
    ["a format that is none", ["hi", "-f", "flac", ...asked], /--format is "flac"/],
    ["audio and words on one output", ["hi", "-o", "-", "--words", ...asked], /both write to standard output/],
    ["a file and a player", ["hi", "-o", "x.wav", "--play", ...asked], /cannot be combined/],
    ["a pace that is no number", ["hi", "--speed", "fast", "-f", "pcm", ...asked], /--speed is "fast"/],
    ["no text", ["-f", "pcm", ...asked], /the text is empty/],
  ] as const) {
    test(`refuses ${title}`, async () => {
      server.answer(pcm());
      const { code, stderr } = await speak(words);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }
});

/** Speech calls as code: what programs do with them is what the page does. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { speechCode } from "./speech-code.ts";

const parameters = {
  model: "flite",
  voice: "slt",
  input: `It's "fine" \\ $HOME \`id\`\n🎧`,
  speed: 1.5,
  sampleRate: 24_000,
  language: "en-US",
  instructions: "",
  wordTimes: true,
} as const;
const call = { url: "http://127.0.0.1:4141", parameters, format: "mp3" } as const;
const body = {
  model: "flite",
  voice: "slt",
  input: parameters.input,
  response_format: "mp3",
  speed: 1.5,
  sample_rate: 24_000,
  speech_synthesis_language: "en-US",
};

describe("speechCode", () => {
  test("gives a shell the body unchanged", () => {
    const code = speechCode("curl", call);
    const output = execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${code}`], { encoding: "utf8" });
    const words = output.split("\0");
    assert.equal(words[0], "http://127.0.0.1:4141/v1/audio/speech");
    assert.deepEqual(JSON.parse(words[words.indexOf("-d") + 1]!), body);
    assert.equal(words[words.indexOf("-o") + 1], "speech.mp3");
  });

  test("gives TypeScript the body unchanged", () => {
    const argument = /speech\.create\((?<json>\{.*?\})\);/s.exec(speechCode("TypeScript", call))?.groups?.["json"];
    assert.deepEqual(JSON.parse(argument!), body);
  });

  test("gives Python its literals, and OpenAI's client what it does not know as extra_body", () => {
    const code = speechCode("Python", call);
    assert.match(code, /^ {4}speed=1\.5,$/m);
    assert.match(code, /^ {4}extra_body=\{"sample_rate": 24000, "speech_synthesis_language": "en-US"\},$/m);
    assert.match(code, /^ {4}input="It's \\"fine\\" \\\\ \$HOME `id`\\n🎧",$/m);
  });

  test("leaves out what has its default", () => {
    const plain = { ...parameters, speed: 1, sampleRate: undefined, language: undefined };
    const code = speechCode("Python", { ...call, parameters: plain });
    assert.doesNotMatch(code, /speed|extra_body|instructions/);
  });
});

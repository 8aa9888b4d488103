/** Transcriptions as code. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { transcriptionCode } from "./transcription-code.ts";

const parameters = { model: "whisper-1", language: "de", prompt: "@it's; $(id)", timestamps: "word" } as const;
const call = { url: "http://127.0.0.1:4141", parameters, file: "it's a talk.wav" };

describe("transcriptionCode", () => {
  test("gives a shell each field unchanged", () => {
    const code = transcriptionCode("curl", call);
    const output = execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${code}`], { encoding: "utf8" });
    const words = output.split("\0");
    const fields = words.filter((_, index) => words[index - 1] === "--form-string");
    assert.deepEqual(fields, [
      "model=whisper-1",
      "language=de",
      "prompt=@it's; $(id)",
      "response_format=verbose_json",
      'timestamp_granularities=["segment","word"]',
    ]);
    assert.equal(words[words.indexOf("-F") + 1], "file=@it's a talk.wav");
  });

  test("gives programs the parameters and the file", () => {
    const typescript = transcriptionCode("TypeScript", call);
    const argument = /transcriptions\.create\((?<json>\{.*?\})\);/s.exec(typescript)?.groups?.["json"];
    assert.deepEqual(JSON.parse(argument!), {
      model: "whisper-1",
      language: "de",
      prompt: "@it's; $(id)",
      response_format: "verbose_json",
      timestamp_granularities: ["segment", "word"],
      file: "it's a talk.wav",
    });
    assert.match(transcriptionCode("Python", call), /^ {8}timestamp_granularities=\["segment", "word"\],$/m);
  });
});

/** Unusable models: reported at the start if possible, and never fatal to the server. */
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { LogFields, Logger } from "../../src/logger.ts";
import { encodeOnnx, node } from "./onnx-file.ts";
import { recording, sentence, silence } from "./spoken-tones.ts";
import { recordedAudio, speechCall, startTestEngine, transcriptionCall } from "./test-engine.ts";
import { writeTinyRecognizer } from "./tiny-recognizer.ts";
import { writeTinyVoice } from "./tiny-voice.ts";

function recordingLogger(): Logger & { readonly errors: LogFields[] } {
  const errors: LogFields[] = [];
  return { errors, debug: () => {}, info: () => {}, warn: () => {}, error: (fields) => void errors.push(fields) };
}

/** A network that does nothing, with this metadata. */
function idleModel(metadata: Record<string, string>): Uint8Array {
  return encodeOnnx({
    inputs: [["x", "float", ["N"]]],
    outputs: [["y", "float", ["N"]]],
    nodes: [node("Identity", ["x"], "y")],
    metadata,
  });
}

describe("a model whose files are invalid", () => {
  test("every missing file is named at the start", async () => {
    const start = startTestEngine({ kind: "transducer" }, async (folder) => {
      await writeTinyRecognizer(folder, "transducer");
      await rm(join(folder, "joiner.onnx"));
      await rm(join(folder, "tokens.txt"));
    });
    await assert.rejects(start, /^AppError: The model "tiny" cannot be used: .*models\/tiny lacks joiner, tokens\.$/);
  });

  test("configured file names are used to find the files", async () => {
    const files = { model: "other.onnx", lexicon: ["a.txt", "b.txt"] };
    const start = startTestEngine({ kind: "vits", files }, (folder) => writeTinyVoice(folder));
    await assert.rejects(start, /lacks model \(.*other\.onnx\), lexicon \(.*a\.txt\), lexicon \(.*b\.txt\)\.$/);
    const unknown = startTestEngine({ kind: "vits", files: { joiner: "x" } }, (folder) => writeTinyVoice(folder));
    await assert.rejects(unknown, /a vits model has no files joiner; its files are model, tokens, /);
  });

  test("a folder that does not exist is reported with the places that were searched", async () => {
    const start = startTestEngine({ kind: "vits", folder: "nowhere" }, async () => {});
    await assert.rejects(
      start,
      /neither .*models\/nowhere nor .*nowhere exists as a folder; download the model with: sounding models pull/,
    );
  });

  test("a file that is not an ONNX file is refused at the start", async () => {
    for (const content of ["", "version https://git-lfs.github.com/spec/v1\n", "<!doctype html>", "\u0008\u0008"]) {
      const start = startTestEngine({ kind: "vits" }, async (folder) => {
        await writeTinyVoice(folder);
        await writeFile(join(folder, "tiny-voice.onnx"), content);
      });
      await assert.rejects(start, /tiny-voice\.onnx is not an ONNX file\.$/, content);
    }
  });

  test("a model that the library rejects causes an error that quotes it, call after call", async () => {
    const logger = recordingLogger();
    const files: [string, Uint8Array][] = [
      ["'sample_rate' does not exist in the metadata", idleModel({ comment: "piper" })],
      ["lexicon", idleModel({ comment: "x", sample_rate: "16000", n_speakers: "1", language: "English" })],
    ];
    for (const [reason, bytes] of files) {
      const write = async (folder: string): Promise<void> => {
        await writeTinyVoice(folder);
        await writeFile(join(folder, "tiny-voice.onnx"), bytes);
      };
      await using voice = await startTestEngine({ kind: "vits" }, write, logger);
      const speak = () => Array.fromAsync(voice.engine.speech!("tiny")!.speak(speechCall("Hi.")));
      await assert.rejects(speak(), { code: "upstream_failed", message: 'The model "tiny" cannot be loaded.' });
      assert.match(String((logger.errors.at(-1)!["error"] as Error).cause), new RegExp(reason));
      await assert.rejects(speak(), { code: "upstream_failed" });
      // From now on it is left alone for a while.
      await assert.rejects(speak(), { code: "overloaded", message: /failed 2 times and is about to be restarted/ });
    }
  });

  test("truncated files cause an error", async () => {
    const write = async (folder: string): Promise<void> => {
      await writeTinyRecognizer(folder, "transducer");
      const path = join(folder, "decoder.onnx");
      await writeFile(path, (await readFile(path)).subarray(0, 60));
    };
    await using recognizer = await startTestEngine({ kind: "transducer" }, write);
    const audio = recordedAudio(recording(silence(0.5), sentence("▁one"), silence(1)));
    const transcribing = Array.fromAsync(
      recognizer.engine.transcription!("tiny")!.transcribe(transcriptionCall(audio)),
    );
    await assert.rejects(transcribing, { code: "upstream_failed", message: 'The model "tiny" cannot be loaded.' });
  });

  test("invalid tokens cause an error", async () => {
    const write = async (folder: string): Promise<void> => {
      await writeTinyVoice(folder);
      await writeFile(join(folder, "tokens.txt"), "many words in one line\n");
    };
    await using voice = await startTestEngine({ kind: "vits" }, write);
    const speaking = Array.fromAsync(voice.engine.speech!("tiny")!.speak(speechCall("Hi.")));
    await assert.rejects(speaking, { code: "upstream_failed" });
  });
});

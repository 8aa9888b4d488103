/** Unusable models: reported at the start if possible, and never fatal to the server or to other models. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import type { AppError } from "../../src/errors.ts";
import { silentLogger, type LogFields, type Logger } from "../../src/logger.ts";
import { encodeOnnx, node } from "./onnx-file.ts";
import { recording, sentence, silence } from "./spoken-tones.ts";
import { recordedAudio, speechCall, startTestEngine, transcriptionCall, type TestEngine } from "./test-engine.ts";
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

/** What a call of the model `tiny` fails with. */
async function callFailure({ engine }: TestEngine, kind: "speech" | "transcription"): Promise<AppError> {
  const audio = recordedAudio(recording(silence(0.5), sentence("▁one"), silence(1)));
  const calling =
    kind === "speech"
      ? Array.fromAsync(engine.speech!("tiny")!.speak(speechCall("Hi.")))
      : Array.fromAsync(engine.transcription!("tiny")!.transcribe(transcriptionCall(audio)));
  return calling.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => error as AppError,
  );
}

describe("a model whose files are invalid", () => {
  const failureOf = async (
    settings: Parameters<typeof startTestEngine>[0],
    write: (folder: string) => Promise<void>,
  ): Promise<string> => {
    const logger = recordingLogger();
    await using started = await startTestEngine(settings, write, logger);
    const error = await callFailure(started, settings.kind === "vits" ? "speech" : "transcription");
    assert.equal(error.code, "upstream_failed");
    assert.ok(error.lasting);
    // The paths are for the log only.
    assert.doesNotMatch(error.message, /\/(?:tmp|var)|sounding-sherpa/);
    assert.equal(started.engine.problemOf!("tiny")?.message, error.message);
    const logged = logger.errors[0]!["error"] as Error;
    return `${error.message} ${logged.cause instanceof Error ? logged.cause.message : ""}`;
  };

  test("names every missing file, and is listed", async () => {
    const write = async (folder: string): Promise<void> => {
      await writeTinyRecognizer(folder, "transducer");
      await rm(join(folder, "joiner.onnx"));
      await rm(join(folder, "tokens.txt"));
    };
    assert.match(
      await failureOf({ kind: "transducer" }, write),
      /^The model "tiny" cannot be used: its folder lacks joiner, tokens\. in .*models\/tiny$/,
    );
    await using started = await startTestEngine({ kind: "transducer" }, write);
    const listed = await started.engine.listModels(new AbortController().signal);
    assert.deepEqual(
      listed.map(({ id }) => id),
      ["tiny"],
    );
  });

  test("is used once its files are there", async () => {
    await using voice = await startTestEngine({ kind: "vits" }, async () => {});
    assert.match((await callFailure(voice, "speech")).message, /its folder "tiny" does not exist/);
    await writeTinyVoice(voice.folder);
    const pieces = await Array.fromAsync(voice.engine.speech!("tiny")!.speak(speechCall("Hi.")));
    assert.ok(pieces.length > 0);
    assert.equal(voice.engine.problemOf!("tiny"), undefined);
  });

  test("names configured files that do not exist", async () => {
    const files = { model: "other.onnx", lexicon: ["a.txt", "b.txt"] };
    assert.match(
      await failureOf({ kind: "vits", files }, (folder) => writeTinyVoice(folder)),
      /lacks model \(other\.onnx\), lexicon \(a\.txt\), lexicon \(b\.txt\)\./,
    );
    assert.match(
      await failureOf({ kind: "vits", files: { joiner: "x" } }, (folder) => writeTinyVoice(folder)),
      /a vits model has no files joiner; its files are model, tokens, /,
    );
  });

  test("without a folder is reported with the places that were searched", async () => {
    assert.match(
      await failureOf({ kind: "vits", folder: "nowhere" }, async () => {}),
      /"nowhere" does not exist\. neither .*models\/nowhere nor .*nowhere exists as a folder; download the model with: sounding models pull/,
    );
  });

  test("that is no ONNX file is refused before it is loaded", async () => {
    for (const content of ["", "version https://git-lfs.github.com/spec/v1\n", "<!doctype html>", "\u0008\u0008"]) {
      const write = async (folder: string): Promise<void> => {
        await writeTinyVoice(folder);
        await writeFile(join(folder, "tiny-voice.onnx"), content);
      };
      assert.match(await failureOf({ kind: "vits" }, write), /: tiny-voice\.onnx is not an ONNX file\./, content);
    }
  });

  test("does not keep the other models of its engine from being served", async () => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-sherpa-"));
    await writeTinyVoice(join(dataDirectory, "models/good"));
    const model = { kind: "vits", files: {}, threads: 1 } as const;
    const models = { bad: { ...model, folder: "bad" }, good: { ...model, folder: "good" } };
    const parts = { logger: silentLogger, dataDirectory };
    const engine = await createSherpaOnnxEngine("local", { type: "sherpa_onnx", models }, parts);
    try {
      const call = speechCall("Hi.", { voice: "good" });
      assert.ok((await Array.fromAsync(engine.speech!("good")!.speak(call))).length > 0);
    } finally {
      await engine.close();
      await rm(dataDirectory, { recursive: true });
    }
  });

  test("that the library rejects causes an error with its reason, and is loaded again once its files change", async () => {
    const logger = recordingLogger();
    const files: [string, Uint8Array][] = [
      ["'sample_rate' does not exist in the metadata", idleModel({ comment: "piper" })],
      [
        "Please provide --vits-lexicon",
        idleModel({ comment: "x", sample_rate: "16000", n_speakers: "1", language: "English" }),
      ],
    ];
    for (const [reason, bytes] of files) {
      const write = async (folder: string): Promise<void> => {
        await writeTinyVoice(folder);
        await writeFile(join(folder, "tiny-voice.onnx"), bytes);
      };
      logger.errors.length = 0;
      await using voice = await startTestEngine({ kind: "vits" }, write, logger);
      for (let call = 0; call < 4; call++) {
        const { code, message } = await callFailure(voice, "speech");
        assert.equal(code, "upstream_failed");
        assert.match(message, /^The model "tiny" cannot be loaded: /);
        assert.ok(message.includes(reason), message);
      }
      // The first call tried to load it; the others knew better.
      assert.equal(logger.errors.length, 1);
      assert.equal(voice.engine.problemOf!("tiny")?.code, "upstream_failed");
      await writeTinyVoice(voice.folder);
      assert.ok((await Array.fromAsync(voice.engine.speech!("tiny")!.speak(speechCall("Hi.")))).length > 0);
      assert.equal(voice.engine.problemOf!("tiny"), undefined);
    }
  });

  test("truncated files cause an error", async () => {
    const write = async (folder: string): Promise<void> => {
      await writeTinyRecognizer(folder, "transducer");
      const path = join(folder, "decoder.onnx");
      await writeFile(path, (await readFile(path)).subarray(0, 60));
    };
    await using recognizer = await startTestEngine({ kind: "transducer" }, write);
    assert.equal(
      (await callFailure(recognizer, "transcription")).message,
      'The model "tiny" cannot be loaded: Load model from decoder.onnx failed:Protobuf parsing failed.',
    );
  });

  test("invalid tokens cause an error", async () => {
    const write = async (folder: string): Promise<void> => {
      await writeTinyVoice(folder);
      await writeFile(join(folder, "tokens.txt"), "many words in one line\n");
    };
    await using voice = await startTestEngine({ kind: "vits" }, write);
    // What is in the file is not quoted: it may be anything.
    assert.equal(
      (await callFailure(voice, "speech")).message,
      'The model "tiny" cannot be loaded: Error when reading tokens.',
    );
  });
});

/** Reads the metadata of ONNX files, valid and hostile. */
import assert from "node:assert/strict";
import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { onnxProblem, readOnnxMetadata } from "../../src/model-files/onnx-metadata.ts";
import { detectKind } from "../../src/model-files/detect-kind.ts";
import { encodeOnnx, floats, node } from "../sherpa-onnx/onnx-file.ts";
import { writeTinyRecognizer } from "../sherpa-onnx/tiny-recognizer.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

describe("the metadata of ONNX files", () => {
  let folder: string;
  let path: string;
  beforeTests(async (stack) => {
    folder = await mkdtemp(join(tmpdir(), "sounding-onnx-"));
    stack.defer(() => rm(folder, { recursive: true }));
    path = join(folder, "model.onnx");
  });

  const model = (metadata: Record<string, string>, size = 1): Uint8Array =>
    encodeOnnx({
      inputs: [["x", "float", ["N"]]],
      outputs: [["y", "float", ["N"]]],
      nodes: [node("Identity", ["x"], "y")],
      weights: {
        w: floats(
          [size],
          Array.from({ length: size }, (_, index) => index),
        ),
      },
      metadata,
    });

  test("is read as written, behind weights of any size", async () => {
    const text = fc.string({ unit: "grapheme", maxLength: 400 });
    const arbitrary = fc.tuple(fc.dictionary(text, text), fc.integer({ min: 1, max: 5_000 }));
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([metadata, size]) => {
        await writeFile(path, model(metadata, size));
        const expected = Object.entries(metadata).map(
          ([key, value]) => [key.toWellFormed(), value.toWellFormed()] as const,
        );
        assert.deepEqual(await readOnnxMetadata(path), new Map(expected));
      }),
      { numRuns: 50 },
    );
  });

  test("is empty for a truncated file, or for any other bytes", async () => {
    const whole = model({ key: "value" }, 1_000);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length - 40 }), async (length) => {
        await writeFile(path, whole);
        await truncate(path, length);
        assert.equal(await readOnnxMetadata(path), undefined);
      }),
      { numRuns: 30 },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await writeFile(path, bytes);
        assert.ok((await onnxProblem(path)) !== undefined || bytes.length > 4);
      }),
      { numRuns: propertyRuns(200) },
    );
  });

  test("identifies the kind of every recognizer", async () => {
    for (const kind of [
      "transducer",
      "nemo_transducer",
      "nemo_ctc",
      "zipformer_ctc",
      "sense_voice",
      "whisper",
      "moonshine",
      "streaming_transducer",
      "streaming_zipformer_ctc",
    ] as const) {
      const place = join(folder, kind);
      await writeTinyRecognizer(place, kind);
      assert.equal(await detectKind(place), kind);
    }
  });
});

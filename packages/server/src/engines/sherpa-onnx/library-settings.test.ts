import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SherpaOnnxKind } from "../../config/engines/sherpa-onnx.ts";
import { modelKinds } from "../../model-files/model-kinds.ts";
import { loadSettings } from "./library-settings.ts";

describe("the library's number of threads", () => {
  const threadsOf = (kind: SherpaOnnxKind, threads?: number): number[] => {
    const resolved = {
      parts: {},
      metadata: new Map(),
      createdUnixMs: 0,
      speakerModels: { segmentation: "segmentation.onnx", embedding: "embedding.onnx" },
    };
    const settings = loadSettings(
      { kind, folder: "model", files: {}, ...(threads === undefined ? {} : { threads }) },
      resolved,
    );
    const found: number[] = [];
    JSON.stringify(settings, (name, value: unknown) => {
      if (name === "numThreads") found.push(value as number);
      return value;
    });
    return found;
  };

  test("is one for every network of every kind of model, however many cores there are", () => {
    for (const kind of Object.keys(modelKinds) as SherpaOnnxKind[]) {
      const found = threadsOf(kind);
      assert.ok(found.length > 0 && found.every((threads) => threads === 1), `${kind}: ${found.join()}`);
    }
  });

  test("is what the setting says", () => {
    assert.deepEqual(new Set(threadsOf("whisper", 3)), new Set([3]));
  });
});

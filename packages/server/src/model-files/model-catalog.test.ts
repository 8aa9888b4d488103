import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { catalogModels, findCatalogModel, shortNameOf } from "./model-catalog.ts";
import { parseModelSource } from "./model-source.ts";

/** The identifiers of SPDX in the list; other licenses are a `LicenseRef-`. https://spdx.org/licenses/ */
const spdx = new Set(["Apache-2.0", "MIT", "CC-BY-4.0", "CC0-1.0"]);
const release =
  /^https:\/\/github\.com\/k2-fsa\/sherpa-onnx\/releases\/download\/(?:tts|asr)-models\/[\w.-]+\.tar\.bz2$/;

describe("the catalog of models", () => {
  const models = catalogModels();

  test("has each name, each source and each checksum once", () => {
    assert.ok(models.length >= 20);
    for (const member of ["name", "source", "sha256"] as const)
      assert.equal(new Set(models.map((model) => model[member])).size, models.length, member);
    const stored = models.map(({ source }) => parseModelSource(source).name);
    assert.equal(new Set(stored).size, models.length);
  });

  test("has sources that a pull accepts, of the kind that the capability needs", () => {
    for (const { name, capability, source } of models) {
      const { kind } = parseModelSource(source);
      assert.equal(kind, capability === "chat" ? "file" : "archive", name);
      if (capability === "chat") assert.match(source, /^[\w.-]+\/[\w.-]+-GGUF\/[\w.-]+\.gguf$/i);
      else assert.match(source, release);
    }
  });

  test("has licenses of SPDX or references, and sizes that fit the quantization", () => {
    for (const { name, license, size_bytes: size } of models) {
      assert.ok(spdx.has(license) || /^LicenseRef-[A-Za-z0-9.-]+$/.test(license), `${name}: ${license}`);
      assert.ok(size < 4e9, name);
    }
  });

  test("is in the order of capabilities and sizes, with models for each", () => {
    const order = ["chat", "speech", "transcription"];
    const ranks = models.map(({ capability }) => order.indexOf(capability));
    assert.deepEqual(
      ranks,
      ranks.toSorted((one, other) => one - other),
    );
    assert.equal(new Set(ranks).size, 3);
  });

  test("finds a model by its name, and a name by the file that the model is stored as", () => {
    const model = findCatalogModel("Qwen2.5-0.5B");
    assert.equal(model?.name, "qwen2.5-0.5b");
    assert.equal(shortNameOf("Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf"), "qwen2.5-0.5b");
    assert.equal(shortNameOf("sherpa-onnx-whisper-tiny"), "whisper-tiny");
    assert.equal(shortNameOf("else.gguf"), undefined);
  });
});

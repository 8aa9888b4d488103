/** Whisper in CTranslate2's format becomes a model of sherpa-onnx when it is pulled or added. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { AppError } from "../../src/errors.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../src/logger.ts";
import { addModel } from "../../src/model-files/add-model.ts";
import type { DownloadProgress } from "../../src/model-files/download.ts";
import { readOnnxMetadata } from "../../src/model-files/onnx-metadata.ts";
import { listStoredModels } from "../../src/model-files/stored-models.ts";
import { convert } from "../../src/model-files/whisper/child/convert.ts";
import { convertWhisper } from "../../src/model-files/whisper/convert-whisper.ts";
import { UnusableWeights } from "../../src/model-files/whisper/weights-file.ts";
import { sentence } from "../sherpa-onnx/spoken-tones.ts";
import { recordedAudio, segmentsOf, transcriptionCall } from "../sherpa-onnx/test-engine.ts";
import {
  tensorsOf,
  vocabularyOf,
  vocabularyOfBytes,
  weightsFile,
  writeCTranslate2Whisper,
  type WeightType,
} from "./ctranslate2-whisper.ts";

const signal = new AbortController().signal;
const converted = ["config.json", "decoder.int8.onnx", "encoder.int8.onnx", "tokens.txt"];

describe("Whisper for CTranslate2", () => {
  let place: string;
  let count = 0;
  const newFolder = (): string => join(place, String(++count), "tiny");
  beforeTests(async (stack) => {
    place = await mkdtemp(join(tmpdir(), "sounding-whisper-"));
    stack.defer(() => rm(place, { recursive: true, force: true }));
  });

  /** Converts in this process. */
  const convertHere = (folder: string): Promise<void> =>
    convert(
      {
        type: "convert",
        folder,
        vocabulary: "vocabulary.txt",
        encoder: "encoder.onnx",
        decoder: "decoder.onnx",
        tokens: "tokens.txt",
      },
      () => {},
    );

  test("is converted when it is added, and transcribes", async () => {
    const dataDirectory = join(place, "data");
    const phases: DownloadProgress[] = [];
    const source = await writeCTranslate2Whisper(newFolder());
    const onProgress = (_: string, progress: DownloadProgress): unknown => phases.push(progress);
    await addModel({ dataDirectory, path: source, signal, onProgress });
    const { models } = await listStoredModels(dataDirectory);
    assert.deepEqual(
      models.map(({ name, kind, problem }) => [name, kind, problem]),
      [["tiny", "whisper", undefined]],
    );
    const { doneBytes, totalBytes } = phases.findLast(({ phase }) => phase === "converting")!;
    assert.equal(doneBytes, totalBytes);
    const folder = join(dataDirectory, "models", "tiny");
    assert.deepEqual(
      (await readdir(folder)).filter((name) => !name.startsWith(".")),
      converted,
    );
    assert.deepEqual((await readdir(source)).sort(), ["config.json", "model.bin", "vocabulary.txt"]);
    const settings = { tiny: { kind: "whisper" as const, folder: "tiny", files: {} } };
    await using engine = await createSherpaOnnxEngine(
      "local",
      { type: "sherpa_onnx", models: settings },
      { logger: silentLogger, dataDirectory },
    ).then((made) => ({ made, [Symbol.asyncDispose]: () => made.close() }));
    const model = engine.made.transcription!("tiny")!;
    assert.equal(model.givesWords, true);
    const call = transcriptionCall(recordedAudio(sentence("▁one")), { words: true });
    // Its weights mean nothing: the library runs the networks, which is all that can be seen.
    segmentsOf(await Array.fromAsync(model.transcribe(call)));
  });

  test("becomes the same networks from every type of weights", async () => {
    const networks: Buffer[][] = [];
    for (const type of ["float16", "float32", "bfloat16", "int8"] satisfies WeightType[]) {
      const weights = weightsFile(tensorsOf(type));
      const folder = await writeCTranslate2Whisper(newFolder(), {
        weights,
        vocabulary: vocabularyOfBytes().join("\n"),
      });
      assert.equal(await convertWhisper(folder, { signal }), true);
      assert.deepEqual((await readdir(folder)).sort(), converted);
      networks.push(await Promise.all(converted.slice(1).map((name) => readFile(join(folder, name)))));
    }
    for (const each of networks) assert.deepEqual(each, networks[0]);
    const folder = join(place, String(count), "tiny");
    const metadata = (await readOnnxMetadata(join(folder, "encoder.int8.onnx")))!;
    const end = vocabularyOf().indexOf("<|endoftext|>");
    assert.deepEqual(
      ["n_mels", "n_text_ctx", "eot", "all_language_codes", "alignment_heads"].map((key) => metadata.get(key)),
      ["80", "32", String(end), "en,he,haw", "0:0,1:0,1:1"],
    );
    const tokens = (await readFile(join(folder, "tokens.txt"), "utf8")).trimEnd().split("\n");
    assert.equal(tokens.length, end);
    const bytes = tokens.map((line) => Buffer.from(line.split(" ")[0]!, "base64")[0]!);
    assert.deepEqual(
      bytes,
      Array.from({ length: 256 }, (_, byte) => byte),
    );
  });

  test("is left alone when it is another model, or has networks already", async () => {
    const translator = await writeCTranslate2Whisper(newFolder(), {
      weights: weightsFile(tensorsOf("float16"), "TransformerSpec"),
    });
    const other = await writeCTranslate2Whisper(newFolder());
    await writeFile(join(other, "model.onnx"), "");
    const broken = await writeCTranslate2Whisper(newFolder(), { weights: Buffer.from("no weights") });
    for (const folder of [translator, other, broken]) {
      assert.equal(await convertWhisper(folder, { signal }), false);
      assert.ok((await readdir(folder)).includes("model.bin"));
    }
  });

  test("that was copied into the models' directory is listed with the command that converts it there", async () => {
    const dataDirectory = join(place, "copied");
    const stored = () => listStoredModels(dataDirectory).then(({ models }) => models);
    for (const name of ["copied", "copied/by hand"]) {
      const folder = join(dataDirectory, "models", name);
      await writeCTranslate2Whisper(folder);
      // Left by a conversion that was killed.
      await writeFile(join(folder, ".sounding-new.encoder.int8.onnx"), "half");
      const { problem } = (await stored()).find((model) => model.name === `${name}/model.bin`)!;
      assert.match(problem!, /CTranslate2/);
      const path = JSON.parse(problem!.split("sounding models add ")[1]!) as string;
      assert.equal(path, folder);
    }
    const added = await addModel({ dataDirectory, path: join(dataDirectory, "models/copied/by hand"), signal });
    assert.deepEqual(added.folder?.name, "copied/by hand");
    await addModel({ dataDirectory, path: join(dataDirectory, "models/copied/model.bin"), signal });
    const [copied] = await stored();
    assert.deepEqual([copied!.name, copied!.kind, copied!.problem], ["copied", "whisper", undefined]);
    const again = addModel({ dataDirectory, path: join(dataDirectory, "models/copied"), signal });
    await assert.rejects(again, /is in the models' directory already/);
  });

  test("leaves the folder as it was when it is cancelled", async () => {
    const folder = await writeCTranslate2Whisper(newFolder());
    const before = (await readdir(folder)).sort();
    const stop = new AbortController();
    const running = convertWhisper(folder, { signal: stop.signal, onProgress: () => stop.abort(new Error("stopped")) });
    await assert.rejects(running, /stopped/);
    assert.deepEqual((await readdir(folder)).sort(), before);
  });

  test("is refused with the reason when it is not complete", async () => {
    const without = (name: string): Buffer => {
      const tensors = tensorsOf("float16");
      tensors.delete(name);
      return weightsFile(tensors);
    };
    const changed = (name: string, bytes: Buffer): Buffer => {
      const tensors = tensorsOf("float16");
      tensors.set(name, { ...tensors.get(name)!, bytes });
      return weightsFile(tensors);
    };
    const notNumbers = Buffer.alloc(32, 0xff);
    const vocabulary = vocabularyOf();
    const cases: readonly [Parameters<typeof writeCTranslate2Whisper>[1], RegExp][] = [
      [{ weights: without("decoder/layer_1/attention/linear_1/weight") }, /lacks the tensor/],
      [{ weights: without("encoder/layer_norm/gamma") }, /lacks the tensor/],
      [{ weights: weightsFile(tensorsOf("float16", 100)) }, /has the shape 100×16/],
      [{ weights: changed("decoder/layer_norm/beta", notNumbers) }, /no finite numbers/],
      [{ weights: changed("encoder/num_heads", Buffer.from([3, 0])) }, /3 heads do not divide/],
      [{ weights: changed("encoder/num_heads", Buffer.from([0, 0])) }, /0 heads/],
      [{ weights: weightsFile(tensorsOf("float16")).subarray(0, 20_000) }, /incomplete/],
      [{ vocabulary: vocabulary.slice(0, -20).join("\n") }, /lacks the token/],
      [{ vocabulary: vocabulary.with(3, "三").join("\n") }, /not written in bytes/],
      [{ config: '{"alignment_heads": [[2, 0]]}' }, /alignment_heads/],
      [{ config: "{" }, /not JSON/],
      [{ config: " ".repeat(9 * 2 ** 20) }, /more than/],
    ];
    for (const [changes, message] of cases) {
      const folder = await writeCTranslate2Whisper(newFolder(), changes);
      await assert.rejects(
        convertHere(folder),
        (error) => error instanceof UnusableWeights && message.test(error.message),
      );
    }
    const dataDirectory = join(place, "refused");
    const path = await writeCTranslate2Whisper(newFolder(), cases[0]![0]);
    await assert.rejects(
      addModel({ dataDirectory, path, signal }),
      (error) => error instanceof AppError && /cannot be converted: it lacks the tensor/.test(error.message),
    );
    assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
  });

  test("is converted or refused, whatever its bytes are", async () => {
    const whole = weightsFile(tensorsOf("float16"));
    const folder = newFolder();
    await mkdir(folder, { recursive: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) }), { maxLength: 4 }),
        fc.array(fc.record({ at: fc.nat(200), byte: fc.nat(255) }), { maxLength: 2 }),
        fc.option(fc.nat(whole.length)),
        async (anywhere, atStart, length) => {
          const weights = Buffer.from(whole.subarray(0, length ?? whole.length));
          for (const { at, byte } of [...anywhere, ...atStart]) if (at < weights.length) weights[at] = byte;
          await writeCTranslate2Whisper(folder, { weights });
          await convertHere(folder).catch((error: unknown) => {
            if (!(error instanceof UnusableWeights)) throw error;
          });
          for (const name of ["encoder.onnx", "decoder.onnx", "tokens.txt"])
            await rm(join(folder, name), { force: true });
          assert.deepEqual((await readdir(folder)).sort(), ["config.json", "model.bin", "vocabulary.txt"]);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });
});

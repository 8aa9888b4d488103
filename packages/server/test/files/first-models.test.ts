/** The recognizer and the voice that a start adds to a models' directory which has none. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";
import { addFirstModel, type FirstCapability, type FirstModelResult } from "../../src/model-files/first-models.ts";
import { planModels } from "../../src/model-files/plan-models.ts";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { listStoredModels } from "../../src/model-files/stored-models.ts";
import { writePublishedPiper } from "../sherpa-onnx/tiny-neural-voices.ts";
import { writeCTranslate2Whisper } from "./ctranslate2-whisper.ts";
import { startFolderServer, type FolderServer } from "./folder-server.ts";

const whisper = "Systran/faster-whisper-tiny.en";
const joe = "rhasspy/piper-voices/en/en_US/joe/medium";

describe("a start adds", () => {
  let place: string;
  let hub: FolderServer;
  let dataDirectory: string;
  let logged: { fields: object; message: string }[];
  let started: string[];
  beforeTests(async (stack) => {
    place = await mkdtemp(join(tmpdir(), "sounding-first-"));
    stack.defer(() => rm(place, { recursive: true, force: true }));
    const source = await writeCTranslate2Whisper(join(place, "source"));
    await writePublishedPiper(source, "en_US-joe-medium");
    const names = await readdir(source);
    const content = new Map<string, Buffer>();
    for (const name of names) content.set(name, await readFile(join(source, name)));
    const inRepository = ["config.json", "model.bin", "vocabulary.txt"];
    const voice = names.filter((name) => !inRepository.includes(name));
    hub = stack.use(
      await startFolderServer(
        Object.fromEntries([
          ...inRepository.map((name) => [`/${whisper}/resolve/main/${name}`, content.get(name)!]),
          ...voice.map((name) => [
            `/rhasspy/piper-voices/resolve/main/en/en_US/joe/medium/${name}`,
            content.get(name)!,
          ]),
        ]),
        [inRepository.map((path) => ({ type: "file", path, size: content.get(path)!.length }))],
      ),
    );
  });
  beforeEachTest(async () => {
    dataDirectory = await mkdtemp(join(place, "data-"));
    logged = [];
    started = [];
  });

  const add = (
    capability: FirstCapability,
    { hubEndpoint = hub.url, signal = new AbortController().signal } = {},
  ): Promise<FirstModelResult> => {
    const info = (fields: object, message: string): unknown => logged.push({ fields, message });
    return addFirstModel(capability, {
      dataDirectory,
      hubEndpoint,
      hubToken: undefined,
      proxies: { http: undefined, https: undefined, except: undefined },
      // No registry answers there.
      environment: { PATH: process.env["PATH"] ?? "", HOME: place, PIP_CONFIG_FILE: "/dev/null", ...noRegistry },
      logger: { info, warn: info, error: info, debug: info },
      signal,
      retryPauseMs: 1,
      onStart: (model) => started.push(model),
    });
  };

  const servedIds = async (): Promise<(string | undefined)[]> => {
    const { models: stored } = await listStoredModels(dataDirectory);
    const plan = planModels({ dataDirectory, stored, engines: {}, own: {}, disabled: undefined });
    return plan.map(({ id }) => id);
  };

  test("a recognizer and a voice from the hub, once, under their short names", async () => {
    assert.equal(await add("transcription"), "added");
    assert.equal(await add("speech"), "added");
    assert.deepEqual(started, ["whisper-tiny.en", "piper-joe"]);
    assert.deepEqual((await servedIds()).toSorted(byName), ["piper-joe", "whisper-tiny.en"]);
    const phases = new Set(logged.map(({ fields }) => (fields as { phase?: string }).phase));
    assert.ok(phases.has("downloading") && phases.has("converting"), [...phases].join());
    assert.equal(await add("transcription"), "there");
    await removeModel(dataDirectory, whisper);
    await removeModel(dataDirectory, `${joe}/en_US-joe-medium.onnx`);
    assert.equal(await add("transcription"), "there");
    assert.equal(await add("speech"), "there");
    assert.deepEqual(await servedIds(), []);
  });

  test("nothing where there is a model with the capability", async () => {
    await writePublishedPiper(join(dataDirectory, "models"), "de_DE-own-low");
    assert.equal(await add("speech"), "there");
    assert.deepEqual(started, []);
    assert.equal(await add("transcription"), "added");
  });

  test("nothing where no source answers, says why, and tries again at the next start", async () => {
    assert.equal(await add("transcription", { hubEndpoint: "http://127.0.0.1:9" }), "failed");
    const { reason } = logged.at(-1)!.fields as { reason: string };
    assert.match(reason, /^None of the sources of whisper-tiny\.en can be used\. .*127\.0\.0\.1.*pip/);
    assert.deepEqual(await servedIds(), []);
    assert.equal(await add("transcription"), "added");
  });

  test("nothing when the server is stopped meanwhile", async () => {
    const stop = new AbortController();
    await mkdir(join(dataDirectory, "models"), { recursive: true });
    stop.abort(new Error("stopped"));
    assert.equal(await add("speech", { signal: stop.signal }), "failed");
    assert.deepEqual(await servedIds(), []);
    assert.equal(
      logged.some(({ message }) => message.includes("could not")),
      false,
    );
  });
});

const byName = (one: string | undefined, other: string | undefined): number =>
  (one ?? "").localeCompare(other ?? "", "en");
const noRegistry = { PIP_INDEX_URL: "http://127.0.0.1:9/simple/", PIP_RETRIES: "0" };

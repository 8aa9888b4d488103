/** Piper voices as they are published, `NAME.onnx` with `NAME.onnx.json`, are served wherever they are put. */
import assert from "node:assert/strict";
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";
import { startServer, type RunningServer } from "../../../../test/support/running-server.ts";
import { findEspeakData } from "../../src/model-files/espeak-data.ts";
import { encodeMetadata, readOnnxMetadata } from "../../src/model-files/onnx-metadata.ts";
import { prepareStoredModels } from "../../src/model-files/prepare-stored-models.ts";
import { pullModel } from "../../src/model-files/pull-model.ts";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { listStoredModels, type StoredModel } from "../../src/model-files/stored-models.ts";
import { piperDescription, publishedPiperNetwork, writePublishedPiper } from "../sherpa-onnx/tiny-neural-voices.ts";

interface Listed {
  readonly id: string;
  readonly engine: string;
  readonly state: string;
  readonly state_reason: string | null;
}

async function listed(server: RunningServer): Promise<readonly Listed[]> {
  const { data } = (await (await server.call("/v1/models")).json()) as { data: Listed[] };
  return data.filter(({ engine }) => engine === "sherpa-onnx");
}

/** Lists until it is so; the test runner's limit ends a wait for something that never happens. */
async function until(server: RunningServer, ...ids: string[]): Promise<void> {
  for (;;) {
    const there = (await listed(server)).map(({ id }) => id);
    if (ids.every((id) => there.includes(id)) && there.length === ids.length) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Names and languages. */
async function voicesOf(server: RunningServer, model: string): Promise<readonly string[][]> {
  const response = await server.call(`/v1/audio/voices?model=${model}`);
  const { data } = (await response.json()) as { data: { name: string; languages: string[] }[] };
  return data.map(({ name, languages }) => [name, ...languages]);
}

/** The seconds that the voice speaks. */
async function seconds(server: RunningServer, model: string, voice: string): Promise<number> {
  const response = await server.call("/v1/audio/speech", {
    model,
    voice,
    input: "Hello there, my dear friends.",
    response_format: "wav",
  });
  assert.equal(response.status, 200, await response.clone().text());
  return ((await response.arrayBuffer()).byteLength - 44) / 2 / 22_050;
}

describe("a server serves a Piper voice", () => {
  let server: RunningServer;
  let models: string;
  beforeTests(async (stack) => {
    server = stack.use(await startServer());
    models = join(server.dataDirectory, "models");
  });
  beforeEachTest((stack) => {
    stack.defer(async () => {
      for (const name of await readdir(models)) await rm(join(models, name), { recursive: true });
      await until(server);
    });
  });

  test("in the models' directory itself, in a folder of its own, and next to others", async () => {
    await writePublishedPiper(models, "en_US-flat-low");
    await writePublishedPiper(join(models, "rhasspy/piper-voices/en/en_US/amy/medium"), "en_US-amy-medium");
    await writePublishedPiper(join(models, "voices"), "de_DE-one-low", { espeak: { voice: "de" } });
    await writePublishedPiper(join(models, "voices"), "fr_FR-two-low", { espeak: { voice: "fr" } });
    const ids = ["en_US-flat-low", "en_US-amy-medium", "de_DE-one-low", "fr_FR-two-low"];
    await until(server, ...ids);
    for (const id of ids) assert.ok((await seconds(server, id, id)) > 0.5, id);
    assert.deepEqual(await voicesOf(server, "de_DE-one-low"), [["de_DE-one-low", "de"]]);
  });

  test("with several speakers, by their names", async () => {
    await writePublishedPiper(models, "en_GB-many-low", {
      num_speakers: 2,
      speaker_id_map: { "p 2": 1, anna: 0 },
      espeak: { voice: "en-gb-x-rp" },
    });
    await until(server, "en_GB-many-low");
    assert.deepEqual(await voicesOf(server, "en_GB-many-low"), [
      ["anna", "en-GB-x-rp"],
      ["p 2", "en-GB-x-rp"],
    ]);
    assert.ok((await seconds(server, "en_GB-many-low", "p 2")) > 0.5);
  });

  test("once both of its files are there, and whole", async () => {
    const network = publishedPiperNetwork();
    const path = join(models, "late.onnx");
    await writeFile(path, network.subarray(0, network.length / 2));
    await writeFile(`${path}.json`, JSON.stringify(piperDescription));
    await writePublishedPiper(models, "first");
    await until(server, "first");
    await appendFile(path, network.subarray(network.length / 2));
    await until(server, "first", "late");
    assert.ok((await seconds(server, "late", "late")) > 0.5);
  });
});

async function inDataDirectory(run: (dataDirectory: string) => Promise<void>): Promise<void> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-piper-"));
  try {
    await mkdir(join(dataDirectory, "models"));
    await run(dataDirectory);
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function prepared(dataDirectory: string): Promise<readonly StoredModel[]> {
  return prepareStoredModels(dataDirectory, (await listStoredModels(dataDirectory)).models);
}

describe("preparing a Piper voice", () => {
  test("keeps what was published, and is done once", () =>
    inDataDirectory(async (dataDirectory) => {
      const models = join(dataDirectory, "models");
      await writePublishedPiper(models, "tiny");
      await prepared(dataDirectory);
      const path = join(models, "tiny.onnx");
      const bytes = await readFile(path);
      const published = publishedPiperNetwork();
      assert.deepEqual(bytes.subarray(0, published.length), Buffer.from(published));
      const metadata = await readOnnxMetadata(path);
      assert.equal(metadata?.get("voice"), "en-us");
      assert.equal(metadata?.get("sample_rate"), "22050");
      const tokens = await readFile(join(models, "tiny-tokens.txt"), "utf8");
      assert.ok(tokens.startsWith("_ 0\n^ 1\n$ 2\n  3\na 4\n"), tokens);
      await prepared(dataDirectory);
      assert.deepEqual(await readFile(path), bytes);
      assert.deepEqual((await readdir(models)).sort(), ["tiny-tokens.txt", "tiny.onnx", "tiny.onnx.json"]);

      // Another description is another voice.
      await writePublishedPiper(models, "tiny", { espeak: { voice: "nl" } });
      const [model] = await prepared(dataDirectory);
      assert.equal(model?.problem, undefined);
      assert.equal((await readOnnxMetadata(path))?.get("voice"), "nl");
    }));

  for (const [what, description, problem] of [
    ["no JSON", "{", "it is not JSON"],
    ["another JSON", "[1]", "it must be object"],
    ["a wrong sample rate", { audio: { sample_rate: 1e9 } }, "audio.sample_rate must be <= 192000"],
    ["a voice that is no name", { espeak: { voice: "../../etc" } }, "espeak.voice must match pattern"],
    ["too many speakers", { num_speakers: 1e6 }, "num_speakers must be <= 10000"],
    ["phonemes of another kind", { phoneme_type: "text" }, 'phoneme_type is "text"; only "espeak" is supported'],
    ["phonemes without a beginning", { phoneme_id_map: { _: [0], $: [1] } }, "phoneme_id_map lacks ^"],
    ["phonemes without numbers", { phoneme_id_map: { _: [], "^": ["1"] } }, "phoneme_id_map._ must not have fewer"],
    ["a megabyte and more", `"${"x".repeat(2 ** 20)}"`, "it has more than 1048576 bytes"],
  ] as const) {
    test(`refuses a description with ${what}, and says so`, () =>
      inDataDirectory(async (dataDirectory) => {
        const models = join(dataDirectory, "models");
        await writePublishedPiper(models, "tiny", typeof description === "string" ? {} : description);
        if (typeof description === "string") await writeFile(join(models, "tiny.onnx.json"), description);
        await writePublishedPiper(models, "other");
        const stored = await prepared(dataDirectory);
        assert.deepEqual(
          stored.map(({ name }) => name),
          ["other.onnx", "tiny.onnx"],
        );
        assert.equal(stored[0]!.problem, undefined);
        assert.ok(
          stored[1]!.problem?.startsWith(`its description tiny.onnx.json is invalid: ${problem}`),
          stored[1]!.problem,
        );
        assert.deepEqual(Buffer.from(publishedPiperNetwork()), await readFile(join(models, "tiny.onnx")));
      }));
  }

  test("leaves a file that is no network alone", () =>
    inDataDirectory(async (dataDirectory) => {
      const models = join(dataDirectory, "models");
      await writePublishedPiper(models, "tiny");
      await truncate(join(models, "tiny.onnx"), 100);
      const [model] = await prepared(dataDirectory);
      assert.equal(model?.problem, "it is not an ONNX file, or incomplete");
      await writePublishedPiper(models, "lonely");
      await rm(join(models, "lonely.onnx.json"));
      const [lonely] = await prepared(dataDirectory);
      assert.match(lonely?.problem ?? "", /a Piper voice also needs lonely\.onnx\.json/);
    }));

  const isRoot = process.getuid?.() === 0;
  test(
    "says what to do where the folder is not writable",
    { skip: isRoot ? "runs only as an ordinary user: root may write everywhere" : false },
    () =>
      inDataDirectory(async (dataDirectory) => {
        const models = join(dataDirectory, "models");
        await writePublishedPiper(models, "tiny");
        await chmod(models, 0o555);
        const [model] = await prepared(dataDirectory);
        await chmod(models, 0o755);
        assert.match(model?.problem ?? "", /its folder is not writable; `sounding models add` makes a copy that is/);
      }),
  );

  test("leaves a folder of sherpa-onnx's own alone, which has its tokens", () =>
    inDataDirectory(async (dataDirectory) => {
      const folder = join(dataDirectory, "models/vits-piper-en_US-tiny");
      await writePublishedPiper(folder, "en_US-tiny");
      await writeFile(join(folder, "tokens.txt"), "_ 0\n");
      const [model] = await prepared(dataDirectory);
      assert.deepEqual([model?.name, model?.format], ["vits-piper-en_US-tiny", "onnx"]);
      assert.deepEqual(await readFile(join(folder, "en_US-tiny.onnx")), Buffer.from(publishedPiperNetwork()));
    }));
});

/** A hub with these files in one repository. */
async function startHub(files: Readonly<Record<string, Uint8Array | string>>): Promise<Server> {
  const hub = createServer(({ url, method }, response) => {
    const content = files[/\/resolve\/main\/(.+)$/.exec(url ?? "")?.[1] ?? ""];
    response.writeHead(content === undefined ? 404 : 200, { "content-length": Buffer.from(content ?? "").length });
    response.end(method === "HEAD" ? undefined : content);
  });
  await once(hub.listen(0, "127.0.0.1"), "listening");
  return hub;
}

test("pulling the network of a Piper voice brings its description, and removing it takes everything away", () =>
  inDataDirectory(async (dataDirectory) => {
    const hub = await startHub({
      "en/en_US-tiny-low.onnx": publishedPiperNetwork(),
      "en/en_US-tiny-low.onnx.json": JSON.stringify(piperDescription),
      "vad/vad.onnx": publishedPiperNetwork(),
      "web/page.onnx": publishedPiperNetwork(),
      "web/page.onnx.json": "<!doctype html>",
    });
    const { port } = hub.address() as AddressInfo;
    const pull = (file: string) =>
      pullModel({
        dataDirectory,
        source: `owner/voices/${file}`,
        hubEndpoint: `http://127.0.0.1:${port}`,
        signal: new AbortController().signal,
      });
    try {
      const voice = "owner/voices/en/en_US-tiny-low.onnx";
      for (const alreadyThere of [false, true]) {
        const { files } = await pull("en/en_US-tiny-low.onnx");
        assert.deepEqual(
          files.map((file) => [file.name, file.alreadyThere]),
          [
            [voice, alreadyThere],
            [`${voice}.json`, alreadyThere],
          ],
        );
        assert.equal(files[0]!.sizeBytes, publishedPiperNetwork().length);
      }
      const { models } = await listStoredModels(dataDirectory);
      assert.deepEqual(
        models.map(({ name, problem }) => [name, problem]),
        [[voice, undefined]],
      );
      for (const other of ["vad/vad.onnx", "web/page.onnx"])
        assert.deepEqual(
          (await pull(other)).files.map(({ name }) => name),
          [`owner/voices/${other}`],
        );
      await removeModel(dataDirectory, "owner/voices/vad/vad.onnx");
      await removeModel(dataDirectory, "owner/voices/web/page.onnx");
      assert.deepEqual(await removeModel(dataDirectory, voice), [
        voice,
        `${voice}.json`,
        "owner/voices/en/en_US-tiny-low-tokens.txt",
      ]);
      assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
    } finally {
      hub.close();
    }
  }));

test("metadata that is appended to a network is read back", async () => {
  await inDataDirectory(async (dataDirectory) => {
    const path = join(dataDirectory, "any.onnx");
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })),
        async (entries) => {
          const metadata = new Map(Object.entries(entries));
          await writeFile(path, Buffer.concat([publishedPiperNetwork(), encodeMetadata(metadata)]));
          assert.deepEqual(await readOnnxMetadata(path), metadata);
        },
      ),
      { numRuns: 30 },
    );
  });
});

test("the data of espeak-ng is unpacked from the npm package where the system has none", () =>
  inDataDirectory(async (dataDirectory) => {
    const own = join(dataDirectory, "espeak-ng-data");
    assert.deepEqual(await Promise.all([1, 2].map(() => findEspeakData(dataDirectory, []))), [own, own]);
    assert.ok((await readFile(join(own, "lang/gmw/en-US"), "utf8")).includes("language en-us"));
    assert.deepEqual((await readdir(dataDirectory)).sort(), ["espeak-ng-data", "models"]);
  }));

test("the data of espeak-ng is that of the data directory, where there is one", () =>
  inDataDirectory(async (dataDirectory) => {
    const found = await findEspeakData(dataDirectory);
    assert.equal(basename(found), "espeak-ng-data");
    if (dirname(found) !== dataDirectory) await symlink(found, join(dataDirectory, "espeak-ng-data"));
    assert.equal(await findEspeakData(dataDirectory), join(dataDirectory, "espeak-ng-data"));
  }));

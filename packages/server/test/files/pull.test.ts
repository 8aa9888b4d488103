/** Pulls model files from correct and from misbehaving servers. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { removeModel } from "../../src/model-files/remove-model.ts";
import { listStoredModels } from "../../src/model-files/stored-models.ts";
import { pullModel } from "../../src/model-files/pull-model.ts";
import type { PullOptions } from "../../src/model-files/pull-options.ts";
import { trialModelBytes } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import { sha256, startModelServer, type ModelServer } from "./model-server.ts";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";

const model = trialModelBytes();
const source = "someone/small/q4/model.gguf";

describe("pulling a model", () => {
  let server: ModelServer;
  let dataDirectory: string;
  beforeTests(async (stack) => {
    server = await startModelServer(model);
    stack.defer(() => server.close());
  });
  beforeEachTest(async (stack) => {
    dataDirectory = await mkdtemp(join(tmpdir(), "sounding-pull-"));
    stack.defer(() => rm(dataDirectory, { recursive: true }));
    server.behavior = {};
    server.content = model;
    server.requests.length = 0;
  });

  const pull = async (options: Partial<PullOptions> = {}) => {
    const { files } = await pullModel({
      dataDirectory,
      source,
      hubEndpoint: server.hub,
      signal: new AbortController().signal,
      retryPauseMs: 1,
      ...options,
    });
    return files;
  };
  const leftovers = async (): Promise<string[]> =>
    (await readdir(join(dataDirectory, "models"), { recursive: true })).filter((name) => /part|lock/.test(name));

  test("fetches a file from the hub, checked against the hub's checksum", async () => {
    const phases = new Set<string>();
    const [pulled] = await pull({ onProgress: (_name, { phase, totalBytes }) => phases.add(`${phase} ${totalBytes}`) });
    assert.equal(pulled?.name, source);
    assert.equal(pulled.sha256, sha256(model));
    assert.equal(pulled.alreadyThere, false);
    assert.deepEqual(await readFile(join(dataDirectory, "models", source)), model);
    assert.deepEqual([...phases], [`downloading ${model.length}`, `verifying ${model.length}`]);
    assert.deepEqual(await leftovers(), []);
  });

  test("does not fetch what is already present", async () => {
    await pull();
    server.requests.length = 0;
    const [again] = await pull();
    assert.equal(again?.alreadyThere, true);
    assert.ok(server.requests.every(({ method }) => method === "HEAD"));
    server.content = Buffer.concat([model, Buffer.alloc(32)]);
    assert.equal((await pull())[0]?.alreadyThere, false);
  });

  test("resumes when the connection breaks", async () => {
    server.behavior = { cutAfterBytes: 1_000_000 };
    const [pulled] = await pull();
    assert.equal(pulled?.sha256, sha256(model));
    const ranges = server.requests.filter(({ range }) => range !== undefined);
    assert.ok(ranges.length >= 2);
  });

  test("resumes in a later pull where the earlier one was stopped", async () => {
    const abort = new AbortController();
    await assert.rejects(
      pull({ signal: abort.signal, onProgress: (_name, { doneBytes }) => doneBytes > 500_000 && abort.abort() }),
      {
        name: "AbortError",
      },
    );
    assert.equal((await leftovers()).length, 1);
    server.requests.length = 0;
    await pull();
    const first = server.requests.find(({ method }) => method === "GET");
    assert.match(first?.range ?? "", /^bytes=[1-9]\d+-$/);
    assert.deepEqual(await leftovers(), []);
  });

  test("restarts if the file has changed in the meantime", async () => {
    const abort = new AbortController();
    await assert.rejects(
      pull({ signal: abort.signal, onProgress: (_name, { doneBytes }) => doneBytes > 500_000 && abort.abort() }),
    );
    server.content = trialModelBytes("endless");
    const [pulled] = await pull();
    assert.equal(pulled?.sha256, sha256(server.content));
    assert.deepEqual(await leftovers(), []);
  });

  test("restarts if the server cannot resume", async () => {
    server.behavior = { cutAfterBytes: 1_000_000, ignoreRange: true };
    const gets = (): number => server.requests.filter(({ method }) => method === "GET").length;
    const waitForTwo = setInterval(() => {
      if (gets() >= 2) server.behavior = { ignoreRange: true };
    }, 1);
    const [pulled] = await pull().finally(() => clearInterval(waitForTwo));
    assert.equal(pulled?.sha256, sha256(model));
  });

  test("gives up when retries make no progress, and reports how far it came", async () => {
    server.behavior = { cutAfterBytes: 0 };
    await assert.rejects(pull(), {
      code: "upstream_failed",
      message: new RegExp(`stopped after 0 of ${model.length} bytes`),
    });
  });

  test("detects a false length", async () => {
    server.behavior = { lengthLie: 1000, anonymous: true };
    await assert.rejects(pull(), { code: "upstream_failed", message: /stopped after/ });
  });

  test("disconnects from a silent server, and retries", async () => {
    server.behavior = { stallAfterBytes: 1_500_000 };
    assert.equal((await pull({ idleTimeoutMs: 100 }))[0]?.sha256, sha256(model));
  });

  test("removes a file with a wrong checksum", async () => {
    server.behavior = { wrongChecksum: true };
    await assert.rejects(pull(), { code: "upstream_failed", message: /SHA-256 is [0-9a-f]{64} instead of/ });
    server.behavior = {};
    await assert.rejects(pull({ sha256: "0".repeat(64) }), { code: "upstream_failed", message: /SHA-256/ });
    assert.deepEqual(await leftovers(), []);
    await assert.rejects(pull({ sha256: "abc" }), { code: "invalid_request" });
    assert.equal((await pull({ sha256: sha256(model).toUpperCase() }))[0]?.sha256, sha256(model));
  });

  test("removes what is not a model", async () => {
    server.content = Buffer.from("<html>Please log in</html>".repeat(10));
    await assert.rejects(pull(), { message: /it is not a GGUF file/ });
    assert.deepEqual(await leftovers(), []);
  });

  test("retries after 429 and 503", async () => {
    for (const status of [429, 503]) {
      server.behavior = { refuse: { status, times: 2 } };
      assert.equal((await pull({ source: `someone/small/${status}.gguf` }))[0]?.sha256, sha256(model));
    }
  });

  test("explains 404 and 403", async () => {
    server.behavior = { refuse: { status: 404, times: 9 } };
    await assert.rejects(pull(), { code: "not_found", message: /does not have this file/ });
    server.behavior = { refuse: { status: 403, times: 9 } };
    await assert.rejects(pull(), { code: "permission_denied", message: /HF_TOKEN/ });
  });

  test("sends the hub's token only to the hub", async () => {
    await pull({ hubToken: "hf_secret" });
    const [hub, files] = [server.hub, server.url].map((origin) =>
      server.requests.filter(({ host }) => origin.endsWith(host)),
    );
    assert.ok(hub!.length > 0 && hub!.every(({ authorization }) => authorization === "Bearer hf_secret"));
    assert.ok(files!.length > 0 && files!.every(({ authorization }) => authorization === undefined));
  });

  test("fetches a URL, even from a server that reports no length or checksum", async () => {
    server.behavior = { noHead: true, anonymous: true, cutAfterBytes: 1_200_000 };
    const [pulled] = await pull({ source: `${server.url}/files/tiny.gguf?download=1` });
    assert.equal(pulled?.name, "tiny.gguf");
    assert.equal(pulled.sha256, sha256(model));
  });

  test("fetches all parts of a split model", async () => {
    const pulled = await pull({ source: "someone/large/large-00002-of-00003.gguf" });
    assert.deepEqual(
      pulled.map(({ name }) => name),
      ["1", "2", "3"].map((part) => `someone/large/large-0000${part}-of-00003.gguf`),
    );
    assert.equal((await removeModel(dataDirectory, "someone/large/large-00001-of-00003.gguf")).length, 3);
    assert.deepEqual(await readdir(join(dataDirectory, "models")), []);
  });

  test("lets only one process pull a file at a time", async () => {
    await mkdir(join(dataDirectory, "models/someone/small/q4"), { recursive: true });
    const lock = join(dataDirectory, "models/someone/small/q4/.model.gguf.lock");
    await writeFile(lock, String(process.ppid));
    await assert.rejects(pull(), { code: "conflict" });
    await writeFile(lock, "999999999");
    await pull();
  });

  for (const [wrong, code] of [
    ["model.gguf", "not_found"],
    ["someone", "not_found"],
    ["someone/small/model.bin", "invalid_request"],
    ["a/../b/model.gguf", "invalid_request"],
    ["https://example.org/", "invalid_request"],
    ["a/b/..", "invalid_request"],
    ["a/b/c\\d.gguf", "invalid_request"],
  ] as const) {
    test(`refuses the source ${JSON.stringify(wrong)}`, async () => {
      await assert.rejects(pull({ source: wrong }), { code });
      assert.equal(server.requests.length, 0);
    });
  }

  test("lists the installed models, with their problems", async () => {
    assert.deepEqual((await listStoredModels(dataDirectory)).models, []);
    await pull();
    await writeFile(join(dataDirectory, "models/broken.gguf"), "GGUF, but not really a model");
    const { models: files } = await listStoredModels(dataDirectory);
    assert.deepEqual(
      files.map(({ name, problem }) => [name, problem?.slice(0, 20)]),
      [
        ["broken.gguf", "its GGUF version is "],
        [source, undefined],
      ],
    );
    assert.deepEqual([files[1]?.architecture, files[1]?.contextLength], ["llama", 32_768]);
  });

  test("removes only files of the models' directory", async () => {
    await pull();
    await writeFile(join(dataDirectory, "keep.gguf"), "x");
    for (const name of ["../keep.gguf", "/etc/hostname", "someone", "none.gguf"]) {
      await assert.rejects(removeModel(dataDirectory, name), { code: "not_found" });
    }
    assert.deepEqual(await removeModel(dataDirectory, source), [source]);
    assert.deepEqual(await readdir(dataDirectory), ["keep.gguf", "models"]);
  });
});

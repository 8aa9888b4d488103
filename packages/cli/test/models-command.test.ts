import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { trialModelBytes } from "../../server/src/engines/llama-cpp/trial/trial-model.ts";
import { wheelOf } from "../../server/test/files/package-registry.ts";
import { startServer } from "../../../test/support/running-server.ts";
import { runSounding } from "./run-sounding.ts";
import { beforeTests } from "../../../test/support/hooks.ts";

/** The beginning of a GGUF file of version 3 without metadata and tensors. */
const emptyModel = Buffer.concat([Buffer.from("GGUF"), Buffer.from([3, 0, 0, 0]), Buffer.alloc(16)]);

interface Listed {
  readonly served: readonly { readonly id: string; readonly state: string }[] | null;
  readonly on_disk: readonly {
    readonly name: string;
    readonly size_bytes: number;
    readonly served_as: string | null;
    readonly problem: string | null;
  }[];
}

describe("sounding models", () => {
  const hub = createServer((request, response) => {
    if (request.url?.startsWith("/api/models/owner/voice/") === true) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify([{ type: "file", path: "model.gguf", size: emptyModel.length }]));
      return;
    }
    const found = /^\/(?:owner|Qwen)\/[\w.-]+\/resolve\/main\/(?:model|qwen[\w.-]+)\.gguf$/.test(request.url ?? "");
    response.writeHead(found ? 200 : 404, found ? { "content-length": emptyModel.length } : {});
    response.end(request.method === "GET" && found ? emptyModel : undefined);
  });
  let folder = "";
  let env: Record<string, string> = {};
  beforeTests(async (stack) => {
    folder = await mkdtemp(join(tmpdir(), "sounding-models-"));
    stack.defer(() => rm(folder, { recursive: true }));
    hub.listen(0, "127.0.0.1");
    stack.defer(() => void hub.close());
    await once(hub, "listening");
    env = {
      HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
      SOUNDING_DATA_DIR: join(folder, "data"),
    };
  });

  test("pulls, lists and removes a file", async () => {
    const name = "owner/repository/model.gguf";
    const pulled = await runSounding(["models", "pull", name], { env });
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stdout, /^owner\/repository\/model\.gguf has been downloaded: 24 B, SHA-256 [0-9a-f]{64}\n$/);
    assert.match(pulled.stderr, /100 %/);
    const listed = await runSounding(["models", "list", "--json"], { env });
    const { served, on_disk: files } = JSON.parse(listed.stdout) as Listed;
    assert.equal(served, null);
    assert.deepEqual(
      files.map((file) => [file.name, file.size_bytes, file.served_as]),
      [[name, emptyModel.length, null]],
    );
    assert.match(files[0]?.problem ?? "", /no chat template/);
    const removed = await runSounding(["models", "remove", name, "--data-dir", join(folder, "data")], {});
    assert.equal(removed.stdout, `Removed ${name}.\n`);
    const none = await runSounding(["models", "list"], { env });
    assert.match(none.stdout, /^On disk: no models in .*\n$/);
  });

  test("pulls a whole repository and explains how to use it", async () => {
    const pulled = await runSounding(["models", "pull", "owner/voice"], { env });
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stdout, /^owner\/voice has been downloaded: 24 B\n$/);
    assert.match(pulled.stderr, /no chat template/);
    const again = await runSounding(["models", "pull", "owner/voice", "--json"], { env });
    const [file] = JSON.parse(again.stdout) as { name: string; already_there: boolean }[];
    assert.deepEqual([file?.name, file?.already_there], ["owner/voice/model.gguf", true]);
    assert.equal((await runSounding(["models", "remove", "owner/voice/model.gguf"], { env })).code, 0);
  });

  test("lists what the server offers, and what is on its disk", async () => {
    await using server = await startServer();
    const models = join(server.dataDirectory, "models");
    await mkdir(models, { recursive: true });
    await writeFile(join(models, "pulled.gguf"), trialModelBytes());
    await writeFile(join(models, "broken.gguf"), "not a model");
    const connected = {
      SOUNDING_BASE_URL: server.url,
      SOUNDING_API_KEY: server.key,
      SOUNDING_DATA_DIR: server.dataDirectory,
    };
    while (!(await (await server.call("/v1/models")).text()).includes("pulled"));
    const { stdout, code } = await runSounding(["models"], { env: connected });
    assert.equal(code, 0);
    assert.match(stdout, /^Served by http:.*:\nMODEL +CAPABILITY +ENGINE +STATE\n/);
    assert.match(stdout, /^pulled +chat +llama-cpp +not loaded$/m);
    assert.match(stdout, /^flite +speech +flite +ready$/m);
    assert.match(stdout, /^On disk, in .*models:\nNAME +SIZE +KIND +SERVED AS\n/m);
    assert.match(stdout, /^pulled\.gguf +2\.\d MiB +llama +pulled$/m);
    assert.match(stdout, /^broken\.gguf +11 B +- +not served: it is not a GGUF file$/m);
    const removed = await runSounding(["models", "remove", "pulled"], { env: connected });
    assert.equal(removed.stdout, "Removed pulled.gguf.\n");
    while ((await (await server.call("/v1/models")).text()).includes("pulled"));
  });

  test("lists models with a short name, pulls one, checked against the catalog, and serves it by that name", async () => {
    const data = join(folder, "short");
    const stored = join(data, "models/Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf");
    const short = { ...env, SOUNDING_DATA_DIR: data };
    // The hub of this test has another file under every name.
    const forged = await runSounding(["models", "pull", "qwen2.5-0.5b"], { env: short });
    assert.equal(forged.code, 1);
    assert.match(forged.stderr, /its SHA-256 is [0-9a-f]{64} instead of 74a4da8c9fdbcd15/);
    await mkdir(dirname(stored), { recursive: true });
    await writeFile(stored, trialModelBytes());
    const { stdout } = await runSounding(["models", "available", "--json"], { env: short });
    const models = JSON.parse(stdout) as { name: string; pulled: boolean; license: string; size_bytes: number }[];
    assert.deepEqual(
      models.filter(({ pulled }) => pulled).map(({ name }) => name),
      ["qwen2.5-0.5b"],
    );
    const table = await runSounding(["models", "available", "--capability", "transcription"], { env: short });
    assert.match(table.stdout, /^whisper-base +transcription +197\.9 MiB +MIT +multilingual +Whisper base$/m);
    assert.doesNotMatch(table.stdout, /qwen/);
    const listed = await runSounding(["models", "--json"], { env: short });
    assert.equal((JSON.parse(listed.stdout) as Listed).on_disk[0]?.served_as, "qwen2.5-0.5b");
    const unknown = await runSounding(["models", "pull", "whisper-bass"], { env: short });
    assert.equal(unknown.code, 5);
    assert.match(unknown.stderr, /did you mean whisper-base\?/);
  });

  test("adds files of the machine, and shows the license of a package", async () => {
    const path = join(folder, "added.gguf");
    await writeFile(path, trialModelBytes());
    const added = await runSounding(["models", "add", path], { env });
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /^added\.gguf has been added: \d+\.\d MiB, SHA-256 [0-9a-f]{64}\n$/);
    assert.match(added.stderr, /A running server offers it as added\. Try: sounding chat --model added 'Hello!'/);
    const again = await runSounding(["models", "add", path, "--json"], { env });
    const [file] = JSON.parse(again.stdout) as Record<string, unknown>[];
    assert.deepEqual([file?.["name"], file?.["already_there"], "license" in file!], ["added.gguf", true, false]);
    await runSounding(["models", "remove", "added"], { env });

    const wheel = wheelOf({ name: "acme-chat", files: { "acme_chat/chat.gguf": trialModelBytes() } });
    await writeFile(join(folder, wheel.file), wheel.bytes);
    const unpacked = await runSounding(["models", "add", join(folder, wheel.file)], { env });
    assert.match(unpacked.stdout, /^acme-chat has been added: .*\nLicense, as the package declares it: unknown\n$/);
    assert.match(unpacked.stderr, /offers it as chat\. Try: sounding chat --model chat 'Hello!'/);
    const absent = await runSounding(["models", "add", join(folder, "none.gguf")], { env });
    assert.equal(absent.code, 5);
    await runSounding(["models", "remove", "acme-chat/chat.gguf"], { env });
  });

  test("says that a file which the configuration names is damaged", async () => {
    const config = join(folder, "damaged.yaml");
    const data = join(folder, "damaged");
    await mkdir(join(data, "models"), { recursive: true });
    await writeFile(join(data, "models/bad.gguf"), "no model");
    await writeFile(
      config,
      `storage: { data_dir: ${data} }\nengines: { local: { type: llama_cpp, models: { mine: { file: bad.gguf } } } }\n`,
    );
    const { stdout } = await runSounding(["models", "--config", config], { env: {} });
    assert.match(stdout, /^bad\.gguf .* mine \(engine local\), unusable: it is not a GGUF file/m);
  });

  test("names the cause of a network failure", async () => {
    const offline = { ...env, HF_ENDPOINT: "https://hub.invalid" };
    const failed = await runSounding(["models", "pull", "owner/repository/model.gguf"], { env: offline });
    assert.match(failed.stderr, /the name hub\.invalid cannot be resolved \(DNS, /);
    const proxied = { ...offline, HTTPS_PROXY: "http://proxy.invalid:3128" };
    const behind = await runSounding(["models", "pull", "owner/repository/model.gguf"], { env: proxied });
    assert.match(behind.stderr, /the name proxy\.invalid cannot be resolved .*HTTPS_PROXY/);
  });

  test("reports what is wrong, with its exit code", async () => {
    const absent = await runSounding(["models", "pull", "owner/repository/other.gguf"], { env });
    assert.equal(absent.code, 5);
    assert.match(absent.stderr, /does not have this file/);
    const wrong = await runSounding(["models", "pull", "model"], { env });
    assert.match(wrong.stderr, /sounding models available.*owner\/repository\/file\.gguf/);
    assert.notEqual(wrong.code, 0);
  });
});

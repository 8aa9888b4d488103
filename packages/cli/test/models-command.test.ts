import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { trialModelBytes } from "../../server/src/engines/llama-cpp/trial/trial-model.ts";
import { startServer } from "../../../test/support/running-server.ts";
import { runSounding } from "./run-sounding.ts";

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
    const found = /^\/owner\/(?:repository|voice)\/resolve\/main\/model\.gguf$/.test(request.url ?? "");
    response.writeHead(found ? 200 : 404, found ? { "content-length": emptyModel.length } : {});
    response.end(request.method === "GET" && found ? emptyModel : undefined);
  });
  let folder = "";
  let env: Record<string, string> = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "sounding-models-"));
    hub.listen(0, "127.0.0.1");
    await once(hub, "listening");
    env = {
      HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
      SOUNDING_DATA_DIR: join(folder, "data"),
    };
  });
  after(async () => {
    hub.close();
    await rm(folder, { recursive: true });
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

  test("reports what is wrong, with its exit code", async () => {
    const absent = await runSounding(["models", "pull", "owner/repository/other.gguf"], { env });
    assert.equal(absent.code, 5);
    assert.match(absent.stderr, /does not have this file/);
    const wrong = await runSounding(["models", "pull", "model"], { env });
    assert.match(wrong.stderr, /owner\/repository\/file\.gguf/);
    assert.notEqual(wrong.code, 0);
  });
});

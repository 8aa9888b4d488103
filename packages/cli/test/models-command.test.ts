import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runSounding } from "./run-sounding.ts";

/** The beginning of a GGUF file of version 3 without metadata and tensors. */
const emptyModel = Buffer.concat([Buffer.from("GGUF"), Buffer.from([3, 0, 0, 0]), Buffer.alloc(16)]);

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
    const [file] = JSON.parse(listed.stdout) as { name: string; size_bytes: number }[];
    assert.deepEqual([file?.name, file?.size_bytes], [name, emptyModel.length]);
    const removed = await runSounding(["models", "remove", name, "--data-dir", join(folder, "data")], {});
    assert.equal(removed.stdout, `Removed ${name}.\n`);
    assert.equal((await runSounding(["models", "list", "--json"], { env })).stdout, "[]\n");
  });

  test("pulls a whole repository and explains how to use it", async () => {
    const pulled = await runSounding(["models", "pull", "owner/voice"], { env });
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stdout, /^owner\/voice has been downloaded: 24 B\n$/);
    assert.match(pulled.stderr, /The kind of the model is unknown/);
    const again = await runSounding(["models", "pull", "owner/voice", "--json"], { env });
    const [file] = JSON.parse(again.stdout) as { name: string; already_there: boolean }[];
    assert.deepEqual([file?.name, file?.already_there], ["owner/voice/model.gguf", true]);
    assert.equal((await runSounding(["models", "remove", "owner/voice/model.gguf"], { env })).code, 0);
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

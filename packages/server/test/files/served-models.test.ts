/** A running server serves what is in the folder of its model files, and stops when it is removed. */
import assert from "node:assert/strict";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { beforeEachTest, beforeTests } from "../../../../test/support/hooks.ts";
import { startServer, type RunningServer } from "../../../../test/support/running-server.ts";
import { trialModelBytes } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import { writeTinyRecognizer } from "../sherpa-onnx/tiny-recognizer.ts";
import { writeTinyVoice } from "../sherpa-onnx/tiny-voice.ts";

const gguf = trialModelBytes();

interface Listed {
  readonly id: string;
  readonly capabilities: readonly string[];
  readonly engine: string;
  readonly owned_by: string;
  readonly state: string;
  readonly state_reason: string | null;
}

const list = async (server: RunningServer): Promise<readonly Listed[]> =>
  ((await (await server.call("/v1/models")).json()) as { data: Listed[] }).data;

/** Those of the engines that exist for one file. */
const isOfFile = ({ engine }: Listed): boolean => /^(?:llama-cpp|sherpa-onnx)$/.test(engine);

const fromFiles = async (server: RunningServer): Promise<string[]> =>
  (await list(server)).filter(isOfFile).map(({ id }) => id);

/** Lists until it is so; the test runner's limit ends a wait for something that never happens. */
async function until(
  server: RunningServer,
  wanted: (models: readonly Listed[]) => boolean,
): Promise<readonly Listed[]> {
  for (;;) {
    const models = await list(server);
    if (wanted(models)) return models;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const has = (id: string) => (models: readonly Listed[]) => models.some((model) => model.id === id);
const lacks = (id: string) => (models: readonly Listed[]) => !has(id)(models);

async function put(server: RunningServer, name: string, content: Uint8Array): Promise<string> {
  const path = join(server.dataDirectory, "models", name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

const ask = (server: RunningServer, model: string, stream = false) =>
  server.call("/v1/chat/completions", {
    model,
    stream,
    max_tokens: stream ? 400 : 8,
    messages: [{ role: "user", content: "Hello" }],
  });

describe("model files", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    server = stack.use(await startServer());
  });
  beforeEachTest((stack) => {
    stack.defer(async () => {
      const folder = join(server.dataDirectory, "models");
      for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
      await until(server, (models) => !models.some(isOfFile));
    });
  });

  test("are served without configuration and without a restart, and no longer once they are removed", async () => {
    assert.deepEqual(await fromFiles(server), []);
    await put(server, "owner/repository/small-q4.gguf", gguf);
    await writeTinyVoice(join(server.dataDirectory, "models/owner/vits-tiny"));
    await writeTinyRecognizer(join(server.dataDirectory, "models/whisper-tiny"), "whisper");
    const models = await until(server, (all) => ["small-q4", "vits-tiny", "whisper-tiny"].every((id) => has(id)(all)));
    const facts = (id: string) => {
      const model = models.find((each) => each.id === id)!;
      return [model.capabilities, model.engine, model.owned_by, model.state];
    };
    assert.deepEqual(facts("small-q4"), [["chat"], "llama-cpp", "llama-cpp", "not_loaded"]);
    assert.deepEqual(facts("vits-tiny"), [["speech"], "sherpa-onnx", "sherpa-onnx", "not_loaded"]);
    assert.deepEqual(facts("whisper-tiny"), [["transcription"], "sherpa-onnx", "sherpa-onnx", "not_loaded"]);

    assert.equal((await ask(server, "small-q4")).status, 200);
    assert.equal((await ask(server, "llama-cpp/small-q4")).status, 200);
    const spoken = await server.call("/v1/audio/speech", { model: "vits-tiny", voice: "alloy", input: "abc" });
    assert.equal(spoken.status, 200);
    assert.ok((await spoken.arrayBuffer()).byteLength > 1_000);
    await until(server, (all) => all.find(({ id }) => id === "small-q4")?.state === "ready");

    await rm(join(server.dataDirectory, "models/owner"), { recursive: true });
    await until(server, (all) => lacks("small-q4")(all) && lacks("vits-tiny")(all));
    assert.equal((await ask(server, "small-q4")).status, 404);
    assert.deepEqual(await fromFiles(server), ["whisper-tiny"]);
  });

  test("that are removed do not end the calls that use them", async () => {
    const path = await put(server, "leaving.gguf", gguf);
    await until(server, has("leaving"));
    const response = await ask(server, "leaving", true);
    assert.equal(response.status, 200);
    await rm(path);
    await until(server, lacks("leaving"));
    assert.match(await response.text(), /data: \[DONE\]\s*$/);
  });

  test("that cannot be used are no models, and the others are served", async () => {
    await put(server, "broken.gguf", Buffer.from("GGUF, but not really a model"));
    await put(server, "half.gguf", gguf.subarray(0, gguf.length / 2));
    await put(server, "weights.safetensors", Buffer.alloc(100));
    await put(server, ".coming.gguf.0123abcd.part", gguf.subarray(0, 5_000));
    await put(server, "voice/model.onnx", Buffer.from("not a network"));
    await put(server, "voice/tokens.txt", Buffer.from("a 1\n"));
    await put(server, "split-00001-of-00002.gguf", gguf);
    await put(server, "whole.gguf", gguf);
    await until(server, has("whole"));
    assert.deepEqual(await fromFiles(server), ["whole"]);
    assert.equal((await ask(server, "whole")).status, 200);
  });

  test("whose weights are unreadable fail their own calls, and say so in the list", async () => {
    const damaged = Buffer.from(gguf);
    // An architecture that the library does not know.
    damaged.write("mamma", damaged.indexOf("general.architecture") + "general.architecture".length + 12, "latin1");
    await put(server, "damaged.gguf", damaged);
    await until(server, has("damaged"));
    assert.ok((await ask(server, "damaged")).status >= 500);
    const model = (await list(server)).find(({ id }) => id === "damaged");
    assert.equal(model?.state, "unavailable");
    const reason = /^The model file cannot be loaded: .*unknown model architecture: 'mamma'/;
    assert.match(model.state_reason ?? "", reason);
    // Callers learn it, too, however often they ask.
    for (let call = 0; call < 6; call++) {
      const refused = await ask(server, "damaged");
      assert.deepEqual([refused.status, refused.headers.get("x-should-retry")], [502, "false"]);
      assert.match(((await refused.json()) as { error: { message: string } }).error.message, reason);
    }
    assert.equal((await ask(server, "sounding-trial")).status, 200);
  });

  test("of the same name are told apart by their folders", async () => {
    await put(server, "one/repository/model.gguf", gguf);
    await until(server, has("model"));
    await put(server, "two/repository/model.gguf", gguf);
    await until(server, has("one/repository/model"));
    await until(server, has("two/repository/model"));
    await until(server, lacks("model"));
    assert.deepEqual(await fromFiles(server), ["one/repository/model", "two/repository/model"]);
    assert.equal((await ask(server, "two/repository/model")).status, 200);
  });

  test("that are replaced are loaded again", async () => {
    const path = await put(server, "changing.gguf", gguf);
    await until(server, has("changing"));
    assert.equal((await ask(server, "changing")).status, 200);
    await until(server, (all) => all.find(({ id }) => id === "changing")?.state === "ready");
    await writeFile(`${path}.tmp`, trialModelBytes("emoji"));
    await rename(`${path}.tmp`, path);
    await until(server, (all) => all.find(({ id }) => id === "changing")?.state === "not_loaded");
    assert.equal((await ask(server, "changing")).status, 200);
  });
});

describe("model files with a configuration", () => {
  test("that the configuration names are served as configured only", async () => {
    await using server = await startServer(`
engines:
  local: { type: llama_cpp, models: { mine: { file: given.gguf } } }
models:
  assistant: { targets: [{ engine: local, model: mine }] }
aliases:
  short: llama-cpp/other
`);
    await put(server, "given.gguf", gguf);
    await put(server, "other.gguf", gguf);
    await put(server, "assistant.gguf", gguf);
    const models = await until(server, has("short"));
    const engines = models.filter(({ id }) => id !== "sounding-trial").map(({ id, engine }) => `${id}: ${engine}`);
    for (const expected of ["assistant: local", "mine: local", "other: llama-cpp", "short: llama-cpp"])
      assert.ok(engines.includes(expected), `${expected} in ${engines.join()}`);
    assert.ok(!engines.some((each) => each.startsWith("given")));
    assert.equal((await ask(server, "short")).status, 200);
  });

  test("that cannot be used do not block a new configuration, and say why", async () => {
    await using server = await startServer(`
engines:
  voices:
    type: sherpa_onnx
    models:
      absent: { kind: vits, folder: absent }
  chats: { type: llama_cpp, models: { gone: { file: gone.gguf }, given: { file: given.gguf } } }
`);
    await put(server, "given.gguf", gguf);
    const models = await until(server, (all) => ["absent", "gone", "given"].every((id) => has(id)(all)));
    const state = (id: string) => {
      const model = models.find((each) => each.id === id)!;
      return [model.state, model.state_reason];
    };
    assert.deepEqual(state("absent"), [
      "unavailable",
      'The model "absent" cannot be used: its folder "absent" does not exist.',
    ]);
    assert.equal((await ask(server, "given")).status, 200);
    for (let call = 0; call < 6; call++) {
      const gone = await ask(server, "gone");
      const { error } = (await gone.json()) as { error: { message: string } };
      assert.deepEqual(
        [gone.status, error.message],
        [502, 'The model file "gone.gguf" does not exist on this server.'],
      );
      const spoken = await server.call("/v1/audio/speech", { model: "absent", voice: "alloy", input: "Hi." });
      assert.equal(spoken.status, 502);
      assert.match(await spoken.text(), /its folder \\"absent\\" does not exist/);
    }
    await put(server, "gone.gguf", gguf);
    assert.equal((await ask(server, "gone")).status, 200);
    await writeTinyVoice(join(server.dataDirectory, "models/absent"));
    const spoken = await server.call("/v1/audio/speech", { model: "absent", voice: "alloy", input: "Hi." });
    assert.equal(spoken.status, 200);
    assert.ok(!(await list(server)).some(({ id, state: now }) => id === "absent" && now === "unavailable"));
  });

  test("are not served if the configuration says so", async () => {
    await using server = await startServer("discovery: { model_files: false }\n");
    await put(server, "off.gguf", gguf);
    await put(server, "sign.gguf", gguf);
    assert.equal((await ask(server, "off")).status, 404);
    assert.deepEqual(await fromFiles(server), []);
  });
});

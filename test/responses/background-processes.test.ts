/** Responses in the background over several processes of a server, and at its end. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { answerInTwo, createGate, readUntil, ResponsesClient, type Gate } from "../support/background-responses.ts";
import { beforeEachTest } from "../support/hooks.ts";
import { chatChunks, toChatWire } from "../support/messages-server.ts";
import { serveProcess } from "../support/served-process.ts";
import { startWorkers, type WorkerConnection } from "../support/worker-server.ts";

const parts = [toChatWire(chatChunks.slice(0, 3)), toChatWire(chatChunks.slice(3))] as const;

let upstream: ScriptedUpstream;
let gate: Gate;
beforeEachTest(async (stack) => {
  gate = createGate();
  upstream = stack.use(await startScriptedUpstream((exchange) => answerInTwo(exchange, parts, gate)));
  stack.defer(() => gate.open());
});

const configuration = (more: string): string => `
discovery: { enabled: false }
telemetry: { enabled: false }
engines:
  chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [chat-upstream] }
models:
  assistant: { targets: [{ engine: chat, model: chat-upstream }], retries: { attempts: 0 } }
${more}`;

describe("a response in the background at the end of its server", () => {
  for (const [name, signal, message] of [
    ["shuts down", "SIGTERM", /shut down before the response was complete/],
    ["crashes", "SIGKILL", /stopped before the response was complete/],
  ] as const) {
    test(`is failed when the server ${name}`, { timeout: 120_000 }, async () => {
      const directory = await mkdtemp(join(tmpdir(), "sounding-background-"));
      await using stack = new AsyncDisposableStack();
      stack.defer(() => rm(directory, { recursive: true, force: true }));
      const config = join(directory, "sounding.yaml");
      await writeFile(config, configuration("server: { shutdown_timeout_ms: 1 }"));
      const options = { data: join(directory, "data") };
      const first = await serveProcess({ SOUNDING_CONFIG: config, HOME: directory }, options);
      stack.defer(() => void first.child.kill("SIGKILL"));
      const [key = ""] = /sk-[\w-]{43}/.exec(first.output.stdout) ?? [];
      const client = new ResponsesClient({ url: first.url, key });
      const begun = await readUntil(await client.post({ stream: true }), "response.reasoning_summary_text.delta");
      const { id } = begun[0]!["response"] as { id: string };
      await first.end(signal);
      const second = stack.use(await serveProcess({ SOUNDING_CONFIG: config, HOME: directory }, options));
      const later = new ResponsesClient({ url: second.url, key });
      const failed = await later.until(id, "failed");
      assert.match(String((failed["error"] as JsonObject)["message"]), message);
      const events = await later.events(`${id}?stream=true`);
      assert.equal(events.at(-1)!["type"], "response.failed");
      assert.equal((events.at(-1)!["response"] as JsonObject)["id"], id);
    });
  }
});

describe("a response in the background of a server with two workers", () => {
  test("is polled, followed and cancelled at both", { timeout: 120_000 }, async () => {
    await using server = await startWorkers(configuration("server: { workers: 2 }"), {});
    const one = await server.connect(1);
    const two = await server.connect(2);
    const create = async (at: WorkerConnection, more: object): Promise<string> => {
      const request = { model: "assistant", input: "Hello", background: true, ...more };
      const answer = await at.call("/v1/responses", request);
      assert.equal(answer.status, 200, answer.text);
      return String(answer.json["id"]);
    };
    const statusAt = async (at: WorkerConnection, id: string): Promise<unknown> =>
      (await at.call(`/v1/responses/${id}`)).json["status"];
    const cancelled = await create(one, {});
    await upstream.until(() => upstream.exchanges.length === 1, "the upstream's call");
    assert.match(String(await statusAt(two, cancelled)), /queued|in_progress/);
    const ending = await two.call(`/v1/responses/${cancelled}/cancel`, {});
    assert.deepEqual([ending.status, ending.json["status"]], [200, "cancelled"]);
    assert.equal(await statusAt(one, cancelled), "cancelled");
    await upstream.until(() => upstream.aborts === 1, "the upstream's call to be cancelled");

    const streamed = await server.connect(1);
    const response = await streamed.open("/v1/responses", {
      model: "assistant",
      input: "Hello",
      background: true,
      stream: true,
    });
    const id = await new Promise<string>((resolve) =>
      response.once("data", (bytes: Buffer) => resolve(/resp_\w+/.exec(bytes.toString())![0])),
    );
    streamed.close();
    const following = two.call(`/v1/responses/${id}?stream=true&starting_after=1`);
    await upstream.until(() => upstream.exchanges.length === 2, "the second call");
    gate.open();
    const { text } = await following;
    assert.match(text, /^event: response\.in_progress\n/);
    assert.match(text, /Grüße 👋/);
    assert.match(text, /event: response\.completed\ndata: .*\n\n$/);
    assert.equal(await statusAt(two, id), "completed");
    one.close();
    two.close();
  });
});

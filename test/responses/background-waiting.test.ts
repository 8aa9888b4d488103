/** Responses in the background whose model has as many calls as it takes: they wait for their turn. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  startScriptedUpstream,
  type ScriptedExchange,
  type ScriptedUpstream,
} from "../../packages/server/test/support/scripted-upstream.ts";
import { createGate, eventsOf, ResponsesClient, typesOf, type Gate } from "../support/background-responses.ts";
import { beforeEachTest, beforeTests } from "../support/hooks.ts";
import { chatChunks, toChatWire } from "../support/messages-server.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";

describe("responses in the background of a model that is full", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  let client: ResponsesClient;
  let gate: Gate;
  /** What the upstream was asked, in order. */
  let asked: string[];
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => exchange.answer({}, 500));
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(`
discovery: { enabled: false }
engines: { chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream] } }
models:
  assistant: { targets: [{ engine: chat, model: upstream, max_concurrent: 1 }] }
`),
    );
    client = new ResponsesClient(server);
  });
  beforeEachTest((stack) => {
    gate = createGate();
    asked = [];
    stack.defer(() => gate.open());
    upstream.script = async (exchange) => {
      asked.push(inputOf(exchange));
      await Promise.race([gate.opened, exchange.closed]);
      if (exchange.gone) return;
      exchange.beginEvents();
      await exchange.send(toChatWire(chatChunks));
      exchange.end();
    };
  });

  /** Creates them one after another, so that they come in this order. */
  async function createAll(inputs: readonly string[], organization = client): Promise<string[]> {
    const ids: string[] = [];
    for (const input of inputs) ids.push((await organization.create({ input })).id);
    return ids;
  }
  async function otherKey(): Promise<string> {
    const authorization = `Bearer ${server.operatorKey}`;
    const make = async (path: string, body: object): Promise<Record<string, string>> =>
      (await (await server.call(`/admin/v1${path}`, body, { authorization })).json()) as Record<string, string>;
    const { id } = await make("/organizations", { name: "other" });
    return (await make("/keys", { organization_id: id, name: "other" }))["secret"]!;
  }
  const untilAsked = (count: number): Promise<void> => upstream.until(() => asked.length === count, `${count} calls`);

  test("are queued, then run in the order in which they came", async () => {
    const inputs = Array.from({ length: 12 }, (_, index) => `input ${index}`);
    const ids = await createAll(inputs);
    await untilAsked(1);
    for (const id of ids.slice(1)) assert.equal((await client.ask(id))["status"], "queued");
    // Others are refused at once.
    const refused = await client.post({ background: false });
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /concurrency limit/);
    gate.open();
    for (const id of ids) assert.equal((await client.until(id, "completed", "failed"))["status"], "completed");
    assert.deepEqual(asked, inputs);
  });

  test("stream their events, are cancelled and are deleted while they wait", async () => {
    const ids = await createAll(["first", "cancelled", "deleted"]);
    await untilAsked(1);
    const following = client.post({ stream: true, input: "followed" }).then(eventsOf);
    const cancelled = await client.ask(`${ids[1]!}/cancel`, "POST");
    assert.deepEqual([cancelled["http"], cancelled["status"]], [200, "cancelled"]);
    assert.equal((await client.ask(ids[2]!, "DELETE"))["deleted"], true);
    gate.open();
    const types = typesOf(await following);
    assert.deepEqual(types.slice(0, 3), ["response.created", "response.queued", "response.in_progress"]);
    assert.equal(types.at(-1), "response.completed");
    assert.equal((await client.ask(ids[1]!))["status"], "cancelled");
    assert.deepEqual(asked, ["first", "followed"]);
  });

  test("of one organization do not wait for the line of another", async () => {
    const other = new ResponsesClient({ url: server.url, key: await otherKey() });
    const ids = await createAll(["a", "b", "c", "d", "e", "f", "g", "h"]);
    await untilAsked(1);
    const [id] = await createAll(["other"], other);
    gate.open();
    await other.until(id!, "completed");
    for (const each of ids) await client.until(each, "completed");
    assert.deepEqual(asked.slice(0, 4), ["a", "b", "other", "c"]);
  });
});

function inputOf({ json }: ScriptedExchange): string {
  const { messages } = json as { messages: { content: string }[] };
  return messages.at(-1)!.content;
}

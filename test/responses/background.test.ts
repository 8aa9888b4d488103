/** Responses in the background: asked for, polled, followed, cancelled, over both kinds of upstreams. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI from "openai";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import {
  answerInTwo,
  createGate,
  eventsOf,
  readUntil,
  ResponsesClient,
  sequenceOf,
  typesOf,
  type Gate,
} from "../support/background-responses.ts";
import { beforeEachTest, beforeTests } from "../support/hooks.ts";
import { chatChunks, chatCompletion, toChatWire } from "../support/messages-server.ts";
import {
  openAiEvents,
  startResponsesServer,
  toResponsesWire,
  type ResponsesServer,
} from "../support/responses-server.ts";

const deltaType = "response.output_text.delta";
const chatParts = [toChatWire(chatChunks.slice(0, 3)), toChatWire(chatChunks.slice(3))] as const;
const nativeParts = [toResponsesWire(openAiEvents.slice(0, 4)), toResponsesWire(openAiEvents.slice(4))] as const;

describe("responses in the background", () => {
  let setting: ResponsesServer;
  let client: ResponsesClient;
  let gate: Gate;
  /** What the upstreams had seen before the test. */
  let earlier: { readonly exchanges: number; readonly aborts: number };
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
    client = new ResponsesClient(setting.server);
  });
  beforeEachTest((stack) => {
    gate = createGate();
    const { chat, responses } = setting;
    earlier = {
      exchanges: chat.exchanges.length + responses.exchanges.length,
      aborts: chat.aborts + responses.aborts,
    };
    stack.defer(() => gate.open());
    setting.chat.script = (exchange) => answerInTwo(exchange, chatParts, gate);
    setting.responses.script = (exchange) => answerInTwo(exchange, nativeParts, gate);
  });

  const upstreamOf = (model: string) => (model === "native" ? setting.responses : setting.chat);
  const untilAborted = (model: string): Promise<void> => {
    const isAborted = () => setting.chat.aborts + setting.responses.aborts === earlier.aborts + 1;
    return upstreamOf(model).until(isAborted, "the upstream's call to be cancelled");
  };

  for (const model of ["assistant", "native"]) {
    test(`are queued at once and polled until they are complete, with ${model}`, async () => {
      const created = await client.create({ model, metadata: { topic: "a" } });
      assert.deepEqual([created["status"], created["background"], created["output"]], ["queued", true, []]);
      const running = await client.until(created.id, "in_progress");
      assert.deepEqual([running["id"], running["output"], running["metadata"]], [created.id, [], { topic: "a" }]);
      gate.open();
      const done = await client.until(created.id, "completed");
      assert.deepEqual([done["id"], done["background"], done["model"]], [created.id, true, model]);
      assert.match(JSON.stringify(done["output"]), /Grüße 👋/);
      assert.equal((done["usage"] as JsonObject)["input_tokens"], 100);
      const { data } = await client.ask(`${created.id}/input_items`);
      assert.match(JSON.stringify(data), /Hello/);
      const { background, stream } = upstreamOf(model).exchanges.at(-1)!.json as JsonObject;
      assert.deepEqual([background, stream], [undefined, true]);
      assert.equal(setting.chat.exchanges.length + setting.responses.exchanges.length, earlier.exchanges + 1);
    });

    test(`stream their events again after a disconnect, with ${model}`, async () => {
      const first = await readUntil(await client.post({ model, stream: true }), deltaType);
      assert.deepEqual(typesOf(first).slice(0, 3), ["response.created", "response.queued", "response.in_progress"]);
      const { id } = first[0]!["response"] as { id: string };
      const last = Number(first.at(-1)!["sequence_number"]);
      const following = client.fetch(`${id}?stream=true&starting_after=${last}`);
      gate.open();
      const rest = await eventsOf(await following);
      assert.equal(rest[0]!["sequence_number"], last + 1);
      assert.equal(rest.at(-1)!["type"], "response.completed");
      assert.deepEqual(rest.at(-1)!["response"], omitHttp(await client.until(id, "completed")));
      assert.equal(setting.chat.aborts + setting.responses.aborts, earlier.aborts);
      const all = await client.events(`${id}?stream=true`);
      assert.deepEqual(all, [...first, ...rest]);
      assert.deepEqual(
        sequenceOf(all),
        all.map((_, index) => index),
      );
      assert.deepEqual(await client.events(`${id}?stream=true&starting_after=${all.length - 1}`), []);
    });

    test(`are cancelled, once and for all, with ${model}`, async () => {
      const first = await readUntil(await client.post({ model, stream: true }), deltaType);
      const { id } = first[0]!["response"] as { id: string };
      const following = client.events(`${id}?stream=true`);
      const cancelled = await client.ask(`${id}/cancel`, "POST");
      assert.deepEqual([cancelled["http"], cancelled["id"], cancelled["status"]], [200, id, "cancelled"]);
      await untilAborted(model);
      const last = (await following).at(-1)!;
      assert.deepEqual([last["type"], last["response"]], ["response.cancelled", omitHttp(cancelled)]);
      for (const [path, method] of [
        [id, "GET"],
        [`${id}/cancel`, "POST"],
      ] as const)
        assert.deepEqual(await client.ask(path, method), cancelled);
    });
  }

  test("fail with the reason of their engine", async () => {
    setting.chat.script = (exchange) => exchange.answer({ error: { message: "no luck", type: "x" } }, 400);
    const failed = await client.until((await client.create()).id, "failed");
    assert.match(String((failed["error"] as JsonObject)["message"]), /no luck/);
    const cut = await readUntilFailed();
    assert.equal(((cut["response"] as JsonObject)["error"] as JsonObject)["code"], "server_error");

    async function readUntilFailed(): Promise<JsonObject> {
      setting.responses.script = async (exchange) => {
        exchange.beginEvents();
        await exchange.send(nativeParts[0]);
        exchange.cut();
      };
      const events = await eventsOf(await client.post({ model: "native", stream: true }));
      assert.equal(events.at(-1)!["type"], "response.failed");
      return events.at(-1)!;
    }
  });

  test("are refused like ordinary calls before they begin", async () => {
    for (const [status, param, body] of [
      [404, "model", { model: "unknown" }],
      [400, "store", { store: false }],
      [400, "conversation", { conversation: "conv_1" }],
      [400, "previous_response_id", { previous_response_id: "resp_unknown" }],
      [413, "background", { input: "x".repeat(1_100_000) }],
    ] as const) {
      const response = await client.post(body);
      const { error } = (await response.json()) as { error: JsonObject };
      assert.deepEqual([response.status, error["param"]], [status, param], JSON.stringify(error));
    }
    assert.equal(setting.chat.exchanges.length + setting.responses.exchanges.length, earlier.exchanges);
  });

  test("say what cannot be asked of them", async () => {
    const { id } = await client.create();
    for (const [path, param] of [
      [`${id}?stream=true`, "stream"],
      [`${id}?starting_after=1`, "starting_after"],
      [`${id}?stream=true&starting_after=-1`, "starting_after"],
    ] as const) {
      const { http, error } = await client.ask(path);
      assert.deepEqual([http, (error as JsonObject)["param"]], [400, param]);
    }
    const early = await client.post({ background: false, previous_response_id: id });
    assert.equal(early.status, 400);
    assert.match(await early.text(), /wait until it is complete/);
    gate.open();
    await client.until(id, "completed");
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Yes." }));
    const ordinary = await client.create({ background: false });
    const { http, error } = await client.ask(`${ordinary.id}/cancel`, "POST");
    assert.deepEqual([http, (error as JsonObject)["param"]], [400, "response_id"]);
  });

  test("are continued, at their engine under its own ID", async () => {
    gate.open();
    const translated = await client.create();
    await client.until(translated.id, "completed");
    const passed = await client.create({ model: "native" });
    await client.until(passed.id, "completed");
    for (const previous of [translated.id, passed.id]) {
      const next = await client.create({ model: "native", input: "More?", previous_response_id: previous });
      const done = await client.until(next.id, "completed");
      assert.equal(done["previous_response_id"], previous);
    }
    const [inlined, referred] = setting.responses.exchanges.slice(-2).map(({ json }) => json as JsonObject);
    assert.deepEqual([inlined!["previous_response_id"], (inlined!["input"] as []).length], [undefined, 4]);
    assert.deepEqual([referred!["previous_response_id"], referred!["input"]], ["resp_upstream", "More?"]);
  });

  test("stop when they are deleted", async () => {
    const { id } = await client.create({ model: "native" });
    await client.until(id, "in_progress");
    assert.equal((await client.ask(id, "DELETE"))["deleted"], true);
    await untilAborted("native");
    assert.equal((await client.ask(id))["http"], 404);
  });

  test("are used by OpenAI's SDK: polled, left and taken up again, cancelled", async () => {
    const { key, url } = setting.server;
    const sdk = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
    const request = { model: "assistant", input: "Hello", background: true } as const;
    const stream = await sdk.responses.create({ ...request, stream: true });
    let id = "";
    let last = -1;
    for await (const event of stream) {
      last = event.sequence_number;
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type === deltaType) break;
    }
    gate.open();
    const resumed = await sdk.responses.retrieve(id, { stream: true, starting_after: last });
    const types: string[] = [];
    for await (const event of resumed) types.push(event.type);
    assert.equal(types.at(-1), "response.completed");
    const read = await sdk.responses.retrieve(id);
    assert.deepEqual([read.status, read.output_text], ["completed", "Grüße 👋"]);
    gate = createGate();
    const second = await sdk.responses.create(request);
    assert.equal(second.status, "queued");
    assert.equal((await sdk.responses.cancel(second.id)).status, "cancelled");
  });

  test("count against limits until they end", async () => {
    await using limited = await startResponsesServer("limits: { key: { concurrent_requests: 1 } }");
    limited.chat.script = (exchange) => answerInTwo(exchange, chatParts, gate);
    const one = new ResponsesClient(limited.server);
    const first = await one.create();
    assert.equal((await one.post({ background: true })).status, 429);
    await one.ask(`${first.id}/cancel`, "POST");
    await limited.chat.until(() => limited.chat.aborts === 1, "the upstream's call to be cancelled");
    gate.open();
    await one.until((await one.create()).id, "completed");
    assert.equal((await one.until((await one.create()).id, "completed"))["status"], "completed");
  });

  test("are guarded: a blocked prompt is refused at once, an answer is redacted", async () => {
    await using guarded = await startResponsesServer(`
guardrails:
  words: { type: rules, rules: [{ category: violence, words: [bomb] }, { category: illicit, words: [Grüße], action: redact }] }
`);
    guarded.chat.script = (exchange) => answerInTwo(exchange, chatParts, gate);
    const guardedClient = new ResponsesClient(guarded.server);
    const blocked = await guardedClient.post({ model: "native", input: "a bomb" });
    assert.deepEqual([blocked.status, guarded.chat.exchanges.length], [400, 0]);
    gate.open();
    const events = await eventsOf(await guardedClient.post({ model: "native", stream: true }));
    const { id } = events[0]!["response"] as { id: string };
    assert.equal(events.at(-1)!["type"], "response.completed");
    const kept = [events, await guardedClient.ask(id), await guardedClient.events(`${id}?stream=true`)];
    assert.match(JSON.stringify(kept), /👋/);
    assert.doesNotMatch(JSON.stringify(kept), /Grüße/);
  });

  test("are their project's own", async () => {
    const other = new ResponsesClient(setting.server, { "x-project": "other" });
    const first = await readUntil(await client.post({ stream: true }), deltaType);
    const { id } = first[0]!["response"] as { id: string };
    for (const [path, method] of [
      [id, "GET"],
      [`${id}?stream=true`, "GET"],
      [`${id}?stream=true&starting_after=1`, "GET"],
      [`${id}/input_items`, "GET"],
      [`${id}/cancel`, "POST"],
      [id, "DELETE"],
    ] as const)
      assert.equal((await other.ask(path, method))["http"], 404, `${method} ${path}`);
    gate.open();
    await client.until(id, "completed");
    assert.equal((await other.ask(`${id}?stream=true`))["http"], 404);
    assert.equal((await other.post({ background: false, previous_response_id: id })).status, 400);
  });
});

function omitHttp(response: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(response).filter(([name]) => name !== "http"));
}

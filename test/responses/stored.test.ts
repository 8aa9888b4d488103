/** Stored responses: continued, read, listed and deleted, by their project only. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatCompletion, readEvents, chatChunks, toChatWire } from "../support/messages-server.ts";
import { openAiResponse, startResponsesServer, type ResponsesServer } from "../support/responses-server.ts";

describe("stored responses", () => {
  let setting: ResponsesServer;
  let count = 0;
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: `Answer ${++count}.` }));
    setting.responses.script = (exchange) => exchange.answer(openAiResponse({ id: `resp_upstream_${++count}` }));
  });

  async function create(more: object, headers: Record<string, string> = {}): Promise<JsonObject> {
    const response = await setting.post({ model: "assistant", input: "Hello", ...more }, headers);
    return { http: response.status, ...((await response.json()) as JsonObject) };
  }

  const inProject = { "x-project": "other" };
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    fetch(`${setting.server.url}/v1/responses/${path}`, {
      method,
      headers: { authorization: `Bearer ${setting.server.key}`, ...headers },
    });

  test("are continued over several turns, also streamed ones", async () => {
    const first = await create({ input: "One?", instructions: "Be brief." });
    const second = await create({ input: "Two?", previous_response_id: first["id"] });
    assert.equal(second["previous_response_id"], first["id"]);
    const script = setting.chat.script;
    setting.chat.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.drip([toChatWire(chatChunks)]);
      exchange.end();
    };
    const streamed = await setting.post({
      model: "assistant",
      input: "Three?",
      previous_response_id: second["id"],
      stream: true,
    });
    const events = await readEvents(streamed);
    setting.chat.script = script;
    const { response } = JSON.parse(events.at(-1)!.data) as { response: { id: string } };
    const output = { type: "function_call_output", call_id: "call_1", output: "four" };
    const last = await create({ input: [output], previous_response_id: response.id });
    assert.equal(last["http"], 200, JSON.stringify(last));
    const { messages } = setting.chat.exchanges.at(-1)!.json as { messages: JsonObject[] };
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        // Instructions are of one response only.
        ["user", "One?"],
        ["assistant", `Answer ${count - 2}.`],
        ["user", "Two?"],
        ["assistant", `Answer ${count - 1}.`],
        ["user", "Three?"],
        ["assistant", "Grüße 👋"],
        ["tool", "four"],
      ],
    );
  });

  test("can be read, listed and deleted", async () => {
    const { http: _, ...created } = await create({ input: "Keep this.", metadata: { topic: "a" } });
    const id = String(created["id"]);
    assert.deepEqual(await (await get(id)).json(), created);
    const items = (await (await get(`${id}/input_items`)).json()) as { data: JsonObject[] };
    assert.deepEqual(
      items.data.map(({ role, content }) => [role, content]),
      [["user", [{ type: "input_text", text: "Keep this." }]]],
    );
    assert.equal((await get(`${id}/cancel`, {}, "POST")).status, 400);
    assert.deepEqual(await (await get(id, {}, "DELETE")).json(), { id, object: "response", deleted: true });
    for (const method of ["GET", "DELETE"]) assert.equal((await get(id, {}, method)).status, 404);
  });

  test("list their items in pages", async () => {
    const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    const { id } = await create({ input });
    const page = async (query: string) => {
      const { data, ...rest } = (await (await get(`${String(id)}/input_items?${query}`)).json()) as {
        data: JsonObject[];
        last_id: string;
        has_more: boolean;
      };
      return { contents: data.map(({ content }) => content).join(""), ...rest };
    };
    assert.equal((await page("")).contents, "cba");
    const first = await page("order=asc&limit=2");
    assert.deepEqual([first.contents, first.has_more], ["ab", true]);
    const second = await page(`order=asc&limit=2&after=${first.last_id}`);
    assert.deepEqual([second.contents, second.has_more], ["c", false]);
    for (const wrong of ["limit=0", "limit=x", "order=up", "after=msg_of_another", "include=message.input_image"]) {
      const refused = await get(`${String(id)}/input_items?${wrong}`);
      const { error } = (await refused.json()) as { error: JsonObject };
      assert.deepEqual([refused.status, error["param"]], [400, wrong.split("=")[0]]);
    }
  });

  test("may have IDs that the upstream repeats", async () => {
    const script = setting.responses.script;
    setting.responses.script = (exchange) => exchange.answer(openAiResponse({ id: "resp_always", output: [] }));
    for (const headers of [{}, {}, inProject]) {
      const { http, id } = await create({ model: "native", input: JSON.stringify(headers) }, headers);
      assert.deepEqual([http, id], [200, "resp_always"]);
    }
    setting.responses.script = script;
    const { data } = (await (await get("resp_always/input_items")).json()) as { data: JsonObject[] };
    assert.deepEqual(data[0]?.["content"], [{ type: "input_text", text: "{}" }]);
  });

  test("of an upstream that speaks the API can be continued, if not read, when they are too large", async () => {
    const { id, store } = await create({ model: "native", input: "x".repeat(1_100_000) });
    assert.notEqual(store, false);
    assert.equal((await create({ model: "native", previous_response_id: id }))["http"], 200);
    assert.equal((setting.responses.exchanges.at(-1)!.json as JsonObject)["previous_response_id"], id);
    assert.equal((await create({ model: "native", previous_response_id: id }, inProject))["http"], 400);
    const read = await get(String(id));
    assert.equal(read.status, 404);
    assert.match(await read.text(), /too large to keep/);
    assert.equal((await get(String(id), {}, "DELETE")).status, 200);
  });

  test("are not there if the request says so, or if they are too large", async () => {
    const unstored = await create({ store: false });
    assert.equal(unstored["store"], false);
    assert.equal((await get(String(unstored["id"]))).status, 404);
    const large = await create({ input: "x".repeat(1_100_000) });
    assert.deepEqual([large["http"], large["store"]], [200, false]);
  });

  test("are their project's own", async () => {
    const { id } = await create({ input: "Secret." });
    for (const path of [String(id), `${String(id)}/input_items`])
      assert.equal((await get(path, inProject)).status, 404);
    assert.equal((await get(String(id), inProject, "DELETE")).status, 404);
    for (const more of [
      { previous_response_id: id },
      { input: [{ type: "item_reference", id: `msg_${String(id).slice("resp_".length)}_0` }] },
    ]) {
      const before = setting.chat.exchanges.length;
      const refused = await create(more, inProject);
      assert.equal(refused["http"], 400, JSON.stringify(more));
      assert.equal(setting.chat.exchanges.length, before);
    }
    assert.equal((await get(String(id))).status, 200);
  });

  test("resolve references to items", async () => {
    const { id } = await create({ input: "One?" });
    const itemId = `msg_${String(id).slice("resp_".length)}_0`;
    const answer = `Answer ${count}.`;
    for (const reference of [{ type: "item_reference", id: itemId }, { id: itemId }]) {
      const input = [{ role: "user", content: "One?" }, reference, { role: "user", content: "Two?" }];
      assert.equal((await create({ input }))["http"], 200);
      const { messages } = setting.chat.exchanges.at(-1)!.json as { messages: JsonObject[] };
      assert.deepEqual(
        messages.map(({ content }) => content),
        ["One?", answer, "Two?"],
      );
    }
  });

  test("of an upstream that speaks the API stay there, and only its project may continue them", async () => {
    const { id } = await create({ model: "native" });
    const continued = await create({ model: "native", previous_response_id: id });
    assert.equal(continued["http"], 200);
    const sent = setting.responses.exchanges.at(-1)!.json as JsonObject;
    assert.deepEqual([sent["previous_response_id"], sent["input"]], [id, "Hello"]);
    const before = setting.responses.exchanges.length;
    for (const [more, headers] of [
      [{ model: "native", previous_response_id: id }, inProject],
      [{ model: "native", previous_response_id: "resp_of_somebody" }, {}],
      [{ model: "native", input: [{ type: "item_reference", id: "rs_1" }] }, inProject],
      [{ model: "assistant", previous_response_id: id }, {}],
    ] as const) {
      const refused = await create(more, headers);
      assert.equal(refused["http"], 400, JSON.stringify(more));
    }
    assert.equal(setting.responses.exchanges.length, before);
  });

  test("of a translated call can go on at an upstream that speaks the API", async () => {
    const { id } = await create({ input: "One?" });
    const continued = await create({ model: "native", input: "Two?", previous_response_id: id });
    assert.deepEqual([continued["http"], continued["previous_response_id"]], [200, id]);
    const sent = setting.responses.exchanges.at(-1)!.json as { input: JsonObject[] };
    assert.equal("previous_response_id" in sent, false);
    assert.deepEqual(
      sent.input.map(({ role }) => role),
      ["user", "assistant", "user"],
    );
  });
});

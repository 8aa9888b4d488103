/** `POST /v1/responses` for a model whose upstream speaks the Responses API, and its fallback, which does not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { endedLate, piecesOf, streamed } from "../../packages/server/test/support/streamed.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatCompletion, readEvents } from "../support/messages-server.ts";
import {
  openAiEvents,
  openAiResponse,
  startResponsesServer,
  toResponsesWire,
  type ResponsesServer,
} from "../support/responses-server.ts";

describe("the Responses API at an upstream that speaks it", () => {
  let setting: ResponsesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
  });

  test("passes the request on as it came, except for the model's name", async () => {
    setting.responses.script = (exchange) => exchange.answer(openAiResponse());
    // Spaces, order, duplicates in nested objects, and members of a newer version.
    const body = `{ "input" : [ {"role":"user","content":"é \\u00e9"} ],  "a_new_member": {"b":1.0,"a":[ ]}, "tools":[{"type":"web_search"}], "model":"native" }`;
    const response = await setting.post(body);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { ...openAiResponse(), model: "native" });
    const { body: bytes, path } = setting.responses.exchanges.at(-1)!;
    assert.equal(path, "/v1/responses");
    const expected = body.replace(/, "model":"native" /, ',"model":"upstream"').replace("{ ", "{");
    assert.equal(bytes.toString().replaceAll(/\s+/g, ""), expected.replaceAll(/\s+/g, ""));
    assert.ok(bytes.toString().includes('[ {"role":"user","content":"é \\u00e9"} ]'));
  });

  for (const [name, text] of [
    ["as OpenAI writes it", toResponsesWire(openAiEvents)],
    ["with CRLF", toResponsesWire(openAiEvents, "\r\n")],
    ["with comments", toResponsesWire(openAiEvents).replaceAll("event: ", ": keep-alive\n\nevent: ")],
    ["without names", toResponsesWire(openAiEvents).replaceAll(/^event: .*\n/gm, "")],
  ] as const) {
    for (const size of [1, 7, 100_000]) {
      test(`passes events on ${name}, in pieces of up to ${size} bytes`, async () => {
        setting.responses.script = streamed(...piecesOf(text, size));
        const response = await setting.post({ model: "native", input: "Hello", stream: true, store: false });
        const events = (await readEvents(response)).map(({ data }) => JSON.parse(data) as JsonObject);
        const expected = openAiEvents.map((event) =>
          "response" in event ? { ...event, response: { ...(event["response"] as object), model: "native" } } : event,
        );
        const withoutStore = events.map((event) => {
          if (!("response" in event)) return event;
          const { store: _, ...rest } = event["response"] as JsonObject;
          return { ...event, response: rest };
        });
        assert.deepEqual(withoutStore, expected);
      });
    }
  }

  test("keeps the connection after the last event of a stream, which may end later", async () => {
    const ports: unknown[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const read = Promise.withResolvers<void>();
      setting.responses.script = endedLate(toResponsesWire(openAiEvents), () => read.promise);
      const response = await setting.post({ model: "native", input: "Hello", stream: true });
      assert.equal((await readEvents(response)).length, openAiEvents.length);
      read.resolve();
      const { clientPort, closed } = setting.responses.exchanges.at(-1)!;
      ports.push(clientPort);
      await closed;
    }
    // A connection is free a little after its stream has ended.
    assert.ok(new Set(ports).size < ports.length, ports.join(", "));
  });

  test("falls back to a model that is translated, until the first event", async () => {
    setting.responses.script = (exchange) => exchange.answer({ error: { message: "Broken." } }, 500);
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    const response = await setting.post({ model: "native", input: "Hello" });
    const { model, output } = (await response.json()) as { model: string; output: JsonObject[] };
    assert.deepEqual([response.status, model, output.length], [200, "assistant", 1]);
  });

  test("turns a stream that is cut, or that fails, into response.failed", async () => {
    const failed = {
      type: "response.failed",
      sequence_number: 2,
      response: openAiResponse({ status: "failed", error: { code: "server_error", message: "Oops" } }),
    };
    for (const end of [
      "",
      toResponsesWire([failed]),
      toResponsesWire([{ type: "error", sequence_number: 2, code: "server_error", message: "Oops", param: null }]),
    ]) {
      setting.responses.script = async (exchange) => {
        exchange.beginEvents();
        await exchange.drip([toResponsesWire(openAiEvents.slice(0, 2)) + end]);
        exchange.end();
      };
      const events = await readEvents(await setting.post({ model: "native", input: "Hello", stream: true }));
      assert.deepEqual([events.length, events.at(-1)!.name], [3, "response.failed"], end);
      const { response } = JSON.parse(events.at(-1)!.data) as { response: JsonObject };
      assert.deepEqual([response["id"], response["status"]], ["resp_upstream", "failed"]);
    }
  });

  test("counts tokens and compacts where the upstream can", async () => {
    setting.responses.script = (exchange) =>
      exchange.answer(
        exchange.path.endsWith("compact")
          ? { object: "response.compaction", output: [] }
          : { object: "response.input_tokens", input_tokens: 11 },
      );
    const counted = await setting.post({ model: "native", input: "Hello" }, {}, "/v1/responses/input_tokens");
    assert.equal(((await counted.json()) as JsonObject)["input_tokens"], 11);
    assert.equal(setting.responses.exchanges.at(-1)!.path, "/v1/responses/input_tokens");
    const compacted = await setting.post({ model: "native", input: "Hello" }, {}, "/v1/responses/compact");
    assert.equal(((await compacted.json()) as JsonObject)["object"], "response.compaction");
    const refused = await setting.post({ model: "assistant", input: "Hello" }, {}, "/v1/responses/input_tokens");
    assert.equal(refused.status, 400);
  });
});

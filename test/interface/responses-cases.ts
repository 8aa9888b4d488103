/** OpenAI's Responses API, as Sounding promises it for engines of chat completions. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { post } from "./raw-request.ts";

const request = { model: "assistant", input: "Hello?" };

async function ask(facts: Facts, body: object): Promise<{ status: number; body: JsonObject }> {
  const response = await post(facts, "/v1/responses", body);
  return { status: response.status, body: (await response.json()) as JsonObject };
}

async function eventsOf(facts: Facts, body: object): Promise<JsonObject[]> {
  const response = await post(facts, "/v1/responses", { ...body, stream: true });
  assert.equal(response.status, 200);
  return readData(await response.text());
}

function readData(text: string): JsonObject[] {
  return [...text.matchAll(/^data: (?<data>.*)$/gm)].map(({ groups }) => JSON.parse(groups!["data"]!) as JsonObject);
}

export const responsesCases: readonly InterfaceCase[] = [
  {
    name: "a response has OpenAI's form",
    shows: ["responses/responses-api"],
    withoutClient: true,
    async run({ facts }) {
      const { body, status } = await ask(facts, request);
      assert.equal(status, 200);
      assert.match(String(body["id"]), /^resp_/);
      const [message] = body["output"] as JsonObject[];
      assert.deepEqual(
        [body["object"], body["status"], body["model"], message!["type"]],
        ["response", "completed", "assistant", "message"],
      );
      const { input_tokens: input, output_tokens: output } = body["usage"] as JsonObject;
      assert.deepEqual([input, output], [5, 2]);
    },
  },
  {
    name: "a streamed response ends with response.completed, or with response.failed",
    shows: ["responses/response-streams"],
    withoutClient: true,
    async run({ facts }) {
      for (const [more, last] of [
        [{}, "response.completed"],
        [{ user: "breaks off" }, "response.failed"],
      ] as const) {
        const events = await eventsOf(facts, { ...request, ...more });
        assert.equal(events.at(-1)!["type"], last);
        assert.deepEqual(
          events.map((event) => event["sequence_number"]),
          events.map((_, index) => index),
        );
      }
    },
  },
  {
    name: "stored responses are continued, read and deleted",
    shows: ["responses/stored-responses"],
    withoutClient: true,
    async run({ facts }) {
      const { body: first } = await ask(facts, request);
      const { body: second, status } = await ask(facts, { ...request, previous_response_id: first["id"] });
      assert.deepEqual([status, second["previous_response_id"]], [200, first["id"]]);
      const address = `${facts.url}/v1/responses/${String(first["id"])}`;
      const headers = { authorization: `Bearer ${facts.key}` };
      assert.deepEqual(await (await fetch(address, { headers })).json(), first);
      assert.equal((await fetch(address, { headers, method: "DELETE" })).status, 200);
      assert.equal((await fetch(address, { headers })).status, 404);
      const { body: unstored } = await ask(facts, { ...request, store: false });
      const refused = await ask(facts, { ...request, previous_response_id: unstored["id"] });
      assert.equal(refused.status, 400);
    },
  },
  {
    name: "a response in the background is read, followed and cancelled later",
    shows: ["responses/responses-in-the-background"],
    withoutClient: true,
    async run({ facts }) {
      const { body: queued, status } = await ask(facts, { ...request, background: true });
      assert.deepEqual([status, queued["status"]], [200, "queued"]);
      const address = `${facts.url}/v1/responses/${String(queued["id"])}`;
      const headers = { authorization: `Bearer ${facts.key}` };
      let response = queued;
      while (response["status"] === "queued" || response["status"] === "in_progress")
        response = (await (await fetch(address, { headers })).json()) as JsonObject;
      assert.deepEqual([response["id"], response["status"]], [queued["id"], "completed"]);
      const cancelled = await fetch(`${address}/cancel`, { headers, method: "POST" });
      assert.deepEqual(await cancelled.json(), response);
      const events = await eventsOf(facts, { ...request, background: true });
      const { id } = events[0]!["response"] as JsonObject;
      const again = await fetch(`${facts.url}/v1/responses/${String(id)}?stream=true&starting_after=1`, { headers });
      assert.deepEqual(readData(await again.text()), events.slice(2));
    },
  },
  {
    name: "what chat completions cannot express is refused by name in a response's request",
    shows: ["responses/refused-parameters"],
    withoutClient: true,
    async run({ facts }) {
      for (const [param, more] of [
        ["tools[0].type", { tools: [{ type: "web_search" }] }],
        ["conversation", { conversation: "conv_1" }],
      ] as const) {
        const { body, status } = await ask(facts, { ...request, ...more });
        const error = body["error"] as JsonObject;
        assert.deepEqual([status, error["code"], error["param"]], [400, "unsupported_parameter", param]);
      }
    },
  },
];

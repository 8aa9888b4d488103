/** Anthropic's Messages API, as Sounding promises it for engines of chat completions. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { post } from "./raw-request.ts";

const request = { model: "assistant", max_tokens: 100, messages: [{ role: "user", content: "Hello?" }] };

/** With the key where Anthropic's clients have it. */
async function ask({ url, key }: Facts, body: object, path = "/v1/messages") {
  const headers = { "x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json" };
  const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { response, body: (await response.json()) as JsonObject };
}

/** The names of a stream's events, and the data of the last. */
async function eventsOf(facts: Facts, body: object): Promise<{ names: string[]; last: JsonObject }> {
  const response = await post(facts, "/v1/messages", { ...body, stream: true });
  assert.equal(response.status, 200);
  const text = await response.text();
  const names = [...text.matchAll(/^event: (?<name>\w+)$/gm)].map(({ groups }) => groups!["name"]!);
  const data = [...text.matchAll(/^data: (?<data>.*)$/gm)].map(({ groups }) => groups!["data"]!);
  return { names, last: JSON.parse(data.at(-1)!) as JsonObject };
}

export const messagesCases: readonly InterfaceCase[] = [
  {
    name: "a message has Anthropic's form, and the key may be in x-api-key",
    shows: ["messages/messages-api", "messages/key", "messages/message-usage"],
    withoutClient: true,
    async run({ facts }) {
      const { body, response } = await ask(facts, request);
      assert.equal(response.status, 200);
      const { content, id, ...rest } = body;
      assert.match(String(id), /^msg_/);
      assert.equal((content as JsonObject[])[0]?.["type"], "text");
      assert.deepEqual(rest, {
        type: "message",
        role: "assistant",
        model: "assistant",
        stop_reason: "end_turn",
        stop_sequence: null,
        stop_details: null,
        usage: { input_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 2 },
      });
    },
  },
  {
    name: "a streamed message ends with message_stop, or with an error",
    shows: ["messages/message-streams"],
    withoutClient: true,
    async run({ facts }) {
      const whole = await eventsOf(facts, request);
      assert.deepEqual(
        whole.names.filter((name) => name !== "ping"),
        [
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
          "message_stop",
        ],
      );
      const broken = await eventsOf(facts, { ...request, metadata: { user_id: "breaks off" } });
      assert.equal(broken.names.at(-1), "error");
      assert.ok(!broken.names.includes("message_stop"));
      assert.equal(broken.last["type"], "error");
    },
  },
  {
    name: "what chat completions cannot express is refused by name",
    shows: ["messages/refusals-by-name", "messages/message-errors"],
    withoutClient: true,
    async run({ facts }) {
      const tools = [{ type: "web_search_20250305", name: "web_search" }];
      const { body, response } = await ask(facts, { ...request, tools });
      assert.equal(response.status, 400);
      const { error, type } = body as { type: string; error: JsonObject };
      assert.deepEqual([type, error["type"]], ["error", "invalid_request_error"]);
      assert.match(String(error["message"]), /^tools\[0\]\.type/);
      assert.equal(body["request_id"], response.headers.get("request-id"));
      const unknown = await ask(facts, { ...request, model: "nothing" });
      assert.deepEqual(
        [unknown.response.status, (unknown.body["error"] as JsonObject)["type"]],
        [404, "not_found_error"],
      );
    },
  },
  {
    name: "tokens are counted, or estimated and marked so",
    shows: ["messages/token-counts"],
    withoutClient: true,
    async run({ facts }) {
      const { body, response } = await ask(facts, request, "/v1/messages/count_tokens");
      assert.ok(Number(body["input_tokens"]) > 0);
      assert.equal(response.headers.get("x-token-count"), "estimate");
    },
  },
  {
    name: "models have Anthropic's form for clients that send anthropic-version",
    shows: ["messages/models-for-anthropic-s-clients"],
    withoutClient: true,
    async run({ facts }) {
      const headers = { authorization: `Bearer ${facts.key}`, "anthropic-version": "2023-06-01" };
      const list = await fetch(`${facts.url}/v1/models?limit=1`, { headers });
      const { data, has_more: hasMore } = (await list.json()) as { data: JsonObject[]; has_more: boolean };
      assert.deepEqual([data.length, data[0]?.["type"], hasMore], [1, "model", true]);
      const one = await fetch(`${facts.url}/v1/models/assistant`, { headers });
      assert.equal(((await one.json()) as JsonObject)["display_name"], "assistant");
    },
  },
];

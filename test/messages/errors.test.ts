/** Errors of the Messages API, its hostile requests, and its keys. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatCompletion, startMessagesServer, type MessagesServer } from "../support/messages-server.ts";

const request = { model: "assistant", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };

interface ErrorBody {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id?: string;
}

describe("errors of the Messages API", () => {
  let setting: MessagesServer;
  beforeTests(async (stack) => {
    setting = stack.use(
      await startMessagesServer({ chat: (exchange) => exchange.answer(chatCompletion({ content: "Hi" })) }),
    );
  });

  async function refused(body: object | string, headers = {}, path?: string): Promise<[number, string, string]> {
    const response = await setting.post(body, headers, path);
    const { error, type } = (await response.json()) as ErrorBody;
    assert.equal(type, "error");
    return [response.status, error.type, error.message];
  }

  test("have Anthropic's shape and types", async () => {
    const cases: [object, object, number, string, RegExp][] = [
      [{ ...request, max_tokens: undefined }, {}, 400, "invalid_request_error", /^max_tokens is missing/],
      [{ ...request, messages: [] }, {}, 400, "invalid_request_error", /^messages /],
      [
        { ...request, messages: [{ role: "user", content: [{ type: "text" }] }] },
        {},
        400,
        "invalid_request_error",
        /^messages\[0\]\.content\[0\]\.text is missing/,
      ],
      [request, { "x-api-key": "sk-wrong" }, 401, "authentication_error", /key/],
      [{ ...request, model: "nothing" }, {}, 404, "not_found_error", /nothing/],
    ];
    for (const [body, headers, status, type, words] of cases) {
      for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
        if (path.endsWith("count_tokens") && !("max_tokens" in body && body.max_tokens !== undefined)) continue;
        const [seen, seenType, message] = await refused(body, headers, path);
        assert.deepEqual([seen, seenType], [status, type], message);
        assert.match(message, words);
      }
    }
    assert.deepEqual((await refused(request, {}, "/v1/messages/nothing")).slice(0, 2), [404, "not_found_error"]);
    const wrongMethod = await fetch(`${setting.server.url}/v1/messages`, {
      headers: { "x-api-key": setting.server.key },
    });
    assert.equal(wrongMethod.status, 405);
    assert.equal(((await wrongMethod.json()) as ErrorBody).type, "error");
    const malformed = await fetch(`${setting.server.url}/v1/messages`, {
      method: "POST",
      body: "{",
      headers: { "x-api-key": setting.server.key, "content-type": "application/json" },
    });
    assert.deepEqual([malformed.status, ((await malformed.json()) as ErrorBody).type], [400, "error"]);
  });

  test("hold hostile requests to the documented limits", async () => {
    const deep = (levels: number): string => {
      const schema = `${'{"a":'.repeat(levels)}{}${"}".repeat(levels)}`;
      return `{"tools":[{"name":"a","input_schema":${schema}}],${JSON.stringify(request).slice(1)}`;
    };
    const blocks = (count: number, block: object) => ({
      ...request,
      messages: [{ role: "user", content: Array.from({ length: count }, () => block) }],
    });
    const text = { type: "text", text: "x" };
    assert.deepEqual((await refused(deep(10_000))).slice(0, 2), [400, "invalid_request_error"]);
    assert.deepEqual((await refused(blocks(2_049, text))).slice(0, 2), [400, "invalid_request_error"]);
    assert.deepEqual((await refused(blocks(1_000_000, text))).slice(0, 2), [413, "request_too_large"]);
    const image = { type: "base64", media_type: "image/png", data: "A".repeat(12_500_000) };
    const pictures = blocks(4, { type: "image", source: image });
    assert.deepEqual((await refused(pictures)).slice(0, 2), [413, "request_too_large"]);
    const results = { type: "tool_result", tool_use_id: "a", content: Array.from({ length: 2_049 }, () => text) };
    assert.deepEqual((await refused(blocks(1, results))).slice(0, 2), [400, "invalid_request_error"]);
    const tools = Array.from({ length: 1_025 }, (_, index) => ({ name: `t${index}`, input_schema: {} }));
    assert.deepEqual((await refused({ ...request, tools })).slice(0, 2), [400, "invalid_request_error"]);
    const content = [{ type: "thinking", thinking: "", signature: `sounding-${"A".repeat(1_000_000)}` }];
    const forged = { ...request, messages: [{ role: "assistant", content }, ...request.messages] };
    assert.match((await refused(forged))[2], /^messages\[0\]\.content\[0\]\.signature was changed/);
    assert.equal((await setting.post(blocks(2_048, text))).status, 200);
    assert.equal((await setting.post(deep(30))).status, 200);
  });

  test("treat names like __proto__ as any other", async () => {
    const body = `{"model":"assistant","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"__proto__":{"stream":true},"constructor":1}`;
    const response = await fetch(`${setting.server.url}/v1/messages`, {
      method: "POST",
      body,
      headers: { "x-api-key": setting.server.key, "content-type": "application/json" },
    });
    assert.equal(response.status, 200);
    assert.equal(((await response.json()) as JsonObject)["type"], "message");
  });
});

/** Hostile requests of the Responses API, held to the documented limits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatCompletion } from "../support/messages-server.ts";
import { openAiResponse, startResponsesServer, type ResponsesServer } from "../support/responses-server.ts";

const times = (count: number, value: object) => Array.from({ length: count }, () => value);

describe("a hostile request of the Responses API", { timeout: 120_000 }, () => {
  let setting: ResponsesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    setting.responses.script = (exchange) => exchange.answer(openAiResponse());
  });

  for (const model of ["native", "assistant"]) {
    test(`is refused before it reaches the upstream of ${model}`, async () => {
      const upstream = model === "native" ? setting.responses : setting.chat;
      const before = upstream.exchanges.length;
      const refused = async (body: object | string): Promise<[number, unknown]> => {
        const response = await setting.post(body);
        const { error } = (await response.json()) as { error: JsonObject };
        return [response.status, error["code"]];
      };
      const deep = (levels: number): string =>
        `{"model":"${model}","input":[{"role":"user","content":"x","a":${"[".repeat(levels)}${"]".repeat(levels)}}]}`;
      const message = { role: "user", content: "x" };
      const picture = { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(12_500_000)}` };
      assert.deepEqual(await refused(deep(10_000)), [400, "invalid_json"]);
      assert.deepEqual(await refused({ model, input: times(1_000_000, {}) }), [413, "payload_too_large"]);
      const pictures = [{ role: "user", content: times(4, picture) }];
      assert.deepEqual(await refused({ model, input: pictures }), [413, "payload_too_large"]);
      const tools = Array.from({ length: 1_025 }, (_, index) => ({ type: "function", name: `t${index}` }));
      assert.deepEqual(await refused({ model, input: "x", tools }), [400, null]);
      assert.equal(upstream.exchanges.length, before);
      assert.equal((await setting.post(deep(30))).status, 200);
      assert.equal((await setting.post({ model, input: times(1_000, message) })).status, 200);
    });
  }
});

/** Completions of raw prompts, as Sounding promises them. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { post } from "./raw-request.ts";

async function ask(facts: Facts, body: object): Promise<{ status: number; body: JsonObject }> {
  const response = await post(facts, "/v1/completions", { prompt: "Once upon a time", max_tokens: 5, ...body });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

export const completionCases: readonly InterfaceCase[] = [
  {
    name: "a local model continues a raw prompt, and refuses what it cannot honour by name",
    shows: ["completions/raw-prompts"],
    withoutClient: true,
    async run({ facts }) {
      const { body, status } = await ask(facts, { model: "sounding-trial" });
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body["object"], "text_completion");
      const [choice] = body["choices"] as JsonObject[];
      assert.deepEqual([choice!["index"], typeof choice!["text"]], [0, "string"]);
      for (const [param, more] of [
        ["suffix", { suffix: "x" }],
        ["echo", { echo: true }],
        ["best_of", { best_of: 2 }],
        ["logprobs", { logprobs: 1 }],
        ["prompt", { prompt: [1] }],
      ] as const) {
        const refused = await ask(facts, { model: "sounding-trial", ...more });
        const error = refused.body["error"] as JsonObject;
        assert.deepEqual([refused.status, error["code"], error["param"]], [400, "unsupported_parameter", param]);
      }
    },
  },
];

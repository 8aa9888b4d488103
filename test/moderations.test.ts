/** `POST /v1/moderations` by the endpoint of a guardrail. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI from "openai";
import { ModerationAnswer } from "../packages/server/src/api/moderations.ts";
import { satisfies } from "../packages/server/src/api/validate.ts";
import type { JsonObject } from "../packages/server/src/json-object.ts";
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../packages/server/test/support/scripted-upstream.ts";
import { beforeEachTest, beforeTests } from "./support/hooks.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const classify: Script = (exchange) => {
  const { input } = exchange.json as { input: unknown };
  const parts = Array.isArray(input) && typeof input[0] === "string" ? (input as string[]) : [JSON.stringify(input)];
  const results = parts.map((text) => ({
    flagged: text.includes("threat"),
    categories: { violence: text.includes("threat") },
    category_scores: { violence: text.includes("threat") ? 0.9 : 0.1 },
  }));
  exchange.answer({ id: "modr-upstream", model: "omni-moderation-2024-09-26", results });
};

describe("moderations", () => {
  let server: RunningServer;
  let endpoint: ScriptedUpstream;
  beforeTests(async (stack) => {
    endpoint = await startScriptedUpstream(classify);
    stack.defer(() => endpoint.close());
    const categories = "{ violence: { action: block } }";
    const judge = (more: string): string =>
      `{ type: moderation, base_url: "${endpoint.url}/v1", api_key: sk-moderation, categories: ${categories}, ${more} }`;
    server = stack.use(
      await startServer(`
guardrails:
  elsewhere: ${judge("model: foreign, organizations: [others]")}
  judge: ${judge("model: omni-moderation-latest")}
  second: ${judge("model: another")}
`),
    );
  });
  beforeEachTest(() => {
    endpoint.script = classify;
  });

  async function ask(body: object): Promise<{ status: number; body: JsonObject }> {
    const response = await server.call("/v1/moderations", body);
    return { status: response.status, body: (await response.json()) as JsonObject };
  }

  test("answer as the endpoint does, for texts and for parts", async () => {
    const { body, status } = await ask({ input: ["a threat", "tea"] });
    assert.equal(status, 200);
    assert.ok(satisfies(ModerationAnswer, { ...body }));
    assert.deepEqual(
      (body["results"] as JsonObject[]).map(({ flagged }) => flagged),
      [true, false],
    );
    const { headers, json } = endpoint.exchanges.at(-1)!;
    assert.deepEqual(json, { model: "omni-moderation-latest", input: ["a threat", "tea"] });
    assert.equal(headers.authorization, "Bearer sk-moderation");
    const parts = [
      { type: "text", text: "threat" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    ];
    assert.equal(((await ask({ input: parts })).body["results"] as JsonObject[]).length, 1);
    assert.equal((await ask({ input: "tea", model: "second" })).status, 200);
    assert.equal((endpoint.exchanges.at(-1)!.json as JsonObject)["model"], "another");
  });

  test("work with OpenAI's SDK", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const { results } = await client.moderations.create({ input: "a threat", model: "omni-moderation-latest" });
    assert.deepEqual([results[0]!.flagged, results[0]!.category_scores.violence], [true, 0.9]);
  });

  test("know only what applies to the caller", async () => {
    const refused = await ask({ input: "tea", model: "foreign" });
    const { code, message } = refused.body["error"] as { code: string; message: string };
    assert.deepEqual([refused.status, code], [404, "model_not_found"]);
    assert.match(message, /expected one of "omni-moderation-latest", "another"/);
    assert.ok(!message.includes("elsewhere"));
  });

  test("refuse what they cannot take, and fail as the endpoint does", async () => {
    for (const input of ["", [], [1], Array.from({ length: 2_049 }, () => "x")]) {
      const { body, status } = await ask({ input });
      assert.deepEqual([status, String((body["error"] as JsonObject)["param"]).slice(0, 5)], [400, "input"]);
    }
    endpoint.script = (exchange) => exchange.answer({ results: [] });
    assert.equal((await ask({ input: "tea" })).status, 502);
    endpoint.script = (exchange) => exchange.answer({ error: { message: "Slow down." } }, 429);
    assert.equal((await ask({ input: "tea" })).status, 429);
  });

  test("say what is missing where no endpoint is configured", async () => {
    await using other = await startServer("");
    const response = await other.call("/v1/moderations", { input: "tea" });
    const { error } = (await response.json()) as { error: { message: string } };
    assert.equal(response.status, 404);
    assert.match(error.message, /add a guardrail of type moderation/);
  });
});

/** Requests that try to block a local model: each fails alone, or waits for its turn. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChatRequest } from "../../src/api/chat-request.ts";
import { callOf, contentOf, startTrialEngine, type TrialEngine } from "./trial-engine.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

type Schema = Record<string, unknown>;

function schemaFormat(schema: Schema): Pick<ChatRequest, "response_format"> {
  return { response_format: { type: "json_schema", json_schema: { name: "hostile", schema } } };
}

/** Ten references to the next level, twelve levels deep: 10¹² ways to the only value. */
function widening(): Schema {
  const levels = Array.from({ length: 12 }, (_, level): [string, Schema] => [
    `a${level}`,
    { anyOf: Array.from({ length: 10 }, () => ({ $ref: `#/$defs/a${level + 1}` })) },
  ]);
  return { $defs: Object.fromEntries([...levels, ["a12", { const: "end" }]]), $ref: "#/$defs/a0" };
}

/** The same, with a separate alternative next to each reference. */
function wideningWithAlternatives(): Schema {
  const levels = Array.from({ length: 12 }, (_, level): [string, Schema] => [
    `a${level}`,
    {
      anyOf: Array.from({ length: 10 }, (__, index) => ({
        anyOf: [{ $ref: `#/$defs/a${level + 1}` }, { const: index }],
      })),
    },
  ]);
  return { $defs: Object.fromEntries([...levels, ["a12", { const: "end" }]]), $ref: "#/$defs/a0" };
}

function properties(count: number, schema: Schema | boolean = { type: "integer" }): Schema {
  const names = Array.from({ length: count }, (_, index) => [`p${index}`, schema]);
  return { type: "object", properties: Object.fromEntries(names), additionalProperties: false };
}

describe("hostile requests to a llama.cpp model", () => {
  let trial: TrialEngine;
  beforeTests(async (stack) => {
    trial = await startTrialEngine("default", {
      chat_template:
        "{% if spin %}{% for a in range(spin) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}{% endif %}" +
        "{% if swell %}{% set ns = namespace(items=[]) %}{% for a in range(swell) %}{% for b in range(9999) %}{% set ns.items = ns.items + [range(9999)] %}{% endfor %}{% endfor %}{% endif %}" +
        "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}<|assistant|>",
    });
    stack.defer(() => trial.close());
    await trial.complete({ max_tokens: 1 });
  });

  test("a prompt of 15 MB is refused by its length, without work on the main thread", async () => {
    const content = "A".repeat(15 * 1024 * 1024);
    const call = callOf({ messages: [{ role: "user", content }] });
    const start = process.threadCpuUsage();
    await assert.rejects(trial.engine.chat!("trial")!.complete(call), {
      code: "context_length_exceeded",
      param: "messages",
    });
    const { user, system } = process.threadCpuUsage(start);
    assert.ok(user + system < 50_000, `${(user + system) / 1_000} ms`);
  });

  test("a hundred thousand messages are refused by their number", async () => {
    const messages = Array.from({ length: 100_000 }, () => ({ role: "user" as const, content: "" }));
    await assert.rejects(trial.complete({ messages }), { code: "context_length_exceeded", param: "messages" });
  });

  for (const [what, schema] of [
    ["ten times the same reference on twelve levels", widening()],
    ["ten different alternatives with the same reference on twelve levels", wideningWithAlternatives()],
  ] as const) {
    test(`a schema with ${what} is answered`, async () => {
      const completion = await trial.complete({ max_tokens: 32, temperature: 0, ...schemaFormat(schema) });
      assert.ok(["end", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].includes(JSON.parse(contentOf(completion)) as never));
    });
  }

  test("an object of 3,000 optional properties is answered", async () => {
    const completion = await trial.complete({ max_tokens: 200, seed: 1, ...schemaFormat(properties(3_000)) });
    assert.match(contentOf(completion), /^\{/);
  });

  test("optional properties keep their order, each at most once", async () => {
    for (const seed of [1, 2, 3]) {
      const completion = await trial.complete({ seed, temperature: 2, ...schemaFormat(properties(4)) });
      if (completion.choices[0]?.finish_reason === "length") continue;
      const names = Object.keys(JSON.parse(contentOf(completion)) as object);
      assert.deepEqual(names, names.toSorted());
    }
  });

  for (const [name, schema, param] of [
    [
      "a pattern with counts in counts",
      { type: "string", pattern: "^(((a?){100}){100}){100}$" },
      "response_format.json_schema.schema",
    ],
    [
      "an enum with too many values",
      { enum: Array.from({ length: 1_001 }, (_, index) => index) },
      "response_format.json_schema.schema.enum",
    ],
    [
      "oneOf with too many branches",
      { oneOf: Array.from({ length: 201 }, (_, index) => ({ const: index })) },
      "response_format.json_schema.schema.oneOf",
    ],
    ["more text than a schema may have", { description: "x".repeat(300_000) }, "response_format.json_schema.schema"],
    [
      "more members than a schema may have",
      { default: Array.from({ length: 50_001 }, () => 1) },
      "response_format.json_schema.schema",
    ],
    [
      "a grammar of too many nodes",
      { anyOf: Array.from({ length: 90 }, () => properties(300, true)) },
      "response_format.json_schema.schema",
    ],
  ] as const) {
    test(`${name}: refused as an invalid request`, async () => {
      await assert.rejects(trial.complete({ max_tokens: 8, ...schemaFormat(schema) }), {
        code: "invalid_request",
        param,
      });
    });
  }

  test("schemas of tools have the same limits", async () => {
    const parameters = { type: "object", properties: { a: { type: "string", description: "x".repeat(1_100_000) } } };
    await assert.rejects(trial.complete({ tools: [{ type: "function", function: { name: "long", parameters } }] }), {
      code: "invalid_request",
      param: "tools",
    });
  });

  for (const [param, request] of [
    ["logit_bias", { logit_bias: Object.fromEntries(Array.from({ length: 1_025 }, (_, index) => [index, 1])) }],
    ["stop[1]", { stop: ["a", "a".repeat(1_025)] }],
    ["logprobs", { logprobs: true, top_logprobs: 20, n: 8 }],
    ["chat_template_kwargs", { chat_template_kwargs: { text: "x".repeat(70_000) } }],
  ] as const) {
    test(`${param} has a limit`, async () => {
      await assert.rejects(trial.complete(request as Partial<ChatRequest>), { code: "invalid_request", param });
    });
  }

  for (const variable of ["spin", "swell"]) {
    test(`a template that does not end because of ${variable} fails only its call`, async () => {
      const request = { chat_template_kwargs: { [variable]: 9999 } } as Partial<ChatRequest>;
      await assert.rejects(trial.complete(request), {
        code: "invalid_request",
        message: /too much (?:CPU time|memory)/,
      });
      assert.equal((await trial.complete({ max_tokens: 3 })).usage?.completion_tokens, 3);
    });
  }
});

test("a prompt of more tokens than the context holds is refused before all of it is turned into tokens", async () => {
  const trial = await startTrialEngine("default", { context_size: 16_384 });
  try {
    await assert.rejects(trial.complete({ messages: [{ role: "user", content: "A".repeat(250_000) }] }), {
      code: "context_length_exceeded",
      message: /tokens or more/,
    });
  } finally {
    await trial.close();
  }
});

test("one organization's single call is answered before another's forty waiting calls", async () => {
  const trial = await startTrialEngine("default", { parallel: 1, queue_limit: 100 });
  try {
    await trial.complete({ max_tokens: 1 });
    const order: string[] = [];
    const call = (organization: string) =>
      trial.completeFor(organization, { max_tokens: 4 }).then(() => void order.push(organization));
    const crowd = Array.from({ length: 40 }, () => call("crowd"));
    await Promise.all([...crowd, call("single")]);
    assert.ok(order.indexOf("single") < 20, `it was number ${order.indexOf("single")}`);
  } finally {
    await trial.close();
  }
});

/** Completions of raw prompts: passed through, guarded, recorded, limited, and refused where no engine can. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import OpenAI, { BadRequestError } from "openai";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, contentOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const usage = { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 };
const head = { id: "cmpl-0123456789abcdef0123", object: "text_completion", created: 1_795_000_000, model: "m-2026" };
const logprobs = { tokens: [" a"], token_logprobs: [-0.5], top_logprobs: null, text_offset: [16] };
const completion = {
  ...head,
  choices: [
    { index: 0, text: " there was", logprobs, finish_reason: "length" },
    { index: 1, text: " a sea.", logprobs, finish_reason: "stop" },
  ],
  usage,
  a_new_member: true,
};
const chunk = (text: string, reason: string | null = null) => ({
  ...head,
  choices: [{ index: 0, text, logprobs: null, finish_reason: reason }],
});
const chunks = [chunk(" there"), chunk(" was", "length"), { ...head, choices: [], usage }];

describe("completions of raw prompts", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = stack.use(await startScriptedUpstream(() => {}));
    server = stack.use(
      await startServer(
        `
engines:
  first: { type: openai_compatible, base_url: "${upstream.url}/v1" }
  plain: { type: openai_compatible, base_url: "${upstream.url}/v1", stream_usage: false, unsupported_parameters: [suffix] }
  azure: { type: azure_openai, base_url: "${upstream.url}", api_key: a, api_version: "2024-06-01", deployments: { m: d } }
  claude: { type: anthropic, api_key: k, base_url: "${upstream.url}/v1", models: [c] }
models:
  one: { targets: [{ engine: first, model: m }], retries: { attempts: 0 } }
  plain: { targets: [{ engine: plain, model: m }], retries: { attempts: 0 } }
  azure: { targets: [{ engine: azure, model: m }] }
  claude: { targets: [{ engine: claude, model: c }] }
  unstable: { targets: [{ engine: first, model: m }], retries: { attempts: 1, backoff_ms: 1 } }
  guarded: { targets: [{ engine: first, model: m }] }
  checked: { targets: [{ engine: first, model: m }] }
guardrails:
  words: { type: rules, models: [guarded], rules: [{ category: illicit, words: [secret], action: redact }] }
  prompts: { type: rules, models: [checked], check: [input], rules: [{ category: illicit, words: [secret], action: redact }] }
telemetry: { token_prices: { one: { input: 1, output: 2 } } }
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    upstream.script = answer;
  });

  async function answer(exchange: Parameters<typeof upstream.script>[0]): Promise<void> {
    if ((exchange.json as JsonObject)["stream"] !== true) return exchange.answer(completion);
    exchange.beginEvents();
    await exchange.sendEvents(...chunks, "[DONE]");
    exchange.end();
  }

  async function ask(body: object, headers: Record<string, string> = {}) {
    const response = await server.call(
      "/v1/completions",
      { model: "one", prompt: "Once upon a time", ...body },
      headers,
    );
    return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject };
  }

  async function stream(body: object): Promise<(JsonObject | string)[]> {
    const response = await server.call("/v1/completions", { model: "one", prompt: "Once", stream: true, ...body });
    assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
    const text = await response.text();
    return [...text.matchAll(/^data: (?<data>.*)$/gm)].map(({ groups }) =>
      groups!["data"] === "[DONE]" ? "[DONE]" : (JSON.parse(groups!["data"]!) as JsonObject),
    );
  }

  const refusal = ({ body, status }: { status: number; body: JsonObject }): unknown[] => {
    const { code, param } = body["error"] as JsonObject;
    return [status, code, param];
  };

  test("pass everything through except the model's name, and tell what it cost", async () => {
    const sent = { best_of: 3, n: 2, echo: true, suffix: "end", logprobs: 5, stop: ["\n"], user: "u", top_k: 4 };
    const { body, headers, status } = await ask(sent);
    assert.equal(status, 200);
    const cost = { cost: 0.000016, cost_details: (body["usage"] as JsonObject)["cost_details"] };
    assert.deepEqual(body, { ...completion, model: "one", usage: { ...usage, ...cost } });
    assert.equal(headers.get("x-cost"), "0.000016");
    const { json, path } = upstream.exchanges.at(-1)!;
    assert.deepEqual([path, json], ["/v1/completions", { model: "m", prompt: "Once upon a time", ...sent }]);
    await ask({ model: "azure", prompt: [[1, 2], [3]] });
    assert.equal(upstream.exchanges.at(-1)!.path, "/openai/deployments/d/completions?api-version=2024-06-01");
  });

  test("stream chunks as they came, and the usage only to those who ask", async () => {
    const shown = chunks.slice(0, 2).map((each) => ({ ...each, model: "one" }));
    assert.deepEqual(await stream({}), [...shown, "[DONE]"]);
    assert.deepEqual((upstream.exchanges.at(-1)!.json as JsonObject)["stream_options"], { include_usage: true });
    const [first, second, last, done] = await stream({ stream_options: { include_usage: true } });
    assert.deepEqual(
      [first, second],
      shown.map((each) => ({ ...each, usage: null })),
    );
    assert.equal(((last as JsonObject)["usage"] as JsonObject)["total_tokens"], 10);
    assert.deepEqual([(last as JsonObject)["choices"], done], [[], "[DONE]"]);
    await stream({ model: "plain" });
    assert.equal("stream_options" in (upstream.exchanges.at(-1)!.json as JsonObject), false);
  });

  test("fail visibly where the engine does, and are tried again before the first chunk only", async () => {
    for (const [name, cut] of [
      ["cut", [chunk(" there")]],
      ["an error", [chunk(" there"), { error: { message: "no luck", type: "server_error" } }]],
      ["not JSON", [chunk(" there"), "{"]],
    ] as const) {
      upstream.script = async (exchange) => {
        exchange.beginEvents();
        await exchange.sendEvents(...cut);
        exchange.end();
      };
      const events = await stream({ model: "unstable" });
      assert.ok("error" in (events.at(-1) as JsonObject), name);
      assert.notEqual(events.at(-1), "[DONE]");
    }
    let calls = 0;
    upstream.script = async (exchange) =>
      calls++ === 0 ? exchange.answer({ error: { message: "x" } }, 503) : answer(exchange);
    assert.equal((await stream({ model: "unstable" })).at(-1), "[DONE]");
    // Some engines leave out the last line.
    upstream.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(...chunks);
      exchange.end();
    };
    assert.equal((await stream({})).at(-1), "[DONE]");
    upstream.script = answer;
  });

  test("are refused by name where no engine can continue a raw prompt, or the engine has not the parameter", async () => {
    assert.deepEqual(refusal(await ask({ model: "claude" })), [400, "unsupported_parameter", "model"]);
    assert.deepEqual(refusal(await ask({ model: "plain", suffix: "x" })), [400, "unsupported_parameter", "suffix"]);
    for (const [param, body] of [
      ["prompt", { prompt: 1 }],
      ["prompt", { prompt: [] }],
      ["best_of", { best_of: 1000 }],
      ["stream_options", { stream_options: { include_usage: true } }],
    ] as const)
      assert.deepEqual(refusal(await ask(body)), [400, null, param]);
    assert.equal((await ask({ model: "unknown" })).status, 404);
  });

  test("are guarded: prompts and answers, batch and streaming", async () => {
    upstream.script = async (exchange) => {
      if ((exchange.json as JsonObject)["stream"] !== true)
        return exchange.answer({ ...head, choices: [{ index: 0, text: "my secret", finish_reason: "stop" }], usage });
      exchange.beginEvents();
      await exchange.sendEvents(chunk("my sec"), chunk("ret", "stop"), "[DONE]");
      exchange.end();
    };
    const { body } = await ask({ model: "guarded", prompt: ["a secret", "b"], suffix: "secret" });
    assert.doesNotMatch(JSON.stringify(body), /secret/);
    const { prompt, suffix } = upstream.exchanges.at(-1)!.json as { prompt: string[]; suffix: string };
    assert.doesNotMatch(JSON.stringify([prompt, suffix]), /secret/);
    assert.deepEqual([prompt.length, prompt[1]], [2, "b"]);
    assert.doesNotMatch(JSON.stringify(await stream({ model: "guarded", prompt: "secret" })), /secret|sec"/);
    assert.match(JSON.stringify(await stream({ model: "checked", prompt: "secret" })), /my sec/);
    assert.doesNotMatch(JSON.stringify(upstream.exchanges.at(-1)!.json), /secret/);
    for (const [param, more] of [
      ["logprobs", { logprobs: 1 }],
      ["prompt", { prompt: [1, 2] }],
    ] as const)
      assert.deepEqual(refusal(await ask({ model: "guarded", ...more })), [400, "unsupported_parameter", param]);
    upstream.script = answer;
  });

  test("have spans with their operation, content and tokens", async () => {
    const client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
    const made = await server.call(
      "/admin/v1/projects",
      { name: "recorded", settings: { record_content: true } },
      { authorization: `Bearer ${server.operatorKey}` },
    );
    assert.equal(made.status, 201);
    const { headers: trace, traceId } = newTrace();
    const headers = { ...trace, "x-project": "recorded" };
    assert.equal((await ask({ n: 2, max_tokens: 5, user: "ann" }, headers)).status, 200);
    assert.equal((await ask({ model: "claude" }, headers)).status, 400);
    const spans = await spansOf(client, traceId, 2);
    const span = spans.find(({ name }) => name === "text_completion one")!;
    const attributes = attributesOf(span);
    assert.deepEqual(
      ["operation.name", "usage.input_tokens", "usage.output_tokens", "request.max_tokens", "response.id"].map(
        (name) => attributes[`gen_ai.${name}`],
      ),
      ["text_completion", "4", "6", "5", head.id],
    );
    assert.match(JSON.stringify(contentOf(span)), /Once upon a time.*there was.*a sea/);
    assert.equal(
      attributesOf(spans.find(({ name }) => name === "text_completion claude")!)["error.type"],
      "unsupported_parameter",
    );
  });

  test("work with OpenAI's SDK, and belong to their key's limits", async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const whole = await client.completions.create({ model: "one", prompt: "Once", n: 2 });
    assert.deepEqual(
      whole.choices.map(({ text }) => text),
      [" there was", " a sea."],
    );
    let text = "";
    for await (const each of await client.completions.create({ model: "one", prompt: "Once", stream: true }))
      text += each.choices[0]!.text;
    assert.equal(text, " there was");
    await using limited = await startServer(`
discovery: { enabled: false }
limits: { key: { requests_per_minute: 1 } }
engines: { first: { type: openai_compatible, base_url: "${upstream.url}/v1" } }
models: { one: { targets: [{ engine: first, model: m }] } }
`);
    const statuses = [];
    for (let count = 0; count < 2; count += 1)
      statuses.push((await limited.call("/v1/completions", { model: "one", prompt: "Once" })).status);
    assert.deepEqual(statuses, [200, 429]);
  });

  test("of a local model continue one text, without its template", { timeout: 120_000 }, async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: 0 });
    const request = { model: "sounding-trial", prompt: "Once upon a time", temperature: 0, max_tokens: 8 } as const;
    const whole = await client.completions.create(request);
    assert.equal(whole.object, "text_completion");
    assert.match(whole.id, /^cmpl-/);
    assert.equal(whole.choices[0]!.finish_reason, "length");
    assert.equal(whole.usage?.completion_tokens, 8);
    // A token for each letter: the template adds none.
    assert.equal(whole.usage.prompt_tokens, request.prompt.length);
    let text = "";
    for await (const each of await client.completions.create({ ...request, stream: true }))
      text += each.choices[0]!.text;
    assert.equal(text, whole.choices[0]!.text);
    for (const [param, more] of [
      ["prompt", { prompt: ["a", "b"] as string[] }],
      ["prompt", { prompt: [1] as number[] }],
      ["suffix", { suffix: "x" }],
      ["echo", { echo: true }],
      ["best_of", { best_of: 2 }],
      ["logprobs", { logprobs: 1 }],
    ] satisfies [string, Partial<OpenAI.CompletionCreateParamsNonStreaming>][]) {
      await assert.rejects(client.completions.create({ ...request, ...more }), (error) => {
        assert.ok(error instanceof BadRequestError);
        assert.deepEqual([error.code, error.param], ["unsupported_parameter", param]);
        return true;
      });
    }
  });
});

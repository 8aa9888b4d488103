/** OpenAI's official SDK for Node, unchanged, against the whole server with a scripted engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from "openai";
import {
  startScriptedUpstream,
  type ScriptedUpstream,
  type Script,
} from "../packages/server/test/support/scripted-upstream.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const messages = [{ role: "user" as const, content: "Hello" }];
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const head = { id: "chatcmpl-1", created: 1_795_000_000, model: "upstream-model" };

function completion(message: object, finishReason = "stop") {
  return {
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: null, ...message },
        finish_reason: finishReason,
        logprobs: null,
      },
    ],
    usage,
  };
}

function chunk(delta: object, finishReason: string | null = null) {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

interface Setting extends AsyncDisposable {
  readonly upstream: ScriptedUpstream;
  readonly server: RunningServer;
  readonly client: OpenAI;
}

async function start(script: Script, options: { maxRetries?: number } = {}): Promise<Setting> {
  const upstream = await startScriptedUpstream(script);
  const server = await startServer(`
discovery: { enabled: false }
engines: { scripted: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream-model] } }
models: { assistant: { targets: [{ engine: scripted, model: upstream-model }], retries: { attempts: 1 } } }
`);
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key, maxRetries: options.maxRetries ?? 0 });
  return {
    upstream,
    server,
    client,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

const streaming: Script = async (exchange) => {
  exchange.beginEvents();
  await exchange.sendEvents(
    chunk({ role: "assistant", content: "Hel" }),
    chunk({ content: "lo." }),
    chunk({}, "stop"),
    { ...chunk({}), choices: [], usage },
    "[DONE]",
  );
  exchange.end();
};

describe("OpenAI's SDK", () => {
  test("lists the models and finds one", async () => {
    await using setting = await start(streaming);
    const models = await Array.fromAsync(await setting.client.models.list());
    assert.ok(models.some(({ id, object }) => id === "assistant" && object === "model"));
    assert.equal((await setting.client.models.retrieve("assistant")).id, "assistant");
  });

  test("gets a batch answer", async () => {
    await using setting = await start((exchange) => exchange.answer(completion({ content: "Hello." })));
    const answer = await setting.client.chat.completions.create({
      model: "assistant",
      messages,
      temperature: 0.5,
      user: "u-1",
    });
    assert.equal(answer.choices[0]?.message.content, "Hello.");
    assert.equal(answer.model, "assistant");
    assert.deepEqual(answer.usage, usage);
    assert.match(answer._request_id ?? "", /^req_/);
    assert.deepEqual(setting.upstream.exchanges[0]?.json, {
      model: "upstream-model",
      messages,
      temperature: 0.5,
      user: "u-1",
    });
  });

  test("gets a stream, with usage on request", async () => {
    await using setting = await start(streaming);
    const stream = await setting.client.chat.completions.create({
      model: "assistant",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    assert.equal(chunks.map((each) => each.choices[0]?.delta.content ?? "").join(""), "Hello.");
    assert.deepEqual(chunks.at(-1)?.usage, usage);
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  });

  test("assembles a stream with its own helper, which is strict", async () => {
    await using setting = await start(streaming);
    const final = await setting.client.chat.completions.stream({ model: "assistant", messages }).finalChatCompletion();
    assert.equal(final.choices[0]?.message.content, "Hello.");
  });

  test("calls tools, batch and streamed", async () => {
    const toolCall = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } };
    await using setting = await start(async (exchange) => {
      if ((exchange.json as { stream?: boolean }).stream !== true) {
        exchange.answer(completion({ tool_calls: [toolCall] }, "tool_calls"));
        return;
      }
      exchange.beginEvents();
      await exchange.sendEvents(
        chunk({ role: "assistant", tool_calls: [{ index: 0, ...toolCall, function: { name: "add", arguments: "" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1,' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: '"b":2}' } }] }),
        chunk({}, "tool_calls"),
        "[DONE]",
      );
      exchange.end();
    });
    const tools = [
      {
        type: "function" as const,
        function: {
          name: "add",
          parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
        },
      },
    ];
    const batch = await setting.client.chat.completions.create({ model: "assistant", messages, tools });
    assert.deepEqual(batch.choices[0]?.message.tool_calls, [toolCall]);
    const streamed = await setting.client.chat.completions
      .stream({ model: "assistant", messages, tools })
      .finalChatCompletion();
    const call = streamed.choices[0]?.message.tool_calls?.[0];
    assert.deepEqual(call?.type === "function" ? [call.id, call.function.name, call.function.arguments] : call, [
      "call_1",
      "add",
      '{"a":1,"b":2}',
    ]);
  });

  test("parses structured output", async () => {
    await using setting = await start((exchange) => exchange.answer(completion({ content: '{"city":"Paris"}' })));
    const schema = {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    };
    const answer = await setting.client.chat.completions.parse({
      model: "assistant",
      messages,
      response_format: { type: "json_schema", json_schema: { name: "place", schema, strict: true } },
    });
    assert.deepEqual(JSON.parse(answer.choices[0]?.message.content ?? ""), { city: "Paris" });
    assert.deepEqual((setting.upstream.exchanges[0]!.json as { response_format: object }).response_format, {
      type: "json_schema",
      json_schema: { name: "place", schema, strict: true },
    });
  });

  test("gets log probabilities", async () => {
    const logprobs = { content: [{ token: "Hi", logprob: -0.1, bytes: [72, 105], top_logprobs: [] }], refusal: null };
    await using setting = await start((exchange) => {
      const answer = completion({ content: "Hi" });
      exchange.answer({ ...answer, choices: [{ ...answer.choices[0], logprobs }] });
    });
    const answer = await setting.client.chat.completions.create({
      model: "assistant",
      messages,
      logprobs: true,
      top_logprobs: 0,
    });
    assert.deepEqual(answer.choices[0]?.logprobs, logprobs);
  });

  test("aborts a stream, and the engine stops", async () => {
    await using setting = await start(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ role: "assistant", content: "x" }));
      await exchange.stall();
    });
    const stream = await setting.client.chat.completions.create({ model: "assistant", messages, stream: true });
    for await (const each of stream) {
      assert.ok(each.choices.length > 0);
      break;
    }
    await setting.upstream.until(() => setting.upstream.aborts === 1, "the engine is told to stop");
  });

  test("aborts a batch call, and the engine stops", async () => {
    await using setting = await start((exchange) => exchange.stall());
    const controller = new AbortController();
    const call = setting.client.chat.completions.create(
      { model: "assistant", messages },
      { signal: controller.signal },
    );
    await setting.upstream.until(() => setting.upstream.exchanges.length === 1, "the engine is asked");
    controller.abort();
    await assert.rejects(call, APIUserAbortError);
    await setting.upstream.until(() => setting.upstream.aborts === 1, "the engine is told to stop");
  });

  test("throws when a stream breaks, and never treats it as complete", async () => {
    await using setting = await start(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ role: "assistant", content: "x" }));
      await exchange.stall();
    });
    const stream = await setting.client.chat.completions.create({ model: "assistant", messages, stream: true });
    await assert.rejects(async () => {
      for await (const each of stream) {
        assert.ok(each.choices.length > 0);
        setting.upstream.exchanges[0]?.cut();
      }
    }, APIError);
  });

  test("retries temporary errors, as the headers say", async () => {
    let calls = 0;
    await using setting = await start(
      (exchange) => {
        calls += 1;
        if (calls === 1) exchange.answer({ error: { message: "Slow down." } }, 429, { "retry-after-ms": "10" });
        else exchange.answer(completion({ content: "Hello." }));
      },
      { maxRetries: 2 },
    );
    const answer = await setting.client.chat.completions.create({ model: "assistant", messages });
    assert.equal(answer.choices[0]?.message.content, "Hello.");
  });
});

describe("OpenAI's SDK maps our errors to its classes", () => {
  const cases: [
    name: string,
    call: (setting: Setting) => Promise<unknown>,
    kind: abstract new (...values: never[]) => APIError,
    status: number,
    code: string | null,
  ][] = [
    [
      "a bad parameter",
      ({ client }) => client.chat.completions.create({ model: "assistant", messages, temperature: 9 }),
      BadRequestError,
      400,
      null,
    ],
    [
      "a wrong key",
      ({ server }) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "sk-wrong", maxRetries: 0 }).models.list(),
      AuthenticationError,
      401,
      "invalid_api_key",
    ],
    [
      "another organization's account",
      ({ client }) => client.models.list({ headers: { "x-account": "rivals" } }),
      PermissionDeniedError,
      403,
      "organization_mismatch",
    ],
    [
      "an unknown model",
      ({ client }) => client.chat.completions.create({ model: "nobody", messages }),
      NotFoundError,
      404,
      "model_not_found",
    ],
    [
      "an engine's 429",
      ({ client }) => client.chat.completions.create({ model: "assistant", messages, seed: 429 }),
      RateLimitError,
      429,
      "rate_limit_exceeded",
    ],
    [
      "an engine's 500",
      ({ client }) => client.chat.completions.create({ model: "assistant", messages, seed: 500 }),
      InternalServerError,
      502,
      "upstream_error",
    ],
  ];
  for (const [name, call, kind, status, code] of cases) {
    test(name, async () => {
      await using setting = await start((exchange) =>
        exchange.answer({ error: { message: "No." } }, (exchange.json as { seed: number }).seed),
      );
      await assert.rejects(call(setting), (error) => {
        assert.ok(error instanceof kind, String(error));
        assert.deepEqual([error.status, error.code], [status, code]);
        assert.ok(error.requestID);
        return true;
      });
    });
  }
});

/** Engines' errors, and what callers receive. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import type { LogFields } from "../../src/logger.ts";
import { silentLogger } from "../../src/logger.ts";
import { startScriptedUpstream, type Script } from "../support/scripted-upstream.ts";
import { chatModel, chunk, collect, completion, openEngine, toCall } from "./engine-call.ts";

type Expected = Partial<Pick<AppError, "code" | "param" | "wireCode" | "retryAfterMs">> & { readonly message?: RegExp };

async function refusals(script: Script): Promise<AppError[]> {
  await using upstream = await startScriptedUpstream(script);
  const engine = openEngine(upstream.url, { idle_timeout_ms: 300 });
  const model = chatModel(engine);
  const batch = await model.complete(toCall()).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { chunks, error } = await collect(model.stream(toCall({ stream: true })));
  assert.deepEqual(chunks, []);
  await engine.close();
  await upstream.until(() => upstream.openSockets === 0, "every connection is closed");
  assert.ok(batch instanceof AppError && error instanceof AppError, `${String(batch)} ${String(error)}`);
  return [batch, error];
}

async function assertRefused(script: Script, { message, ...members }: Expected): Promise<void> {
  for (const error of await refusals(script)) {
    const seen = Object.fromEntries(Object.keys(members).map((name) => [name, error[name as keyof AppError]]));
    assert.deepEqual(seen, members, error.message);
    if (message !== undefined) assert.match(error.message, message);
  }
}

const openAiError = (message: string, more: Record<string, unknown> = {}) => ({
  error: { message, type: "invalid_request_error", param: null, code: null, ...more },
});

const statuses: [name: string, status: number, body: unknown, expected: Expected, headers?: Record<string, string>][] =
  [
    [
      "a bad request with the engine's words",
      400,
      openAiError("'temperature' is too high", { param: "temperature", code: "invalid_value" }),
      {
        code: "invalid_request",
        param: "temperature",
        wireCode: "invalid_value",
        message: /^'temperature' is too high$/,
      },
    ],
    [
      "a prompt that is too long",
      400,
      openAiError("This model's maximum context length is 8192 tokens.", {
        code: "context_length_exceeded",
        param: "messages",
      }),
      { code: "context_length_exceeded", param: "messages", message: /8192/ },
    ],
    [
      "vLLM's prompt that is too long",
      400,
      {
        object: "error",
        message: "This model's maximum context length is 100 tokens. However, you requested 200 tokens",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
      { code: "context_length_exceeded", message: /However/ },
    ],
    [
      "llama-server's prompt that is too long",
      400,
      {
        error: {
          code: 400,
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
          n_ctx: 512,
        },
      },
      { code: "context_length_exceeded" },
    ],
    [
      "an unsupported parameter",
      400,
      openAiError("Unsupported parameter", { code: "unsupported_parameter", param: "max_tokens" }),
      { code: "unsupported_parameter", param: "max_tokens" },
    ],
    [
      "Azure's content filter",
      400,
      openAiError("filtered", { code: "content_filter", param: "prompt" }),
      { code: "content_filter", wireCode: "content_filter" },
    ],
    [
      "FastAPI's list of faults",
      422,
      { detail: [{ loc: ["body", "n"], msg: "too big" }] },
      { code: "invalid_request", message: /too big/ },
    ],
    ["a text", 400, "temperature must be a number", { code: "invalid_request", message: /^temperature must/ }],
    [
      "a bare text under error",
      400,
      { error: "no such template" },
      { code: "invalid_request", message: /^no such template$/ },
    ],
    ["a refusal without a reason", 400, "", { code: "invalid_request", message: /HTTP status 400/ }],
    [
      "a key in the engine's words",
      400,
      openAiError("bad key sk-abcdefghijklmnop"),
      { code: "invalid_request", message: /sk-abcd\[redacted\]/ },
    ],
    [
      "an unknown model",
      404,
      openAiError("The model `x` does not exist", { code: "model_not_found" }),
      { code: "model_not_found", param: "model", message: /`x`/ },
    ],
    [
      "Ollama's unknown model",
      404,
      openAiError('model "x" not found, try pulling it first', { type: "api_error" }),
      { code: "model_not_found" },
    ],
    ["an unknown path", 404, "<html>Not Found</html>", { code: "upstream_failed", message: /base_url/ }],
    [
      "OpenRouter's missing feature",
      404,
      { error: { message: "No endpoints found that support tool use", code: 404 } },
      { code: "invalid_request" },
    ],
    ["a body that is too large", 413, openAiError("too large"), { code: "payload_too_large" }],
    [
      "a wrong key",
      401,
      openAiError("Incorrect API key provided: sk-secret0123456789"),
      { code: "upstream_failed", message: /^The engine rejected its credentials\.$/ },
    ],
    [
      "a forbidden model",
      403,
      openAiError("project proj_x has no access"),
      { code: "upstream_failed", message: /^The engine rejected its credentials\.$/ },
    ],
    ["an account without credit", 402, openAiError("pay"), { code: "upstream_failed", message: /no credit/ }],
    [
      "a spent quota",
      429,
      openAiError("You exceeded your current quota", { type: "insufficient_quota", code: "insufficient_quota" }),
      { code: "upstream_failed", message: /no credit/ },
    ],
    ["a timeout of its own", 408, "", { code: "upstream_failed" }],
    [
      "a rate limit in seconds",
      429,
      openAiError("slow down"),
      { code: "rate_limited", retryAfterMs: 7_000 },
      { "retry-after": "7" },
    ],
    [
      "a rate limit in milliseconds",
      429,
      openAiError("slow down"),
      { code: "rate_limited", retryAfterMs: 150 },
      { "retry-after": "1", "retry-after-ms": "150" },
    ],
    [
      "a rate limit until a date that is past",
      429,
      "",
      { code: "rate_limited", retryAfterMs: 0 },
      { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" },
    ],
    ["a rate limit without a time", 429, "", { code: "rate_limited", retryAfterMs: undefined }],
    [
      "a failure",
      500,
      openAiError("CUDA out of memory on host gpu-7"),
      { code: "upstream_failed", message: /^The engine failed with HTTP status 500\.$/ },
    ],
    ["a bad gateway", 502, "<html></html>", { code: "upstream_failed" }],
    ["a gateway's timeout", 504, "", { code: "upstream_failed" }],
    ["too much load", 503, "", { code: "overloaded", retryAfterMs: 2_500 }, { "retry-after": "2.5" }],
    ["Anthropic's too much load", 529, "", { code: "overloaded" }],
  ];

describe("an engine refuses", () => {
  for (const [name, status, body, expected, headers] of statuses) {
    test(`with ${name} (${status})`, async () => {
      await assertRefused((exchange) => exchange.answer(body, status, headers), expected);
    });
  }

  test("with a message that is too long to show", async () => {
    await assertRefused(
      async (exchange) => {
        exchange.begin(400, { "content-type": "text/plain" });
        await exchange.flood("x".repeat(10_000));
      },
      { code: "invalid_request", message: /^x{2000}$/ },
    );
  });

  test("with a message that never ends", async () => {
    await assertRefused(
      async (exchange) => {
        exchange.begin(429, { "retry-after": "3" });
        await exchange.send("{");
        await exchange.stall();
      },
      { code: "rate_limited", retryAfterMs: 3_000 },
    );
  });

  const carried: [name: string, body: unknown, expected: Expected][] = [
    [
      "llama-server's",
      { error: { code: 503, message: "Loading model", type: "unavailable_error" } },
      { code: "overloaded" },
    ],
    [
      "OpenRouter's",
      { id: "gen-1", error: { code: 429, message: "rate-limited upstream" }, choices: [] },
      { code: "rate_limited" },
    ],
    [
      "vLLM's",
      { object: "error", message: "bad", type: "BadRequestError", param: null, code: 400 },
      { code: "invalid_request", message: /^bad$/ },
    ],
    ["a text", { error: "something broke" }, { code: "upstream_failed", message: /500/ }],
    [
      "one that has only a type",
      { error: { type: "overloaded_error", message: "Overloaded" } },
      { code: "overloaded" },
    ],
  ];
  for (const [name, body, expected] of carried) {
    test(`in an answer with status 200: ${name}`, async () => {
      await assertRefused((exchange) => exchange.answer(body), expected);
    });
    test(`in the first event of a stream: ${name}`, async () => {
      await using upstream = await startScriptedUpstream(async (exchange) => {
        exchange.beginEvents();
        await exchange.sendEvents(body);
        await exchange.stall();
      });
      const engine = openEngine(upstream.url);
      const { chunks, error } = await collect(chatModel(engine).stream(toCall({ stream: true })));
      assert.deepEqual(chunks, []);
      assert.equal(error?.code, expected.code);
      await upstream.until(() => upstream.aborts === 1, "the engine was cancelled");
      await engine.close();
    });
  }

  test("in the middle of a stream, after its content so far", async () => {
    await using upstream = await startScriptedUpstream(async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ content: "a" }), chunk({ content: "b" }), openAiError("no", { code: 503 }));
      await exchange.stall();
    });
    const engine = openEngine(upstream.url);
    const { chunks, error } = await collect(chatModel(engine).stream(toCall({ stream: true })));
    assert.equal(chunks.length, 2);
    assert.equal(error?.code, "overloaded");
    await upstream.until(() => upstream.openSockets === 0, "every connection is closed");
    await engine.close();
  });

  test("once, and answers the next call", async () => {
    await using upstream = await startScriptedUpstream((exchange) => {
      if (exchange.index === 0) exchange.answer(openAiError("slow down"), 429, { "retry-after": "1" });
      else exchange.answer(completion);
    });
    const engine = openEngine(upstream.url);
    const model = chatModel(engine);
    await assert.rejects(model.complete(toCall()), { code: "rate_limited", retryAfterMs: 1_000 });
    assert.equal((await model.complete(toCall())).id, completion.id);
    await engine.close();
  });

  test("the operator's key, and the log reports it once", async () => {
    const lines: LogFields[] = [];
    await using upstream = await startScriptedUpstream((exchange) => exchange.answer(openAiError("wrong key"), 401));
    const logger = { ...silentLogger, error: (fields: LogFields) => void lines.push(fields) };
    const engine = openEngine(upstream.url, {}, logger);
    await assert.rejects(chatModel(engine).complete(toCall()), { code: "upstream_failed" });
    await assert.rejects(chatModel(engine).complete(toCall()), { code: "upstream_failed" });
    assert.deepEqual(lines, [{ engine: "engine", status: 401 }]);
    await engine.close();
  });
});

describe("an engine that cannot be reached", () => {
  test("refuses the connection", async () => {
    const upstream = await startScriptedUpstream(() => {});
    await upstream.close();
    const engine = openEngine(upstream.url);
    await assert.rejects(chatModel(engine).complete(toCall()), {
      code: "upstream_failed",
      message: /refused the connection/,
    });
    const { error } = await collect(chatModel(engine).stream(toCall({ stream: true })));
    assert.equal(error?.code, "upstream_failed");
    await engine.close();
  });

  test("does not speak TLS", async () => {
    await using upstream = await startScriptedUpstream(() => {});
    const engine = openEngine(upstream.url.replace("http:", "https:"));
    await assert.rejects(chatModel(engine).complete(toCall()), {
      code: "upstream_failed",
      message: /may need http:\/\/ instead/,
    });
    await engine.close();
  });

  test("accepts the connection and never finishes TLS", async () => {
    const silent = createServer((socket) => void socket.resume().on("error", () => {})).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const engine = openEngine(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`, {
      connect_timeout_ms: 200,
    });
    await assert.rejects(chatModel(engine).complete(toCall()), {
      code: "upstream_timeout",
      message: /not accept a connection within 200 ms/,
    });
    await engine.close();
    silent.close();
    // Emitted only when the last connection is closed: the engine abandoned it.
    await once(silent, "close");
  });
});

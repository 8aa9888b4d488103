import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { APICallError } from "@ai-sdk/provider";
import { AppError } from "../../errors.ts";
import { createMistral } from "./mistral.ts";
import { toVendorError } from "./vendor-error.ts";

const vendor = createMistral({
  type: "mistral",
  api_key: "operators-key",
  base_url: "http://127.0.0.1:9",
  max_choices: 1,
  max_connections: 1,
  connect_timeout_ms: 1,
  first_byte_timeout_ms: 1,
  idle_timeout_ms: 1,
  total_timeout_ms: 1,
});

function answered(statusCode: number, message: string, responseHeaders: Record<string, string> = {}): AppError {
  const thrown = new APICallError({ message, statusCode, responseHeaders, url: "http://x", requestBodyValues: {} });
  return toVendorError(thrown, vendor);
}

describe("a vendor's failure", () => {
  test("reports when to retry, from seconds, milliseconds or a date", () => {
    assert.equal(answered(429, "slow down", { "retry-after": "2.5" }).retryAfterMs, 2500);
    assert.equal(answered(429, "slow down", { "retry-after-ms": "30", "retry-after": "9" }).retryAfterMs, 30);
    assert.equal(answered(429, "slow down", { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }).retryAfterMs, 0);
    const soon = answered(503, "busy", { "retry-after": new Date(Date.now() + 60_000).toUTCString() }).retryAfterMs;
    assert.ok(soon !== undefined && soon > 0 && soon <= 60_000);
    assert.equal(answered(429, "slow down", { "retry-after": "soon" }).retryAfterMs, undefined);
    assert.equal(answered(429, "slow down").retryAfterMs, undefined);
  });

  test("recognizes each vendor's message for a prompt that is too long", () => {
    for (const message of [
      "prompt is too long: 213465 tokens > 200000 maximum",
      "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      "Input is too long for requested model.",
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      "too many tokens: total number of tokens in this request cannot exceed 128000",
    ]) {
      assert.equal(answered(400, message).code, "context_length_exceeded", message);
    }
    assert.equal(answered(400, "max_tokens: must be at least 1").code, "invalid_request");
    assert.equal(answered(429, "too many tokens per minute").code, "rate_limited");
  });

  test("shortens long messages and removes the operator's secrets from them", () => {
    const { message } = answered(400, `operators-key ${"x".repeat(5_000)}`);
    assert.ok(message.length < 600);
    assert.ok(!message.includes("operators-key"));
  });

  test("keeps an AppError, however deeply it is nested", () => {
    const own = new AppError("upstream_timeout", "late");
    assert.equal(toVendorError(new Error("outer", { cause: new Error("inner", { cause: own }) }), vendor), own);
  });

  test("is never an internal error, whatever was thrown", () => {
    for (const thrown of [undefined, null, "text", 5, {}, new Error("x"), { message: "odd" }]) {
      assert.equal(toVendorError(thrown, vendor).code, "upstream_failed");
    }
  });
});

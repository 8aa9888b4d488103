/**
 * What vendors charge for their answers, in the shapes in which they report usage. The expected costs are the vendors' published
 * prices of a million tokens, spelled out, so that neither the table nor our reading of it checks itself.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ChatUsage } from "../../src/api/chat-answer.ts";
import { normalizeCompletion } from "../../src/engines/openai-compatible/normalize-completion.ts";
import { transcriptionUsage } from "../../src/engines/openai-compatible/transcription-usage.ts";
import { readAnswer as readMessage } from "../../src/messages/read-answer.ts";
import { costOf, priceAt } from "../../src/pricing/model-price.ts";
import { loadPublishedPrices } from "../../src/pricing/published/load-prices.ts";
import { noTokens, tokensOfChat, type CallUsage } from "../../src/pricing/token-usage.ts";
import { readAnswer as readResponse } from "../../src/responses/read-answer.ts";
import { openEngine, toCall, type VendorType } from "./vendor-call.ts";
import { json, startVendorServer } from "./vendor-server.ts";

const published = await loadPublishedPrices();
const noon = Date.parse("2026-11-27T12:00:00Z");

function assertCost(
  vendor: string,
  model: string,
  { usage, atMs = noon, expected }: { usage: CallUsage; atMs?: number; expected: number },
) {
  const found = published.of(vendor, model);
  assert.ok(found !== undefined, `the table has ${model}`);
  const cost = costOf(priceAt(found.prices, atMs), usage);
  assert.ok(cost !== undefined);
  assert.equal(cost.input + cost.output, Math.round(expected * 1e3), `billionths of ${expected} millionths`);
}

const choice = { index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" };
const tokens = (usage: ChatUsage | undefined): CallUsage => ({ tokens: tokensOfChat(usage!) });

/** In millionths of a dollar: tokens times the price of a million. */
type Case = readonly [what: string, vendor: string, model: string, usage: object, expected: number];

describe("the cost of a chat completion", () => {
  for (const [what, vendor, model, usage, expected] of [
    ["plain", "openai", "gpt-4o", { prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 }, 19 * 2.5 + 10 * 10],
    [
      "with cached tokens, which are part of the prompt",
      "openai",
      "gpt-4o-2024-08-06",
      {
        prompt_tokens: 2_006,
        completion_tokens: 300,
        total_tokens: 2_306,
        prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      86 * 2.5 + 1_920 * 1.25 + 300 * 10,
    ],
    [
      "with reasoning, which is part of the completion",
      "openai",
      "gpt-5",
      {
        prompt_tokens: 81,
        completion_tokens: 1_035,
        total_tokens: 1_116,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 832 },
      },
      81 * 1.25 + 1_035 * 10,
    ],
    [
      "with cached tokens and reasoning",
      "openai",
      "o3-2025-04-16",
      {
        prompt_tokens: 4_096,
        completion_tokens: 700,
        total_tokens: 4_796,
        prompt_tokens_details: { cached_tokens: 3_072 },
        completion_tokens_details: { reasoning_tokens: 512 },
      },
      1_024 * 2 + 3_072 * 0.5 + 700 * 8,
    ],
    [
      "of a long prompt, which makes all of it dearer",
      "openai",
      "gpt-5.4",
      {
        prompt_tokens: 300_000,
        completion_tokens: 1_000,
        total_tokens: 301_000,
        prompt_tokens_details: { cached_tokens: 100_000 },
      },
      200_000 * 5 + 100_000 * 0.5 + 1_000 * 22.5,
    ],
    [
      "of the longest prompt that is not long",
      "openai",
      "gpt-5.4",
      { prompt_tokens: 271_999, completion_tokens: 1_000, total_tokens: 272_999 },
      271_999 * 2.5 + 1_000 * 15,
    ],
    [
      "with audio in and out",
      "openai",
      "gpt-audio",
      {
        prompt_tokens: 120,
        completion_tokens: 300,
        total_tokens: 420,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 100, text_tokens: 20 },
        completion_tokens_details: { audio_tokens: 250, text_tokens: 50, reasoning_tokens: 0 },
      },
      20 * 2.5 + 100 * 32 + 50 * 10 + 250 * 64,
    ],
    [
      "with tokens written to a cache",
      "openai",
      "gpt-6-sol",
      {
        prompt_tokens: 2_000,
        completion_tokens: 100,
        total_tokens: 2_100,
        prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
      },
      500 * 2 + 1_000 * 0.2 + 500 * 2.5 + 100 * 10,
    ],
    [
      "at Azure",
      "azure",
      "gpt-4o",
      { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19, prompt_tokens_details: { cached_tokens: 0 } },
      12 * 2.5 + 7 * 10,
    ],
    [
      "at DeepSeek by day, with its own names of cached tokens",
      "deepseek",
      "deepseek-chat",
      {
        prompt_tokens: 1_000,
        completion_tokens: 200,
        total_tokens: 1_200,
        prompt_cache_hit_tokens: 640,
        prompt_cache_miss_tokens: 360,
      },
      360 * 0.27 + 640 * 0.07 + 200 * 1.1,
    ],
    [
      "at xAI, whose completion leaves reasoning out",
      "x-ai",
      "grok-4",
      {
        prompt_tokens: 32,
        completion_tokens: 9,
        total_tokens: 274,
        prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 233, audio_tokens: 0 },
        num_sources_used: 0,
      },
      26 * 3 + 6 * 0.75 + 242 * 15,
    ],
    [
      "at xAI with a long prompt",
      "x-ai",
      "grok-4.5",
      {
        prompt_tokens: 250_000,
        completion_tokens: 100,
        total_tokens: 250_100,
        prompt_tokens_details: { cached_tokens: 0 },
      },
      250_000 * 4 + 100 * 12,
    ],
    [
      "at Groq",
      "groq",
      "openai/gpt-oss-120b",
      {
        queue_time: 0.05,
        prompt_tokens: 4_641,
        prompt_time: 0.2,
        completion_tokens: 1_817,
        completion_time: 3.7,
        total_tokens: 6_458,
        total_time: 3.9,
        prompt_tokens_details: { cached_tokens: 4_608 },
      },
      33 * 0.15 + 4_608 * 0.075 + 1_817 * 0.6,
    ],
    [
      "at Moonshot, with cached tokens besides the details",
      "moonshotai",
      "kimi-k2-0905-preview",
      { prompt_tokens: 1_024, completion_tokens: 50, total_tokens: 1_074, cached_tokens: 768 },
      256 * 0.6 + 768 * 0.15 + 50 * 2.5,
    ],
    [
      "at Perplexity, which charges for the call too",
      "perplexity",
      "sonar",
      { prompt_tokens: 14, completion_tokens: 300, total_tokens: 314, search_context_size: "low" },
      14 * 1 + 300 * 1 + 12_000,
    ],
    [
      "at Perplexity, whose completion leaves reasoning and what it has read out",
      "perplexity",
      "sonar-deep-research",
      {
        prompt_tokens: 33,
        completion_tokens: 7_163,
        total_tokens: 7_196,
        search_context_size: "low",
        citation_tokens: 20_016,
        num_search_queries: 21,
        reasoning_tokens: 95_305,
      },
      33 * 2 + 7_163 * 8 + 20_016 * 2 + 95_305 * 3 + 21 * 5_000,
    ],
    [
      "at Together",
      "together",
      "meta-llama/Llama-3.3-70B-Instruct-Turbo",
      { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      150 * 0.88,
    ],
    [
      "at OpenRouter",
      "openrouter",
      "openai/gpt-4o",
      { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, cost: 0.00075 },
      100 * 2.5 + 50 * 10,
    ],
    [
      "at Google's OpenAI-compatible API, whose completion leaves reasoning out",
      "google",
      "gemini-2.5-flash",
      {
        prompt_tokens: 7,
        completion_tokens: 12,
        total_tokens: 519,
        completion_tokens_details: { reasoning_tokens: 500 },
      },
      7 * 0.3 + 512 * 2.5,
    ],
  ] satisfies Case[]) {
    test(what, () => {
      const answer = {
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model,
        choices: [structuredClone(choice)],
        usage,
      };
      assertCost(vendor, model, { usage: tokens(normalizeCompletion(answer, model).usage), expected });
    });
  }

  test("at DeepSeek by night", () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 200,
      total_tokens: 1_200,
      prompt_tokens_details: { cached_tokens: 640 },
      prompt_cache_hit_tokens: 640,
      prompt_cache_miss_tokens: 360,
    };
    const atMs = Date.parse("2026-11-27T20:00:00Z");
    assertCost("deepseek", "deepseek-chat", {
      usage: tokens(usage),
      atMs,
      expected: 360 * 0.135 + 640 * 0.035 + 200 * 0.55,
    });
  });
});

describe("the cost of a response", () => {
  for (const [what, vendor, model, usage, expected] of [
    [
      "plain",
      "openai",
      "gpt-4.1-mini",
      {
        input_tokens: 328,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: 52,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 380,
      },
      328 * 0.4 + 52 * 1.6,
    ],
    [
      "with cached tokens and reasoning",
      "openai",
      "gpt-5-2025-08-07",
      {
        input_tokens: 10_240,
        input_tokens_details: { cached_tokens: 9_216 },
        output_tokens: 640,
        output_tokens_details: { reasoning_tokens: 512 },
        total_tokens: 10_880,
      },
      1_024 * 1.25 + 9_216 * 0.125 + 640 * 10,
    ],
  ] satisfies Case[]) {
    test(what, () => {
      const { usage: read } = readResponse({ id: "resp_1", model, status: "completed", output: [], usage });
      assertCost(vendor, model, { usage: tokens(read), expected });
    });
  }
});

describe("the cost of a message", () => {
  for (const [what, vendor, model, usage, expected] of [
    [
      "with a cached prompt, whose tokens are not part of the input",
      "anthropic",
      "claude-sonnet-4-5-20250929",
      {
        input_tokens: 5,
        cache_creation_input_tokens: 1_253,
        cache_read_input_tokens: 128_955,
        cache_creation: { ephemeral_5m_input_tokens: 1_253, ephemeral_1h_input_tokens: 0 },
        output_tokens: 500,
        service_tier: "standard",
      },
      5 * 3 + 128_955 * 0.3 + 1_253 * 3.75 + 500 * 15,
    ],
    [
      "with a prompt that is cached for an hour",
      "anthropic",
      "claude-opus-4-5",
      {
        input_tokens: 2_048,
        cache_creation_input_tokens: 1_800,
        cache_read_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 1_344 },
        output_tokens: 503,
      },
      2_048 * 5 + 100 * 0.5 + 456 * 6.25 + 1_344 * 10 + 503 * 25,
    ],
    [
      "with a long prompt, cached tokens included",
      "anthropic",
      "claude-sonnet-4-5",
      { input_tokens: 3, cache_creation_input_tokens: 30_000, cache_read_input_tokens: 180_000, output_tokens: 800 },
      3 * 6 + 180_000 * 0.6 + 30_000 * 7.5 + 800 * 22.5,
    ],
    [
      "with searches of the web",
      "anthropic",
      "claude-haiku-4-5",
      {
        input_tokens: 105,
        cache_creation_input_tokens: 7_345,
        cache_read_input_tokens: 0,
        output_tokens: 6_039,
        server_tool_use: { web_search_requests: 2 },
      },
      105 * 1 + 7_345 * 1.25 + 6_039 * 5 + 2 * 10_000,
    ],
    [
      "with thinking, which is part of the output",
      "anthropic",
      "claude-opus-4-5",
      { input_tokens: 10, output_tokens: 2_000, output_tokens_details: { thinking_tokens: 1_500 } },
      10 * 5 + 2_000 * 25,
    ],
  ] satisfies Case[]) {
    test(what, () => {
      const { usage: read } = readMessage({
        id: "msg_1",
        type: "message",
        model,
        content: [],
        stop_reason: "end_turn",
        usage,
      });
      assertCost(vendor, model, { usage: tokens(read), expected });
    });
  }
});

const answers: Readonly<Record<VendorType, (usage: object, model: string) => object>> = {
  anthropic: (usage, model) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  }),
  google: (usageMetadata) => ({
    candidates: [{ content: { role: "model", parts: [{ text: "Yes." }] }, finishReason: "STOP", index: 0 }],
    usageMetadata,
  }),
  amazon_bedrock: (usage) => ({
    output: { message: { role: "assistant", content: [{ text: "Yes." }] } },
    stopReason: "end_turn",
    usage,
  }),
  mistral: (usage, model) => ({ id: "m1", object: "chat.completion", created: 1, model, choices: [choice], usage }),
  cohere: (usage) => ({
    id: "c1",
    generation_id: "c1",
    message: { role: "assistant", content: [{ type: "text", text: "Yes." }] },
    finish_reason: "COMPLETE",
    usage,
  }),
};

describe("the cost of a chat with a vendor's own API", () => {
  for (const [what, vendor, model, usage, expected] of [
    [
      "Anthropic, with a prompt that is cached for an hour",
      "anthropic",
      "claude-sonnet-4-5",
      {
        input_tokens: 12,
        cache_creation_input_tokens: 1_800,
        cache_read_input_tokens: 4_000,
        cache_creation: { ephemeral_5m_input_tokens: 800, ephemeral_1h_input_tokens: 1_000 },
        output_tokens: 50,
      },
      12 * 3 + 4_000 * 0.3 + 800 * 3.75 + 1_000 * 6 + 50 * 15,
    ],
    [
      "Google, whose thoughts are not part of the candidates",
      "google",
      "gemini-2.5-flash",
      {
        promptTokenCount: 12,
        candidatesTokenCount: 58,
        thoughtsTokenCount: 904,
        totalTokenCount: 974,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 12 }],
      },
      12 * 0.3 + 962 * 2.5,
    ],
    [
      "Google, with cached tokens",
      "google",
      "gemini-2.5-flash",
      {
        promptTokenCount: 30_000,
        cachedContentTokenCount: 28_000,
        candidatesTokenCount: 100,
        totalTokenCount: 30_100,
        cacheTokensDetails: [{ modality: "TEXT", tokenCount: 28_000 }],
      },
      2_000 * 0.3 + 28_000 * 0.03 + 100 * 2.5,
    ],
    [
      "Google, with audio",
      "google",
      "gemini-2.5-flash",
      {
        promptTokenCount: 330,
        candidatesTokenCount: 20,
        totalTokenCount: 350,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 10 },
          { modality: "AUDIO", tokenCount: 320 },
        ],
      },
      10 * 0.3 + 320 * 1 + 20 * 2.5,
    ],
    [
      "Google, with cached audio",
      "google",
      "gemini-2.5-flash-lite",
      {
        promptTokenCount: 5_000,
        cachedContentTokenCount: 4_000,
        candidatesTokenCount: 20,
        totalTokenCount: 5_020,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 1_000 },
          { modality: "AUDIO", tokenCount: 4_000 },
        ],
        cacheTokensDetails: [
          { modality: "TEXT", tokenCount: 800 },
          { modality: "AUDIO", tokenCount: 3_200 },
        ],
      },
      200 * 0.1 + 800 * 0.01 + 800 * 0.3 + 3_200 * 0.03 + 20 * 0.4,
    ],
    [
      "Google, with an image in the answer",
      "google",
      "gemini-2.5-flash-image",
      {
        promptTokenCount: 10,
        candidatesTokenCount: 1_310,
        totalTokenCount: 1_320,
        promptTokensDetails: [{ modality: "TEXT", tokenCount: 10 }],
        candidatesTokensDetails: [
          { modality: "TEXT", tokenCount: 20 },
          { modality: "IMAGE", tokenCount: 1_290 },
        ],
      },
      10 * 0.3 + 20 * 2.5 + 1_290 * 30,
    ],
    [
      "Google, with a long prompt",
      "google",
      "gemini-2.5-pro",
      { promptTokenCount: 250_000, candidatesTokenCount: 1_000, thoughtsTokenCount: 500, totalTokenCount: 251_500 },
      250_000 * 2.5 + 1_500 * 15,
    ],
    [
      "Google, with prompts of tools",
      "google",
      "gemini-3-pro-preview",
      { promptTokenCount: 1_000, toolUsePromptTokenCount: 200, candidatesTokenCount: 100, totalTokenCount: 1_300 },
      1_200 * 2 + 100 * 12,
    ],
    [
      "Bedrock, whose input leaves cached tokens out",
      "aws",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      {
        inputTokens: 10,
        outputTokens: 100,
        totalTokens: 5_110,
        cacheReadInputTokens: 3_000,
        cacheWriteInputTokens: 2_000,
      },
      10 * 3.3 + 3_000 * 0.33 + 2_000 * 4.125 + 100 * 16.5,
    ],
    [
      "Bedrock, with Nova",
      "aws",
      "amazon.nova-pro-v1:0",
      {
        inputTokens: 500,
        outputTokens: 100,
        totalTokens: 1_600,
        cacheReadInputTokens: 1_000,
        cacheWriteInputTokens: 0,
      },
      500 * 0.8 + 1_000 * 0.2 + 100 * 3.2,
    ],
    [
      "Mistral",
      "mistral",
      "mistral-large-latest",
      { prompt_tokens: 40, completion_tokens: 12, total_tokens: 52 },
      40 * 2 + 12 * 6,
    ],
    [
      "Mistral, small",
      "mistral",
      "mistral-small-latest",
      { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 },
      1_000 * 0.1 + 500 * 0.3,
    ],
    [
      "Cohere, which charges for fewer tokens than its model reads",
      "cohere",
      "command-a-03-2025",
      { billed_units: { input_tokens: 9, output_tokens: 40 }, tokens: { input_tokens: 512, output_tokens: 42 } },
      9 * 2.5 + 40 * 10,
    ],
    [
      "Cohere, small",
      "cohere",
      "command-r7b-12-2024",
      { billed_units: { input_tokens: 100, output_tokens: 40 }, tokens: { input_tokens: 600, output_tokens: 42 } },
      100 * 0.0375 + 40 * 0.15,
    ],
  ] satisfies Case[]) {
    test(what, async () => {
      const type = (vendor === "aws" ? "amazon_bedrock" : vendor) as VendorType;
      await using server = await startVendorServer();
      server.play(json(answers[type](usage, model)));
      const engine = openEngine(type, server.url);
      const completion = await engine.chat(model).complete(toCall({}));
      await engine.close();
      assertCost(vendor, model, { usage: tokens(completion.usage), expected });
    });
  }
});

describe("the cost of a transcription", () => {
  for (const [what, vendor, model, usage, expected] of [
    ["by its length", "openai", "whisper-1", { type: "duration", seconds: 90 }, 90 * 100],
    [
      "by tokens of audio and text",
      "openai",
      "gpt-4o-transcribe",
      {
        type: "tokens",
        input_tokens: 114,
        input_token_details: { text_tokens: 14, audio_tokens: 100 },
        output_tokens: 45,
        total_tokens: 159,
      },
      14 * 2.5 + 100 * 6 + 45 * 10,
    ],
    [
      "at Groq, which charges for ten seconds at least",
      "groq",
      "whisper-large-v3",
      { type: "duration", seconds: 4 },
      (10 * 111_000) / 3_600,
    ],
  ] satisfies Case[]) {
    test(what, () => {
      const read = transcriptionUsage({ text: "Yes.", usage })!;
      const { seconds, tokens: counts } = read;
      const used = counts && {
        ...noTokens,
        inputTokens: counts.input,
        audioInputTokens: counts.audioInput,
        outputTokens: counts.output,
      };
      assertCost(vendor, model, { usage: { tokens: used, inputSeconds: seconds }, expected });
    });
  }
});

test("the cost of embeddings is that of their input", () => {
  assertCost("openai", "text-embedding-3-large", {
    usage: { tokens: { ...noTokens, inputTokens: 8 } },
    expected: 8 * 0.13,
  });
});

/** The published prices are those of the package, for every model, vendor and usage that it knows. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { calcPrice, waitForUpdate, type Usage } from "@pydantic/genai-prices";
import { assert as check, constantFrom, integer, property, record } from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { costOf, priceAt } from "../model-price.ts";
import { noTokens } from "../token-usage.ts";
import { loadPublishedPrices } from "./load-prices.ts";
import { tableRelease } from "./table.ts";

const published = await loadPublishedPrices();
const providers = (await waitForUpdate())!;

describe("published prices", () => {
  test("are those of the release that is installed", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
      dependencies: Record<string, string>;
    };
    assert.equal(manifest.dependencies["@pydantic/genai-prices"], tableRelease.version);
  });

  test("have every model of the package under its own name, and under the names of others none", () => {
    for (const { id, models } of providers) {
      for (const { id: model } of models) {
        const expected = calcPrice({ input_tokens: 1 }, model, { providerId: id });
        const found = published.of(id, model);
        assert.equal(found?.name, expected === null ? undefined : `${id}/${expected.model.id}`, `${id} ${model}`);
        for (const other of [`${model}-other`, `ft:${model}`, `x${model}`]) {
          const wanted = calcPrice({ input_tokens: 1 }, other, { providerId: id });
          assert.equal(published.of(id, other)?.name, wanted === null ? undefined : `${id}/${wanted.model.id}`, other);
        }
      }
    }
  });

  test("make the same costs as the package, at any time of the day", () => {
    const names = providers.flatMap(({ id, models }) =>
      models.flatMap((model) => (hasTokens(id, model.id) ? [[id, model.id] as const] : [])),
    );
    const count = integer({ min: 0, max: 400_000 });
    const usages = record({
      plain: count,
      read: count,
      written: count,
      hour: count,
      audio: count,
      audioRead: count,
      output: count,
      audioOut: count,
      imageOut: count,
      reasoning: count,
      citation: count,
      searches: count,
    });
    const times = integer({ min: Date.parse("2025-01-01"), max: Date.parse("2027-12-31") });
    check(
      property(constantFrom(...names), usages, times, ([vendor, model], parts, unixMs) => {
        const usage: Usage = {
          input_tokens: parts.plain + parts.read + parts.written + parts.hour + parts.audio + parts.audioRead,
          output_tokens: parts.output + parts.audioOut + parts.imageOut + parts.reasoning + parts.citation,
          cache_read_tokens: parts.read + parts.audioRead,
          cache_audio_read_tokens: parts.audioRead,
          cache_audio_write_tokens: 0,
          cache_audio_write_1h_tokens: 0,
          cache_write_tokens: parts.written + parts.hour,
          cache_write_1h_tokens: parts.hour,
          input_audio_tokens: parts.audio + parts.audioRead,
          output_audio_tokens: parts.audioOut,
          output_image_tokens: parts.imageOut,
          output_reasoning_tokens: parts.reasoning,
          output_citation_tokens: parts.citation,
          web_searches: parts.searches,
        };
        const expected = calcPrice(usage, model, { providerId: vendor, timestamp: new Date(unixMs) })!;
        const tokens = {
          ...noTokens,
          inputTokens: usage["input_tokens"]!,
          outputTokens: usage["output_tokens"]!,
          cacheReadTokens: parts.read + parts.audioRead,
          cacheWriteTokens: parts.written + parts.hour,
          cacheWriteHourTokens: parts.hour,
          audioInputTokens: parts.audio + parts.audioRead,
          audioCacheReadTokens: parts.audioRead,
          audioOutputTokens: parts.audioOut,
          imageOutputTokens: parts.imageOut,
          reasoningTokens: parts.reasoning,
          citationTokens: parts.citation,
          webSearches: parts.searches,
        };
        const cost = costOf(priceAt(published.of(vendor, model)!.prices, unixMs), { tokens })!;
        const total = (cost.input + cost.output) / 1e9;
        assert.ok(
          Math.abs(total - expected.total_price) < 2e-9 + 1e-12 * total,
          `${vendor} ${model}: ${total} not ${expected.total_price}`,
        );
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test("have no unit that is not read, but for calls that Sounding does not serve", () => {
    const unread = new Map<string, string[]>();
    for (const { id, models } of providers) {
      for (const { id: model, prices } of models) {
        for (const each of Array.isArray(prices) ? prices.map((dated) => dated.prices) : [prices]) {
          for (const unit of Object.keys(each)) {
            if (!readUnits.has(unit)) unread.set(unit, [...(unread.get(unit) ?? []), `${id}/${model}`]);
          }
        }
      }
    }
    for (const [unit, models] of unread) {
      const unserved = unservedModels[unit];
      assert.ok(unserved !== undefined, `${unit} of ${models.join(", ")}`);
      for (const model of models) assert.match(model, unserved, unit);
    }
    assert.deepEqual([...unread.keys()].sort(), Object.keys(unservedModels).sort());
  });

  for (const [settings, vendor] of [
    [{ type: "openai_compatible", base_url: "https://api.openai.com/v1" }, "openai"],
    [{ type: "openai_compatible", base_url: "https://api.groq.com/openai/v1" }, "groq"],
    [{ type: "openai_compatible", base_url: "https://api.moonshot.ai/v1" }, "moonshotai"],
    [{ type: "openai_compatible", base_url: "https://api.openai.com:443/v1" }, "openai"],
    [{ type: "openai_compatible", base_url: "https://api.deepseek.com" }, "deepseek"],
    [{ type: "openai_compatible", base_url: "https://openrouter.ai/api/v1" }, "openrouter"],
    [{ type: "openai_compatible", base_url: "https://generativelanguage.googleapis.com/v1beta/openai" }, "google"],
    [{ type: "azure_openai", base_url: "https://example.openai.azure.com" }, "azure"],
    [{ type: "anthropic", base_url: "https://api.anthropic.com/v1" }, "anthropic"],
    [{ type: "anthropic", base_url: "https://proxy.example.com/v1" }, "anthropic"],
    [{ type: "google" }, "google"],
    [{ type: "amazon_bedrock" }, "aws"],
    [{ type: "mistral" }, "mistral"],
    [{ type: "cohere" }, "cohere"],
    [{ type: "openai_compatible", base_url: "http://127.0.0.1:8000/v1" }, undefined],
    [{ type: "openai_compatible", base_url: "https://gpu.example.com/v1" }, undefined],
    [{ type: "openai_compatible", base_url: "https://api.openai.com.example.com/v1" }, undefined],
    [{ type: "llama_cpp" }, undefined],
    [{ type: "toString" }, undefined],
  ] as const) {
    test(`of an engine ${JSON.stringify(settings)} are those of ${vendor}`, () => {
      assert.equal(published.vendorOfEngine(settings), vendor);
    });
  }

  for (const [name, vendor] of [
    ["openai", "openai"],
    ["openai.responses", "openai"],
    ["azure.ai.openai", "azure"],
    ["az.ai.openai", "azure"],
    ["azure-openai.chat", "azure"],
    ["anthropic.messages", "anthropic"],
    ["gcp.gemini", "google"],
    ["gcp.vertex_ai", "google"],
    ["google.generative-ai", "google"],
    ["aws.bedrock", "aws"],
    ["mistral_ai", "mistral"],
    ["x_ai", "x-ai"],
    ["xai.chat", "x-ai"],
    ["groq.chat", "groq"],
    ["LangChain", undefined],
    ["sounding", undefined],
    ["__proto__", undefined],
    ["", undefined],
  ] as const) {
    test(`of a provider ${JSON.stringify(name)} in telemetry are those of ${vendor}`, () => {
      assert.equal(published.vendorNamed(name), vendor);
    });
  }

  test("are not looked up for names of a length that no model has", () => {
    assert.equal(published.of("openai", `gpt-4o${"o".repeat(10_000)}`), undefined);
    assert.equal(published.vendorNamed(`openai${"i".repeat(10_000)}`), undefined);
    assert.equal(published.named(`gpt-4o${"o".repeat(10_000)}`), undefined);
  });
});

const readUnits: ReadonlySet<string> = new Set([
  "input_mtok",
  "output_mtok",
  "cache_read_mtok",
  "cache_write_mtok",
  "cache_write_1h_mtok",
  "input_audio_mtok",
  "cache_audio_read_mtok",
  "output_audio_mtok",
  "audio_hours",
  "input_audio_hours",
  "output_image_mtok",
  "output_reasoning_mtok",
  "output_citation_mtok",
  "requests_kcount",
  "web_searches_kcount",
]);

/** Which models may have units that are not read. */
const unservedModels: Readonly<Record<string, RegExp>> = {
  // Images to generate or edit, calls in real time, and embeddings of images: chats are charged for images as for text.
  input_image_mtok: /gpt-image|realtime|-live-|gemini-embedding-2/,
  cache_image_read_mtok: /gpt-image|realtime/,
  input_video_mtok: /-live-|gemini-embedding-2/,
  output_video_mtok: /gemini-omni-flash/,
  input_document_kpages: /mistral-ocr/,
  input_annotated_document_kpages: /mistral-ocr/,
  input_text_messages_kcount: /grok-voice/,
  // OpenAI's own vector stores. No usage tells how often they were searched.
  storage_searches_kcount: /^openai\//,
};

function hasTokens(vendor: string, model: string): boolean {
  return published.of(vendor, model)?.prices.every(({ price }) => price.tokens.length > 0) === true;
}

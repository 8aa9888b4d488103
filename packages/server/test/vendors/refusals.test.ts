/** Parameters that a vendor does not support are refused by name before any call; nothing is silently dropped. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createAmazonBedrock } from "../../src/engines/vendors/amazon-bedrock.ts";
import { createAnthropic } from "../../src/engines/vendors/anthropic.ts";
import { createCohere } from "../../src/engines/vendors/cohere.ts";
import { createGoogle } from "../../src/engines/vendors/google.ts";
import { createMistral } from "../../src/engines/vendors/mistral.ts";
import { refusedParameters, variedParameters } from "../../src/engines/vendors/parameter-support.ts";
import type { Vendor } from "../../src/engines/vendors/vendor.ts";
import { pixel, weatherTool } from "./conversation.ts";
import { apiKey, complete, openEngine, type VendorType } from "./vendor-call.ts";
import { startVendorServer, type VendorServer } from "./vendor-server.ts";
import { wires } from "./wires.ts";

const settings = {
  api_key: apiKey,
  base_url: "http://127.0.0.1:9",
  max_choices: 8,
  max_connections: 10,
  connect_timeout_ms: 1,
  first_byte_timeout_ms: 1,
  idle_timeout_ms: 1,
  total_timeout_ms: 1,
};
const vendors: Readonly<Record<VendorType, Vendor>> = {
  anthropic: createAnthropic({ ...settings, type: "anthropic" }),
  google: createGoogle({ ...settings, type: "google" }),
  amazon_bedrock: createAmazonBedrock({ ...settings, type: "amazon_bedrock", region: "us-east-1" }),
  mistral: createMistral({ ...settings, type: "mistral" }),
  cohere: createCohere({ ...settings, type: "cohere" }),
};
const types = Object.keys(vendors) as VendorType[];

/** A non-default value of each parameter, and how it appears on the vendors' wires. */
const asking: Readonly<Record<(typeof variedParameters)[number], { given: Record<string, unknown>; seen: RegExp }>> = {
  frequency_penalty: { given: { frequency_penalty: 0.123 }, seen: /0\.123/ },
  presence_penalty: { given: { presence_penalty: 0.123 }, seen: /0\.123/ },
  seed: { given: { seed: 123_456 }, seen: /123456/ },
  temperature: { given: { temperature: 0.123 }, seen: /0\.123/ },
  top_p: { given: { top_p: 0.123 }, seen: /0\.123/ },
  top_k: { given: { top_k: 123 }, seen: /123/ },
  reasoning_effort: { given: { reasoning_effort: "high" }, seen: /thinking|reasoning/ },
  "parallel_tool_calls=false": {
    given: { parallel_tool_calls: false, tools: [weatherTool] },
    seen: /"(disable_parallel_tool_use":true|parallel_tool_calls":false)/,
  },
  "response_format=json_object": {
    given: { response_format: { type: "json_object" } },
    seen: /json_object|application\/json/,
  },
  "service_tier=flex": { given: { service_tier: "flex" }, seen: /flex/ },
  user: { given: { user: "user-7" }, seen: /user-7/ },
  safety_identifier: { given: { safety_identifier: "user-8" }, seen: /user-8/ },
  metadata: { given: { metadata: { session: "s-9" } }, seen: /s-9/ },
  prompt_cache_key: { given: { prompt_cache_key: "key-10" }, seen: /key-10/ },
  prediction: { given: { prediction: { type: "content", content: "text-11" } }, seen: /text-11/ },
};

const refusedValues: Readonly<Record<(typeof refusedParameters)[number], unknown>> = {
  audio: { voice: "alloy", format: "mp3" },
  function_call: { name: "f" },
  functions: [{ name: "f" }],
  logit_bias: { "50256": -100 },
  logprobs: true,
  modalities: ["text", "audio"],
  moderation: { model: "m" },
  prompt_cache_options: { ttl: "1h" },
  prompt_cache_retention: "24h",
  prompt_logprobs: 0,
  store: true,
  top_logprobs: 3,
  verbosity: "low",
  web_search_options: {},
};

const harmless = {
  audio: null,
  frequency_penalty: 0,
  presence_penalty: 0,
  logit_bias: {},
  logprobs: false,
  top_logprobs: 0,
  n: 1,
  store: false,
  service_tier: "auto",
  modalities: ["text"],
  functions: [],
  function_call: "none",
  parallel_tool_calls: true,
  response_format: { type: "text" },
  metadata: {},
  verbosity: "medium",
  stop: null,
  seed: null,
  tools: [],
  tool_choice: "auto",
  user: null,
  unknown_to_everybody: null,
  stream_options: { include_usage: true, include_obfuscation: false },
};

async function refused(server: VendorServer, type: VendorType, given: Record<string, unknown>, param: string) {
  const engine = openEngine(type, server.url);
  const before = server.requests.length;
  await assert.rejects(complete(engine, type, given), (error: Error & { code?: string; param?: string }) => {
    assert.deepEqual([error.code, error.param], ["unsupported_parameter", param], error.message);
    assert.ok(error.message.includes(vendors[type].label) && error.message.includes(param), error.message);
    return true;
  });
  await engine.close();
  assert.equal(server.requests.length, before, "the vendor was called");
}

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } };
const remote = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
const file = (mediaType: string) => ({ type: "file", file: { file_data: `data:${mediaType};base64,AAAA` } });
const said = (...content: unknown[]) => ({ messages: [{ role: "user", content }] });

/** Content that only some vendors accept: which refuse it, and by which name. */
const contents: {
  given: Record<string, unknown>;
  param: string;
  refusedBy: readonly VendorType[];
  skippedFor?: VendorType;
}[] = [
  {
    given: said(remote),
    param: "messages[0].content[0].image_url.url",
    refusedBy: ["google", "amazon_bedrock"],
  },
  {
    given: said({ ...image, image_url: { ...image.image_url, detail: "high" } }),
    param: "messages[0].content[0].image_url.detail",
    refusedBy: ["anthropic", "google", "amazon_bedrock", "mistral"],
  },
  {
    given: said(audio),
    param: "messages[0].content[0]",
    refusedBy: ["anthropic", "amazon_bedrock", "mistral", "cohere"],
  },
  { given: said(file("application/pdf")), param: "messages[0].content[0]", refusedBy: ["cohere"] },
  {
    given: said(file("text/plain")),
    param: "messages[0].content[0].file.file_data",
    refusedBy: ["mistral"],
    skippedFor: "cohere",
  },
  {
    given: said(file("application/zip")),
    param: "messages[0].content[0].file.file_data",
    refusedBy: ["anthropic", "amazon_bedrock", "mistral"],
    skippedFor: "cohere",
  },
  {
    given: said({ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }),
    param: "messages[0].content[0].cache_control",
    refusedBy: ["google", "amazon_bedrock", "mistral", "cohere"],
  },
  {
    given: {
      messages: [
        { role: "user", content: "Hi" },
        { role: "system", content: "Be brief." },
      ],
    },
    param: "messages[1].role",
    refusedBy: ["google", "amazon_bedrock"],
  },
  {
    given: { messages: [{ role: "user", content: "Hi", name: "Ann" }] },
    param: "messages[0].name",
    refusedBy: types,
  },
  {
    given: { messages: [{ role: "function", name: "f", content: "1" }] },
    param: "messages[0].role",
    refusedBy: types,
  },
  {
    given: { messages: [{ role: "system", content: [image] }] },
    param: "messages[0].content[0]",
    refusedBy: types,
  },
  {
    given: { tools: [{ ...weatherTool, function: { ...weatherTool.function, examples: [] } }] },
    param: "tools[0].function.examples",
    refusedBy: types,
  },
  {
    given: { stream_options: { chunk_size: 5 } },
    param: "stream_options.chunk_size",
    refusedBy: types,
  },
];

/** A vendor's own name for what the request also sets by OpenAI's name. */
const takenNames: Readonly<Partial<Record<VendorType, { given: Record<string, unknown>; param: string }>>> = {
  anthropic: { given: { stop: "END", stop_sequences: ["X"] }, param: "stop_sequences" },
  google: { given: { temperature: 0.5, generationConfig: { temperature: 1 } }, param: "generationConfig.temperature" },
  mistral: { given: { seed: 1, random_seed: 2 }, param: "random_seed" },
  cohere: { given: { top_p: 0.5, p: 0.6 }, param: "p" },
};

const invalid: { given: Record<string, unknown>; param: string }[] = [
  { given: { max_tokens: 5, max_completion_tokens: 6 }, param: "max_tokens" },
  { given: { tool_choice: "required" }, param: "tool_choice" },
  {
    given: { tools: [weatherTool], tool_choice: { type: "function", function: { name: "x" } } },
    param: "tool_choice.function.name",
  },
  { given: { reasoning_effort: "enormous" }, param: "reasoning_effort" },
  {
    given: { response_format: { type: "json_schema", json_schema: { name: "a" } } },
    param: "response_format.json_schema.schema",
  },
  { given: said({ type: "image_url", image_url: { url: "nowhere" } }), param: "messages[0].content[0].image_url.url" },
  {
    given: said({ type: "image_url", image_url: { url: "data:text/plain;base64,AAAA" } }),
    param: "messages[0].content[0].image_url.url",
  },
  { given: said({ type: "constructor" }), param: "messages[0].content[0].type" },
  { given: { messages: [{ role: "tool", tool_call_id: "t9", content: "1" }] }, param: "messages[0].tool_call_id" },
  {
    given: {
      messages: [
        {
          role: "assistant",
          tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: '{"a":' } }],
        },
      ],
    },
    param: "messages[0].tool_calls[0].function.arguments",
  },
];

for (const type of types) {
  describe(type, () => {
    test("refuses by name what no vendor supports", async () => {
      await using server = await startVendorServer();
      server.play(wires[type].batch);
      for (const param of refusedParameters) await refused(server, type, { [param]: refusedValues[param] }, param);
    });

    for (const entry of variedParameters) {
      const param = entry.split("=")[0]!;
      const support = vendors[type].parameters[entry];
      test(`${support === "no" ? "refuses" : "honors, or refuses by the model,"} ${entry}`, async () => {
        await using server = await startVendorServer();
        server.play(wires[type].batch);
        const { given, seen } = asking[entry];
        if (support === "no") {
          await refused(server, type, given, param);
          return;
        }
        const engine = openEngine(type, server.url);
        const answered = await complete(engine, type, given).then(
          () => true,
          (error: Error & { code?: string; param?: string }) => {
            assert.equal(support, "model", error.message);
            assert.deepEqual([error.code, error.param], ["unsupported_parameter", param], error.message);
            return false;
          },
        );
        await engine.close();
        assert.equal(server.requests.length, answered ? 1 : 0);
        if (answered) assert.match(JSON.stringify(server.requests[0]?.body), seen);
      });
    }

    test("accepts values that request nothing, and does not send them", async () => {
      await using server = await startVendorServer();
      server.play(wires[type].batch);
      const engine = openEngine(type, server.url);
      await complete(engine, type);
      await complete(engine, type, harmless);
      await engine.close();
      assert.deepEqual(server.requests[1]?.body, server.requests[0]?.body);
    });

    test("accepts the supported parts of a message, and refuses the rest by name", async () => {
      await using server = await startVendorServer();
      server.play(wires[type].batch);
      const engine = openEngine(type, server.url);
      for (const { given, param, refusedBy, skippedFor } of contents) {
        if (type === skippedFor) continue;
        if (refusedBy.includes(type)) await refused(server, type, given, param);
        else await complete(engine, type, given);
      }
      await engine.close();
    });

    test("calls nobody for an invalid request", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      for (const { given, param } of invalid) {
        await assert.rejects(complete(engine, type, given), { code: "invalid_request", param });
      }
      await engine.close();
      assert.equal(server.requests.length, 0);
    });

    test("passes unknown members on unchanged, but lets them replace nothing", async () => {
      await using server = await startVendorServer();
      server.play(wires[type].batch);
      const engine = openEngine(type, server.url);
      await complete(engine, type, { brand_new: { deep: [1, null] } });
      const body = server.requests[0]?.body;
      const place = type === "amazon_bedrock" ? body?.["additionalModelRequestFields"] : body;
      assert.deepEqual(place?.["brand_new"], { deep: [1, null] });
      const taken = takenNames[type];
      if (taken !== undefined) await refused(server, type, taken.given, taken.param);
      await engine.close();
    });

    test("matches the documentation", () => {
      const text = readFileSync(new URL("../../../../docs/operate/engines/vendors.md", import.meta.url), "utf8");
      const rows = [...text.matchAll(/^\| `(?<entry>[^`]+)`\s*\|(?<cells>.*)\|$/gm)];
      const column = types.indexOf(type);
      const documented = Object.fromEntries(
        rows.map(({ groups }) => [groups!["entry"], groups!["cells"]!.split("|")[column]?.trim()]),
      );
      for (const entry of variedParameters) assert.equal(documented[entry], vendors[type].parameters[entry], entry);
      for (const param of refusedParameters) assert.ok(text.includes(`\`${param}\``), param);
    });
  });
}

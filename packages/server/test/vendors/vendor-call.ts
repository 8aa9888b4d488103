/** Calls of a vendor engine from a test, and what every answer must satisfy. */
import assert from "node:assert/strict";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { ChatRequest } from "../../src/api/chat-request.ts";
import type { VendorSettings } from "../../src/config/engines/vendors.ts";
import { silentLogger } from "../../src/logger.ts";
import type { ChatCall, ChatEngine } from "../../src/engines/engine.ts";
import { createVendorEngine } from "../../src/engines/vendors/vendor-engine.ts";

export type VendorType = VendorSettings["type"];

/** One model of each vendor, of a kind that supports most parameters. */
export const modelOf: Readonly<Record<VendorType, string>> = {
  anthropic: "claude-sonnet-4-5",
  google: "gemini-2.5-flash",
  amazon_bedrock: "anthropic.claude-sonnet-4-5-20250929-v1:0",
  mistral: "mistral-large-latest",
  cohere: "command-a-03-2025",
};

export const apiKey = "secret-key-of-the-operator";

const paths: Readonly<Record<VendorType, string>> = {
  anthropic: "/v1",
  google: "/v1beta",
  amazon_bedrock: "",
  mistral: "/v1",
  cohere: "/v2",
};

export function openEngine(type: VendorType, url: string, more: object = {}): ChatEngine {
  const settings: object = {
    type,
    api_key: apiKey,
    base_url: url + paths[type],
    region: "us-east-1",
    max_choices: 8,
    max_connections: 100,
    connect_timeout_ms: 5_000,
    first_byte_timeout_ms: 60_000,
    idle_timeout_ms: 60_000,
    total_timeout_ms: 60_000,
    ...more,
  };
  return createVendorEngine("vendor", settings as VendorSettings, { logger: silentLogger });
}

type RequestParameters = Record<string, unknown>;

export function toCall(parameters: RequestParameters, signal: AbortSignal = new AbortController().signal): ChatCall {
  const request = { messages: [{ role: "user", content: "Hello" }], model: "any", ...parameters } as ChatRequest;
  return { request, bytes: Buffer.from(JSON.stringify(request)), changes: {}, signal };
}

export function complete(
  engine: ChatEngine,
  type: VendorType,
  parameters: RequestParameters = {},
): Promise<ChatCompletion> {
  return engine.chat(modelOf[type]).complete(toCall(parameters));
}

/** All chunks of a stream, checked against what strict clients require. */
export async function collect(
  engine: ChatEngine,
  type: VendorType,
  parameters: RequestParameters = {},
): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of engine.chat(modelOf[type]).stream(toCall({ stream: true, ...parameters }))) {
    chunks.push(chunk);
  }
  checkChunks(chunks);
  return chunks;
}

function checkChunks(chunks: readonly ChatCompletionChunk[]): void {
  const [first] = chunks;
  assert.ok(first !== undefined, "no chunk came");
  const choices = new Set<number>();
  for (const chunk of chunks) {
    assert.deepEqual([chunk.id, chunk.created, chunk.model], [first.id, first.created, first.model]);
    assert.equal(chunk.object, "chat.completion.chunk");
    assert.ok(Number.isInteger(chunk.created));
    assert.ok(!("error" in chunk));
    for (const choice of chunk.choices) {
      assert.equal(choice.delta.role, choices.has(choice.index) ? undefined : "assistant");
      choices.add(choice.index);
      for (const call of choice.delta.tool_calls ?? []) assert.ok(Number.isInteger(call.index));
    }
  }
}

/** What the deltas of one choice add up to. */
export function assemble(chunks: readonly ChatCompletionChunk[], index = 0) {
  const deltas = chunks.flatMap((chunk) => chunk.choices).filter((choice) => choice.index === index);
  const calls: { id?: string; name?: string; arguments: string }[] = [];
  for (const piece of deltas.flatMap(({ delta }) => delta.tool_calls ?? [])) {
    const call = (calls[piece.index] ??= { arguments: "" });
    if (piece.id !== undefined) call.id = piece.id;
    if (piece.function?.name !== undefined) call.name = piece.function.name;
    call.arguments += piece.function?.arguments ?? "";
  }
  return {
    content: deltas.map(({ delta }) => delta.content ?? "").join(""),
    reasoning: deltas.map(({ delta }) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join(""),
    calls,
    finishReasons: deltas.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
    usage: chunks.at(-1)?.usage,
  };
}

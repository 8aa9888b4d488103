/** A stream of the AI SDK's language models as chunks of a chat completion. */
import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ChatCompletionChunk, ChatDelta, ChatUsage, FinishReason } from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import { toFinishReason, toMatchedStop, toRefusal, toUsage, unexpectedFile } from "./response.ts";
import { toReasoningDetail, toToolCallExtra } from "./reasoning.ts";
import type { JsonObject } from "../../json-object.ts";
import type { Vendor } from "./vendor.ts";
import { toVendorError } from "./vendor-error.ts";

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

interface OpenToolCall {
  readonly index: number;
  sentArguments: boolean;
  /** Whether what the next request must return with the call was sent. */
  readonly sentExtra: boolean;
}

interface StreamState {
  readonly vendor: Vendor;
  readonly onUnused: (usage: ChatUsage) => void;
  head: AnswerHead;
  begun: boolean;
  finished: boolean;
  readonly toolCalls: Map<string, OpenToolCall>;
  /** Reasoning text by block, kept only if the next turn must return it complete with its signature. */
  readonly reasoning: Map<string, string>;
}

type Part<T extends LanguageModelV4StreamPart["type"]> = Extract<LanguageModelV4StreamPart, { type: T }>;

/** Most UTF-16 units of a piece of text: a chunk stays under 1 MiB even if JSON escapes every unit. */
const longestPiece = 131_072;

/** A text in pieces for chunks of their own; no pair of surrogates is torn. */
function* toPieces(text: string): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = Math.min(text.length, start + longestPiece);
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end--;
    yield text.slice(start, end);
  }
}

function toChunk(
  state: StreamState,
  delta: ChatDelta & JsonObject,
  finishReason: FinishReason | null = null,
): ChatCompletionChunk {
  const first = state.begun ? {} : { role: "assistant" as const, content: "" };
  state.begun = true;
  return {
    ...state.head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { ...first, ...delta }, logprobs: null, finish_reason: finishReason }],
  };
}

function startToolCall(
  state: StreamState,
  part: {
    readonly id: string;
    readonly toolName: string;
    readonly providerMetadata?: SharedV4ProviderMetadata | undefined;
  },
): ChatCompletionChunk {
  const extra = toToolCallExtra(part.providerMetadata);
  const call = { index: state.toolCalls.size, sentArguments: false, sentExtra: Object.keys(extra).length > 0 };
  state.toolCalls.set(part.id, call);
  const tool = { index: call.index, id: part.id, type: "function" as const };
  return toChunk(state, { tool_calls: [{ ...tool, function: { name: part.toolName, arguments: "" }, ...extra }] });
}

function continueToolCall(state: StreamState, id: string, text: string): ChatCompletionChunk[] {
  const call = state.toolCalls.get(id);
  if (call === undefined || text === "") return [];
  call.sentArguments = true;
  return Array.from(toPieces(text), (piece) =>
    toChunk(state, { tool_calls: [{ index: call.index, function: { arguments: piece } }] }),
  );
}

/** The complete call, which the adapters send at its end: the part that was not streamed is sent now. */
function endToolCall(state: StreamState, part: Part<"tool-call">): ChatCompletionChunk[] {
  if (part.providerExecuted === true) return [];
  const { providerMetadata, toolCallId: id, toolName } = part;
  const chunks = state.toolCalls.has(id) ? [] : [startToolCall(state, { id, toolName, providerMetadata })];
  const call = state.toolCalls.get(id)!;
  if (!call.sentArguments) chunks.push(...continueToolCall(state, id, part.input));
  const extra = toToolCallExtra(providerMetadata);
  if (!call.sentExtra && Object.keys(extra).length > 0)
    chunks.push(toChunk(state, { tool_calls: [{ index: call.index, ...extra }] }));
  return chunks;
}

/** Reasoning; with a block's signature also the block's full text again, for the next turn. */
function continueReasoning(state: StreamState, part: Part<"reasoning-start" | "reasoning-delta" | "reasoning-end">) {
  const text = part.type === "reasoning-delta" ? part.delta : "";
  const whole = (state.reasoning.get(part.id) ?? "") + text;
  if (state.vendor.reasoningFormat !== undefined) state.reasoning.set(part.id, whole);
  const detail = toReasoningDetail(whole, part.providerMetadata);
  const chunks = Array.from(toPieces(text), (piece) => toChunk(state, { reasoning_content: piece }));
  if (detail !== undefined) chunks.push(toChunk(state, { reasoning_details: [detail] }));
  return chunks.length > 0 || state.begun ? chunks : [toChunk(state, {})];
}

/** What is paid for is told also if the answer did not end well: to the call itself where another attempt may follow. */
function* finish(state: StreamState, part: Part<"finish">): Generator<ChatCompletionChunk> {
  const usage = toUsage(part.usage);
  const usageChunks =
    usage === undefined ? [] : [{ ...state.head, object: "chat.completion.chunk" as const, choices: [], usage }];
  let reason: FinishReason;
  try {
    reason = toFinishReason(part.finishReason, state.vendor);
  } catch (error) {
    if (state.begun) yield* usageChunks;
    else if (usage !== undefined) state.onUnused(usage);
    throw error;
  }
  const refusal = toRefusal(part.providerMetadata);
  const last = toChunk(state, refusal === null ? {} : { refusal }, reason);
  Object.assign(last.choices[0]!, toMatchedStop(part.providerMetadata));
  state.finished = true;
  yield last;
  yield* usageChunks;
}

function describe(state: StreamState, { id, modelId, timestamp }: Part<"response-metadata">): void {
  if (state.begun) return;
  state.head = {
    id: id ?? state.head.id,
    created: timestamp === undefined ? state.head.created : Math.floor(timestamp.getTime() / 1000),
    model: modelId ?? state.head.model,
  };
}

function translate(state: StreamState, part: LanguageModelV4StreamPart): Iterable<ChatCompletionChunk> {
  switch (part.type) {
    case "response-metadata":
      describe(state, part);
      return [];
    case "text-start":
      return state.begun ? [] : [toChunk(state, {})];
    case "text-delta":
      return Array.from(toPieces(part.delta), (content) => toChunk(state, { content }));
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      return continueReasoning(state, part);
    case "raw": {
      const text = state.vendor.readDroppedText?.(part.rawValue);
      return Array.from(toPieces(text ?? ""), (content) => toChunk(state, { content }));
    }
    case "tool-input-start":
      return part.providerExecuted === true ? [] : [startToolCall(state, part)];
    case "tool-input-delta":
      return continueToolCall(state, part.id, part.delta);
    case "tool-call":
      return endToolCall(state, part);
    case "finish":
      return finish(state, part);
    case "error":
      throw toVendorError(part.error, state.vendor);
    case "file":
      throw unexpectedFile(part.mediaType, state.vendor);
    default:
      // Ends of blocks, sources, pings and what a vendor's own tools did have no place in a chunk.
      return [];
  }
}

/** The chunks of one choice; throws unless the stream ends with a finish. */
export async function* toChunks(
  parts: AsyncIterable<LanguageModelV4StreamPart>,
  head: AnswerHead,
  { onUnused, vendor }: Pick<StreamState, "onUnused" | "vendor">,
): AsyncGenerator<ChatCompletionChunk> {
  const state: StreamState = {
    vendor,
    onUnused,
    head,
    begun: false,
    finished: false,
    toolCalls: new Map(),
    reasoning: new Map(),
  };
  for await (const part of parts) yield* translate(state, part);
  if (!state.finished) throw new AppError("upstream_failed", `${vendor.label} aborted the response.`);
}

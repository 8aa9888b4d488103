/**
 * Normalizes the chunks of a stream for strict clients: one ID, creation time and model for all chunks, a delta in every
 * choice, one finish reason per choice, and the usage in one last chunk without choices.
 */
import type { ChatCompletionChunk } from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import { invalidResponse, tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { isObject, nonEmptyText, type JsonObject } from "../../json-object.ts";
import type { SseEvent } from "../../streams/sse-decoder.ts";
import { errorEvent, parseEvent } from "./parse-event.ts";
import { maxChoices } from "./response-limits.ts";
import {
  choiceIndex,
  finishReasonOf,
  newCompletionId,
  normalizeChoice,
  normalizeHead,
  textOf,
  takeUsage,
  throwEmbeddedError,
  unixSeconds,
} from "./normalize-parts.ts";
import { ToolCallPieces } from "./normalize-tool-calls.ts";
import { splitChunk } from "./split-chunk.ts";
import { TextPieces } from "./text-pieces.ts";

/** Chunks that come before any identity or text, such as Azure's filter results for the prompt, and are held back. */
const maxHeldChunks = 16;
/** An event below this size has no part that is too large for a client. */
const smallEventLength = 65_536;
const choiceMembers = new Set(["index", "delta", "finish_reason", "logprobs", "stop_reason"]);
const chunkMembers = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "system_fingerprint",
  "service_tier",
  "obfuscation",
]);

interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Texts that engines stream, and may cut anywhere. */
const textMembers = ["content", "reasoning_content", "reasoning", "refusal"] as const;

interface ChoiceState {
  /** The chunk with the finish reason, without what it has of an answer; sent at the end, because more of the answer may follow. */
  finish: JsonObject | undefined;
  hasRole: boolean;
  toolCalls: ToolCallPieces | undefined;
  readonly texts: Map<string, TextPieces>;
}

export class ChunkNormalizer {
  readonly #model: string;
  readonly #out: (chunk: ChatCompletionChunk) => void;
  readonly #choices = new Map<number, ChoiceState>();
  #head: Head | undefined;
  #held: JsonObject[] = [];
  #usageChunk: JsonObject | undefined;

  /** @param model used if the engine names no model */
  constructor(model: string, out: (chunk: ChatCompletionChunk) => void) {
    this.#model = model;
    this.#out = out;
  }

  /** Whether every choice that has begun has its finish reason. */
  get isFinished(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ finish }) => finish !== undefined);
  }

  /**
   * Takes one event.
   * @returns whether it is a part of the answer; pings and the like are passed over
   * @throws AppError upstream_failed if it is not JSON, or the error in it
   */
  accept({ data, type }: SseEvent): boolean {
    if (type === "error") throw errorEvent(data);
    const chunk = parseEvent({ data, type });
    if (chunk === undefined) return false;
    throwEmbeddedError(chunk);
    const choices = chunk["choices"] ?? [];
    if (!Array.isArray(choices)) throw invalidResponse("a chunk's choices are not a list");
    if (choices.length > maxChoices) throw tooManyInResponse("choices", maxChoices);
    const usage = takeUsage(chunk);
    const id = nonEmptyText(chunk["id"]);
    if (chunk["choices"] == null && usage === undefined && id === undefined) return false;
    normalizeHead(chunk);
    if (usage !== undefined) this.#keepUsage(chunk, choices.length === 0);
    chunk["choices"] = choices.filter((choice: unknown, position) => this.#normalizeChoice(choice, position, chunk));
    const isEmpty = (chunk["choices"] as unknown[]).length === 0;
    if (isEmpty && (usage !== undefined || choices.length > 0 || !hasOtherMembers(chunk, chunkMembers))) return true;
    if (this.#head === undefined && id === undefined && isEmpty && this.#held.length < maxHeldChunks) {
      this.#held.push(chunk);
      return true;
    }
    this.#emit(chunk, data.length);
    return true;
  }

  /**
   * Emits the remaining chunks when the stream has ended.
   * @param isDone whether the engine sent `[DONE]`
   * @throws AppError upstream_failed unless the stream is complete
   */
  end(isDone: boolean): void {
    if (this.#choices.size === 0 || (!this.isFinished && !isDone)) throw endedEarly();
    for (const [index, state] of this.#choices) {
      const delta = restOf(state);
      if (Object.keys(delta).length > 0) {
        this.#emit({ choices: [{ index, delta, logprobs: null, finish_reason: null }] }, 0);
      }
      const { finish = { choices: [{ index, delta: {}, logprobs: null, finish_reason: "stop" }] }, toolCalls } = state;
      const [choice] = finish["choices"] as [JsonObject];
      // Some engines call every end "stop"; clients run tools only for "tool_calls".
      if (choice["finish_reason"] === "stop" && toolCalls?.hasCalls === true) choice["finish_reason"] = "tool_calls";
      this.#emit(finish, 0);
    }
    if (this.#usageChunk !== undefined) this.#emit(this.#usageChunk, 0);
  }

  /** The last usage is that of the whole stream; some engines send it with every chunk. */
  #keepUsage(chunk: JsonObject, isUsageAlone: boolean): void {
    if (isUsageAlone) {
      this.#usageChunk = { ...chunk, choices: [] };
      return;
    }
    this.#usageChunk = { ...this.#usageChunk, choices: [], usage: chunk["usage"] };
    delete chunk["usage"];
  }

  #emit(chunk: JsonObject, length: number): void {
    const isFirst = this.#head === undefined;
    this.#head ??= {
      id: nonEmptyText(chunk["id"]) ?? newCompletionId(),
      created: unixSeconds(chunk["created"]),
      model: nonEmptyText(chunk["model"]) ?? this.#model,
    };
    const { id, created, model } = this.#head;
    if (isFirst && this.#held.length > 0) {
      const held = this.#held;
      this.#held = [];
      for (const earlier of held) this.#emit(earlier, 0);
    }
    chunk["id"] = id;
    chunk["object"] = "chat.completion.chunk";
    chunk["created"] = created;
    chunk["model"] = model;
    // Every member that the type demands has been checked or set.
    const whole = chunk as unknown as ChatCompletionChunk;
    if (length <= smallEventLength) this.#out(whole);
    else for (const piece of splitChunk(whole)) this.#out(piece);
  }

  /** @returns false if the choice contains nothing new */
  #normalizeChoice(choice: unknown, position: number, chunk: JsonObject): boolean {
    if (!isObject(choice)) throw invalidResponse("a choice in a chunk is not an object");
    normalizeChoice(choice);
    const index = choiceIndex(choice, position);
    choice["index"] = index;
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = { finish: undefined, hasRole: false, toolCalls: undefined, texts: new Map() };
      this.#choices.set(index, state);
    }
    const delta = isObject(choice["delta"]) ? choice["delta"] : {};
    choice["delta"] = delta;
    const hasNews = normalizeDelta(delta, state);
    const reason = finishReasonOf(choice["finish_reason"]);
    const isFinished = state.finish !== undefined;
    choice["finish_reason"] = null;
    if (reason === null) {
      const begins = !isFinished && delta["role"] != null;
      return hasNews || begins || choice["logprobs"] != null || hasOtherMembers(choice, choiceMembers);
    }
    if (isFinished) {
      const [last] = state.finish!["choices"] as [JsonObject];
      last["finish_reason"] = reason;
    } else state.finish = { ...chunk, choices: [{ ...choice, delta: {}, finish_reason: reason }] };
    if (hasNews && !isFinished) (state.finish!["choices"] as [JsonObject])[0]["logprobs"] = null;
    return hasNews;
  }
}

/** @returns whether the delta has any content */
function normalizeDelta(delta: JsonObject, state: ChoiceState): boolean {
  if (delta["role"] !== undefined) {
    // Clients join the texts of all deltas, roles included.
    if (nonEmptyText(delta["role"]) === undefined || state.hasRole) delete delta["role"];
    else {
      delta["role"] = "assistant";
      state.hasRole = true;
    }
  }
  if (delta["content"] !== undefined) delta["content"] = textOf(delta["content"], "a delta's content");
  if (delta["refusal"] != null && typeof delta["refusal"] !== "string") delete delta["refusal"];
  for (const name of textMembers) {
    const text = delta[name];
    if (typeof text === "string" && text !== "") delta[name] = joined(state, name, text);
  }
  if ("tool_calls" in delta) {
    state.toolCalls ??= new ToolCallPieces();
    const pieces = state.toolCalls.normalize(delta["tool_calls"]);
    if (pieces.length > 0) delta["tool_calls"] = pieces;
    else delete delta["tool_calls"];
  }
  for (const name in delta) {
    if (name !== "role" && delta[name] !== null && delta[name] !== "") return true;
  }
  return false;
}

function joined({ texts }: ChoiceState, name: string, text: string): string {
  let pieces = texts.get(name);
  if (pieces === undefined) texts.set(name, (pieces = new TextPieces()));
  return pieces.join(text);
}

/** What was held back of the choice's answer, as a delta. */
function restOf({ texts, toolCalls }: ChoiceState): JsonObject {
  const delta: JsonObject = {};
  for (const [name, pieces] of texts) {
    const rest = pieces.rest();
    if (rest !== "") delta[name] = rest;
  }
  const calls = toolCalls?.rest() ?? [];
  if (calls.length > 0) delta["tool_calls"] = calls;
  return delta;
}

function hasOtherMembers(object: JsonObject, expected: ReadonlySet<string>): boolean {
  for (const name in object) if (!expected.has(name)) return true;
  return false;
}

export function endedEarly(cause?: unknown): AppError {
  return new AppError("upstream_failed", "The engine's stream ended before the response was complete.", { cause });
}

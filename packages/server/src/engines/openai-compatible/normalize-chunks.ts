/**
 * Normalizes the chunks of a stream for strict clients: one ID, creation time and model for all chunks, a delta in every
 * choice, one finish reason per choice, and the usage in one last chunk without choices.
 */
import type { ChatCompletionChunk } from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import { invalidResponse, tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { harmlessJsonLength, JsonValueCount } from "../upstream-http/json-value-count.ts";
import { isObject, nonEmptyText, type JsonObject } from "../../json-object.ts";
import { maxChoices, maxEventValues } from "./response-limits.ts";
import {
  choiceIndex,
  finishReasonOf,
  newCompletionId,
  normalizeChoice,
  normalizeHead,
  textOf,
  throwEmbeddedError,
  unixSeconds,
  usageOf,
} from "./normalize-parts.ts";
import { ToolCallPieces } from "./normalize-tool-calls.ts";
import { splitChunk } from "./split-chunk.ts";

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

interface ChoiceState {
  isFinished: boolean;
  toolCalls: ToolCallPieces | undefined;
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

  /**
   * Takes the data of one event.
   * @throws AppError upstream_failed if it is not a chunk, or the error in it
   */
  accept(data: string): void {
    const chunk = parseChunk(data);
    throwEmbeddedError(chunk);
    const choices = chunk["choices"] ?? [];
    if (!Array.isArray(choices)) throw invalidResponse("a chunk's choices are not a list");
    if (choices.length > maxChoices) throw tooManyInResponse("choices", maxChoices);
    const usage = chunk["usage"] == null ? undefined : usageOf(chunk["usage"]);
    if (usage === undefined && chunk["usage"] != null) delete chunk["usage"];
    const id = nonEmptyText(chunk["id"]);
    if (chunk["choices"] == null && usage === undefined && id === undefined) {
      throw invalidResponse("an event is not a chunk");
    }
    normalizeHead(chunk);
    chunk["choices"] = choices.filter((choice: unknown, position) => this.#normalizeChoice(choice, position));
    if (usage !== undefined) this.#keepUsage(chunk);
    const isEmpty = (chunk["choices"] as unknown[]).length === 0;
    if (isEmpty && (usage !== undefined || choices.length > 0 || !hasOtherMembers(chunk, chunkMembers))) return;
    if (this.#head === undefined && id === undefined && isEmpty && this.#held.length < maxHeldChunks) {
      this.#held.push(chunk);
      return;
    }
    this.#emit(chunk, data.length);
  }

  /**
   * Emits the remaining chunks when the stream has ended.
   * @param isDone whether the engine sent `[DONE]`
   * @throws AppError upstream_failed unless the stream is complete
   */
  end(isDone: boolean): void {
    const unfinished = [...this.#choices].filter(([, choice]) => !choice.isFinished);
    if (this.#choices.size === 0 || (unfinished.length > 0 && !isDone)) throw endedEarly();
    for (const [index, { toolCalls }] of unfinished) {
      const reason = toolCalls?.hasCalls === true ? "tool_calls" : "stop";
      this.#emit({ choices: [{ index, delta: {}, logprobs: null, finish_reason: reason }] }, 0);
    }
    if (this.#usageChunk !== undefined) this.#emit(this.#usageChunk, 0);
  }

  /** The last usage is that of the whole stream; some engines send it with every chunk. */
  #keepUsage(chunk: JsonObject): void {
    if ((chunk["choices"] as unknown[]).length === 0) {
      this.#usageChunk = chunk;
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

  /** @returns false if the choice has ended and contains nothing new */
  #normalizeChoice(choice: unknown, position: number): boolean {
    if (!isObject(choice)) throw invalidResponse("a choice in a chunk is not an object");
    normalizeChoice(choice);
    const index = choiceIndex(choice, position);
    choice["index"] = index;
    let state = this.#choices.get(index);
    if (state === undefined) {
      state = { isFinished: false, toolCalls: undefined };
      this.#choices.set(index, state);
    }
    const delta = isObject(choice["delta"]) ? choice["delta"] : {};
    choice["delta"] = delta;
    const hasNews = normalizeDelta(delta, state);
    const reason = finishReasonOf(choice["finish_reason"]);
    if (state.isFinished) {
      choice["finish_reason"] = null;
      return hasNews || hasOtherMembers(choice, choiceMembers);
    }
    choice["finish_reason"] = reason;
    state.isFinished = reason !== null;
    return true;
  }
}

/** @returns whether the delta has any content */
function normalizeDelta(delta: JsonObject, state: ChoiceState): boolean {
  if (delta["role"] !== undefined) {
    if (nonEmptyText(delta["role"]) === undefined) delete delta["role"];
    else delta["role"] = "assistant";
  }
  if (delta["content"] !== undefined) delta["content"] = textOf(delta["content"], "a delta's content");
  if (delta["refusal"] != null && typeof delta["refusal"] !== "string") delete delta["refusal"];
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

function hasOtherMembers(object: JsonObject, expected: ReadonlySet<string>): boolean {
  for (const name in object) if (!expected.has(name)) return true;
  return false;
}

function parseChunk(data: string): JsonObject {
  let value: unknown;
  if (data.length > harmlessJsonLength) new JsonValueCount(maxEventValues).push(Buffer.from(data));
  try {
    value = JSON.parse(data);
  } catch (error) {
    throw new AppError("upstream_failed", "The engine sent an invalid response: an event is not JSON.", {
      cause: error,
    });
  }
  if (!isObject(value)) throw invalidResponse("an event is not a JSON object");
  return value;
}

export function endedEarly(cause?: unknown): AppError {
  return new AppError("upstream_failed", "The engine's stream ended before the response was complete.", { cause });
}

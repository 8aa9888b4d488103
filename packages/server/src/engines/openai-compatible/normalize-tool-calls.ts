/** Normalizes the tool call deltas of one streamed choice. */
import { tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { maxToolCalls } from "./response-limits.ts";
import { isObject, nonEmptyText, wholeNumber, type JsonObject } from "../../json-object.ts";
import { argumentsOf, newToolCallId } from "./normalize-parts.ts";

interface ToolCall {
  /** The index under which clients know the call; -1: the call is of a kind that clients do not know. */
  readonly index: number;
  /** The identity that the engine gave, if any. */
  readonly id: string | undefined;
}

/**
 * Gives every piece an index, every call exactly one id, and drops calls of anything but functions.
 *
 * Engines differ: some send no index, some the same index for every call (each with its own id and name), some
 * repeat the id with every piece.
 */
export class ToolCallPieces {
  /** By the engine's index; for pieces without one, by position. */
  readonly #calls = new Map<number, ToolCall>();
  /** Of functions; those that clients may see. */
  #count = 0;
  #begun = 0;
  #latest = 0;
  #highest = -1;

  get hasCalls(): boolean {
    return this.#count > 0;
  }

  /** @returns the pieces that clients may see */
  normalize(value: unknown): JsonObject[] {
    if (!Array.isArray(value)) return [];
    return value.filter((piece): piece is JsonObject => isObject(piece) && this.#normalizePiece(piece));
  }

  #normalizePiece(piece: JsonObject): boolean {
    const id = nonEmptyText(piece["id"]);
    const called = isObject(piece["function"]) ? piece["function"] : undefined;
    const name = nonEmptyText(called?.["name"]);
    const key = wholeNumber(piece["index"]) ?? this.#keyWithoutIndex(id, name);
    this.#latest = key;
    const known = this.#calls.get(key);
    const isNew = known === undefined || (id !== undefined && id !== known.id && name !== undefined);
    const call = isNew ? this.#begin(key, id, piece["type"]) : known;
    if (call.index === -1) return false;
    piece["index"] = call.index;
    if (isNew) {
      piece["id"] = id ?? newToolCallId();
      piece["type"] = "function";
    } else {
      delete piece["id"];
      if (piece["type"] !== undefined) piece["type"] = "function";
    }
    if (called === undefined) {
      piece["function"] = {};
      return true;
    }
    if ("arguments" in called) called["arguments"] = argumentsOf(called["arguments"]);
    if (name === undefined || !isNew) delete called["name"];
    return true;
  }

  /** A piece with an id or a name that is not the latest call's begins the next call; any other continues the latest. */
  #keyWithoutIndex(id: string | undefined, name: string | undefined): number {
    const latest = this.#calls.get(this.#latest);
    if (latest === undefined) return 0;
    const isNext = id === undefined ? name !== undefined : id !== latest.id;
    return isNext ? this.#highest + 1 : this.#latest;
  }

  #begin(key: number, id: string | undefined, type: unknown): ToolCall {
    this.#begun += 1;
    if (this.#begun > maxToolCalls) throw tooManyInResponse("tool calls", maxToolCalls);
    this.#highest = Math.max(this.#highest, key);
    const isFunction = type == null || type === "" || type === "function";
    const call = { index: isFunction ? this.#count++ : -1, id };
    this.#calls.set(key, call);
    return call;
  }
}

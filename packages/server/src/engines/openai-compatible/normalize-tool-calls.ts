/** Normalizes the tool call deltas of one streamed choice. */
import { tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { maxToolCalls } from "./response-limits.ts";
import { isObject, nonEmptyText, wholeNumber, type JsonObject } from "../../json-object.ts";
import { JsonEnd } from "../../streams/json-end.ts";
import { argumentsOf, newToolCallId } from "./normalize-parts.ts";
import { TextPieces } from "./text-pieces.ts";

interface ToolCall {
  /** The index under which clients know the call; -1: the call is of a kind that clients do not know. */
  readonly index: number;
  /** The identity that the engine gave, if any. */
  readonly id: string | undefined;
  name: string;
  /** Whether pieces after the first repeated the name. */
  repeatsName: boolean;
  readonly arguments: TextPieces;
  readonly end: JsonEnd;
}

/** The first piece of a call without arguments: the rest of its name may follow, and clients expect the whole name at once. */
interface HeldPiece {
  readonly call: ToolCall;
  readonly piece: JsonObject;
}

/**
 * Gives every piece an index, every call exactly one id, and drops calls of anything but functions.
 *
 * Engines differ: some send no index, some the same index for every call (each with its own id and name, or with a name
 * alone), some repeat the id and the name with every piece, and some send the name in pieces.
 */
export class ToolCallPieces {
  /** By the engine's index; for pieces without one, by position. */
  readonly #calls = new Map<number, ToolCall>();
  /** Of functions; those that clients may see. */
  #count = 0;
  #begun = 0;
  #latest = 0;
  #highest = -1;
  #held: HeldPiece | undefined;

  get hasCalls(): boolean {
    return this.#count > 0;
  }

  /** @returns the pieces that clients may see */
  normalize(value: unknown): JsonObject[] {
    if (!Array.isArray(value)) return [];
    return value.flatMap((piece: unknown) => (isObject(piece) ? this.#normalizePiece(piece) : []));
  }

  /** What is held back, at the end of the choice. */
  rest(): JsonObject[] {
    const pieces = this.#release();
    for (const { arguments: text, index } of this.#calls.values()) {
      const rest = text.rest();
      if (rest !== "" && index !== -1) pieces.push({ index, function: { arguments: rest } });
    }
    return pieces;
  }

  #normalizePiece(piece: JsonObject): JsonObject[] {
    const id = nonEmptyText(piece["id"]);
    const called = isObject(piece["function"]) ? piece["function"] : {};
    const name = nonEmptyText(called["name"]);
    const text = "arguments" in called ? argumentsOf(called["arguments"]) : "";
    const key = wholeNumber(piece["index"]) ?? this.#keyWithoutIndex(id, name);
    this.#latest = key;
    const known = this.#calls.get(key);
    const isNew = known === undefined || beginsNext(known, { id, name, text });
    // An ID that an earlier call has under this index is not the new call's own.
    const ownId = isNew && known !== undefined && id === known.id ? undefined : id;
    const call = isNew ? this.#begin(key, { id: ownId, name, type: piece["type"] }) : known;
    if (call.index === -1) return [];
    call.end.push(text);
    piece["index"] = call.index;
    if ("arguments" in called) called["arguments"] = call.arguments.join(text);
    piece["function"] = called;
    if (isNew) {
      piece["id"] = ownId ?? newToolCallId();
      piece["type"] = "function";
      if (name === undefined) delete called["name"];
      const released = this.#release();
      if (text !== "") return [...released, piece];
      this.#held = { call, piece };
      return released;
    }
    delete piece["id"];
    if (piece["type"] !== undefined) piece["type"] = "function";
    delete called["name"];
    if (name !== undefined) this.#continueName(call, name);
    if (this.#held?.call === call && text === "") return [];
    return [...this.#release(), piece];
  }

  /** The name's next piece, or the name once more. */
  #continueName(call: ToolCall, name: string): void {
    call.repeatsName = true;
    if (this.#held?.call !== call || name === call.name) return;
    call.name += name;
    (this.#held.piece["function"] as JsonObject)["name"] = call.name;
  }

  #release(): JsonObject[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? [] : [held.piece];
  }

  /** A piece with an id or a name that is not the latest call's begins the next call; any other continues the latest. */
  #keyWithoutIndex(id: string | undefined, name: string | undefined): number {
    const latest = this.#calls.get(this.#latest);
    if (latest === undefined) return 0;
    const isNext = id === undefined ? name !== undefined : id !== latest.id;
    return isNext ? this.#highest + 1 : this.#latest;
  }

  #begin(
    key: number,
    { id, name, type }: { id: string | undefined; name: string | undefined; type: unknown },
  ): ToolCall {
    this.#begun += 1;
    if (this.#begun > maxToolCalls) throw tooManyInResponse("tool calls", maxToolCalls);
    this.#highest = Math.max(this.#highest, key);
    const isFunction = type == null || type === "" || type === "function";
    const call = {
      index: isFunction ? this.#count++ : -1,
      id,
      name: name ?? "",
      repeatsName: false,
      arguments: new TextPieces(),
      end: new JsonEnd(),
    };
    this.#calls.set(key, call);
    return call;
  }
}

interface Piece {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly text: string;
}

/** Whether a piece under the index of a call begins another one: it has its own ID, or comes after complete arguments. */
function beginsNext(known: ToolCall, { id, name, text }: Piece): boolean {
  if (name === undefined) return false;
  if (id !== undefined && id !== known.id) return true;
  return known.end.isComplete && !known.repeatsName && (name !== known.name || text !== "");
}

/** Applies the guardrails to one choice of a streamed answer. */
import type { ChatChunkChoice, ChatDelta } from "../api/chat-answer.ts";
import { isBlocked, type Checker, type Finding, type OnUse, type TextFilter } from "./finding.ts";
import { checkTexts, type TextMapping } from "./check-texts.ts";
import { mapJsonTexts } from "./json-texts.ts";
import { inputLimit } from "../input-limits.ts";

export interface AnswerCheck {
  readonly checkers: readonly Checker[];
  readonly signal: AbortSignal;
  report(finding: Finding): void;
  readonly onUse?: OnUse | undefined;
}

type ToolCallPiece = NonNullable<ChatDelta["tool_calls"]>[number];

/** Tool arguments with more characters end the choice: unchecked text is not released. */
export const maximumArguments = inputLimit({
  area: "Chat completions",
  bounds: "Arguments of the tool calls in one choice, if guardrails check the response",
  value: 1_048_576,
  unit: "characters",
  error: { instead: "the choice ends with `content_filter`" },
});
/** What a call counts as, however short it is. */
const charactersPerCall = 128;
/** Keeps frames within what strict clients accept, after any escaping. */
const argumentsPerChunk = 65_536;

/** A text and the filters that it passes, one after the other. */
interface Channel {
  readonly filters: readonly { readonly name: string; readonly filter: TextFilter }[];
}

export class GuardedChoice {
  /** Whether nothing more of it is released. */
  isOver = false;
  isBlocked = false;
  readonly #index: number;
  readonly #check: AnswerCheck;
  readonly #channels = new Map<string, Channel>();
  /** By index. */
  readonly #calls = new Map<number, ToolCallPiece>();
  #argumentsLength = 0;

  constructor(index: number, check: AnswerCheck) {
    this.#index = index;
    this.#check = check;
  }

  /** What may be released after this delta, in order. */
  async push({ delta, finish_reason: reason }: ChatChunkChoice): Promise<ChatChunkChoice[]> {
    const isLast = reason !== null;
    const out: ChatDelta = delta.role === undefined ? {} : { role: delta.role };
    const { tool_calls: calls = [], ...members } = delta;
    for (const [name, text] of Object.entries(members)) {
      // Anything but text and tool calls cannot be checked, and is withheld.
      if (name === "role" || typeof text !== "string") continue;
      if (!(await this.#pushText(name, text, out))) return this.#block(out.role);
    }
    for (const call of calls) this.#keepCall(call);
    if (this.#argumentsLength > maximumArguments) return this.#block(out.role);
    return isLast ? this.#finish(out, reason) : this.#choices(out);
  }

  /** The stream ends without a finish reason: releases withheld text that passes. */
  async end(): Promise<ChatChunkChoice[]> {
    return this.isOver ? [] : this.#finish({}, null);
  }

  async #finish(out: ChatDelta, reason: ChatChunkChoice["finish_reason"]): Promise<ChatChunkChoice[]> {
    for (const name of this.#channels.keys()) {
      if (!(await this.#pushText(name, "", out, true))) return this.#block(out.role);
    }
    const calls = await this.#judgedCalls();
    if (calls === undefined) return this.#block(out.role);
    this.isOver = true;
    const pieces = calls.flatMap(inPieces).map((call) => this.#choice({ tool_calls: [call] }));
    return [...this.#choices(out), ...pieces, ...(reason === null ? [] : [this.#choice({}, reason)])];
  }

  /** Adds the releasable part of a member to the delta. @returns false if nothing more may be released */
  async #pushText(name: string, piece: string, out: ChatDelta, isLast = false): Promise<boolean> {
    let text = piece;
    for (const { filter, name: guardrail } of this.#channel(name).filters) {
      const filtered = await filter.push(text, isLast);
      for (const found of filtered.findings) this.#check.report({ ...found, guardrail, side: "output" });
      if (isBlocked(filtered)) return false;
      text = filtered.text;
    }
    const texts = out as Record<string, string | undefined>;
    if (text !== "") texts[name] = (texts[name] ?? "") + text;
    return true;
  }

  #channel(name: string): Channel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      const { checkers, onUse, signal } = this.#check;
      channel = { filters: checkers.map((checker) => ({ name: checker.name, filter: checker.filter(signal, onUse) })) };
      this.#channels.set(name, channel);
    }
    return channel;
  }

  #keepCall(piece: ToolCallPiece): void {
    const text = piece.function?.arguments ?? "";
    this.#argumentsLength += text.length;
    const known = this.#calls.get(piece.index);
    if (known === undefined) {
      // Calls without arguments cost memory too.
      this.#argumentsLength += charactersPerCall;
      this.#calls.set(piece.index, { ...piece, function: { ...piece.function, arguments: text } });
      return;
    }
    known.function!.arguments += text;
    known.function!.name ??= piece.function?.name as string;
  }

  /** The tool calls, with their complete arguments checked; undefined: they must not be released. */
  async #judgedCalls(): Promise<ToolCallPiece[] | undefined> {
    let calls = [...this.#calls.values()];
    const { checkers, ...check } = this.#check;
    for (const checker of checkers) {
      const { blocked, value } = await checkTexts(calls, mapArguments, { ...check, checker, side: "output" });
      if (blocked !== undefined) return undefined;
      calls = value;
    }
    return calls;
  }

  #block(role: ChatDelta["role"]): ChatChunkChoice[] {
    this.isOver = true;
    this.isBlocked = true;
    return [this.#choice(role === undefined ? {} : { role }, "content_filter")];
  }

  #choices(delta: ChatDelta): ChatChunkChoice[] {
    return Object.keys(delta).length === 0 ? [] : [this.#choice(delta)];
  }

  #choice(delta: ChatDelta, reason: ChatChunkChoice["finish_reason"] = null): ChatChunkChoice {
    return { index: this.#index, delta, finish_reason: reason };
  }
}

async function mapArguments(calls: ToolCallPiece[], mapping: TextMapping): Promise<ToolCallPiece[]> {
  const mapped: ToolCallPiece[] = [];
  for (const call of calls) {
    const text = await mapJsonTexts(call.function!.arguments!, mapping);
    mapped.push({ ...call, function: { ...call.function, arguments: text } });
    if (mapping.yielder.isDue()) await mapping.yielder.yield();
  }
  return mapped;
}

/** A tool call as deltas: the first names the function whose arguments follow. */
function inPieces(call: ToolCallPiece): ToolCallPiece[] {
  const { arguments: text = "", ...named } = call.function ?? {};
  const pieces: ToolCallPiece[] = [];
  for (let at = 0; at === 0 || at < text.length;) {
    let end = Math.min(at + argumentsPerChunk, text.length);
    if (/[\ud800-\udbff]/.test(text[end - 1] ?? "") && end < text.length) end += 1;
    const piece = text.slice(at, end);
    pieces.push(
      at === 0
        ? { ...call, function: { ...named, arguments: piece } }
        : { index: call.index, function: { arguments: piece } },
    );
    at = Math.max(end, 1);
  }
  return pieces;
}

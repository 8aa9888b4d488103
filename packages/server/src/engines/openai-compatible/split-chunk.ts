/**
 * Splits a large chunk: some clients reject events of a mebibyte and more, and engines that only emulate streaming send a
 * whole completion as one.
 */
import type { ChatCompletionChunk, ChatChunkChoice } from "../../api/chat-answer.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** Longest text in one chunk, UTF-16 code units: 384 KiB if every one is three bytes, 768 KiB if every one is escaped. */
const longestText = 131_072;
/** Most tokens with log probabilities in one chunk: with 20 alternatives each about half a mebibyte. */
const mostLogprobs = 256;

/** @returns chunks that together say the same; the last of each choice has its finish reason */
export function splitChunk(chunk: ChatCompletionChunk): ChatCompletionChunk[] {
  const pieces = chunk.choices.flatMap((choice) => splitChoice(choice));
  if (pieces.length === chunk.choices.length) return [chunk];
  return pieces.map((choice) => ({ ...chunk, choices: [choice] }));
}

function splitChoice(choice: ChatChunkChoice): ChatChunkChoice[] {
  const { delta, logprobs, finish_reason } = choice;
  const deltas = splitDelta(delta);
  const tokens = logprobs?.content ?? [];
  const slices = tokens.length > mostLogprobs ? slice(tokens) : [];
  const count = Math.max(deltas.length, slices.length);
  if (count <= 1) return [choice];
  return Array.from({ length: count }, (_, at) => ({
    ...choice,
    delta: deltas[at] ?? {},
    logprobs:
      slices.length > 0
        ? slices[at] === undefined
          ? null
          : { content: slices[at] }
        : at === 0
          ? (logprobs ?? null)
          : null,
    finish_reason: at === count - 1 ? finish_reason : null,
  }));
}

function slice<T>(items: readonly T[]): T[][] {
  const slices: T[][] = [];
  for (let at = 0; at < items.length; at += mostLogprobs) slices.push(items.slice(at, at + mostLogprobs));
  return slices;
}

/** The first delta has everything but the ends of its long texts; each of the others one piece of one of them. */
function splitDelta(delta: JsonObject): JsonObject[] {
  const first: JsonObject = { ...delta };
  const rest: JsonObject[] = [];
  for (const [name, value] of Object.entries(delta)) {
    if (typeof value !== "string" || value.length <= longestText) continue;
    const [begin = "", ...others] = splitText(value);
    first[name] = begin;
    rest.push(...others.map((piece) => ({ [name]: piece })));
  }
  const calls = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as JsonObject[]) : [];
  if (calls.length > 0) {
    const split = calls.map(splitToolCall);
    first["tool_calls"] = split.map(([begin]) => begin);
    rest.push(...split.flatMap(([, ...others]) => others.map((piece) => ({ tool_calls: [piece] }))));
  }
  return [first, ...rest];
}

function splitToolCall(call: JsonObject): JsonObject[] {
  const called = call["function"];
  const text = isObject(called) ? called["arguments"] : undefined;
  if (!isObject(called) || typeof text !== "string" || text.length <= longestText) return [call];
  const [begin, ...others] = splitText(text);
  return [
    { ...call, function: { ...called, arguments: begin } },
    ...others.map((piece) => ({ index: call["index"], function: { arguments: piece } })),
  ];
}

/** Never between the two halves of a character. */
function splitText(text: string): string[] {
  const pieces: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + longestText, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
}

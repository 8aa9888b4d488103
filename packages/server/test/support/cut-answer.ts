/** Cuts a chat completion into deltas, in any of the ways in which engines do. */
import * as fc from "fast-check";
import type { ChatDelta } from "../../src/api/chat-answer.ts";
import type { JsonObject } from "../../src/json-object.ts";

/** Where `cut` cuts. */
export const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

/** A text in pieces at the given relative places. */
export function cut(text: string, at: readonly number[]): string[] {
  const ends = [...new Set(at.map((place) => Math.floor(place * text.length)))].sort((left, right) => left - right);
  return [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end));
}

/** All pieces of the calls, those of each call in their order, those of different calls in any. */
export function interleave(queues: (ChatDelta & JsonObject)[][], order: Iterator<number>): (ChatDelta & JsonObject)[] {
  const mixed: (ChatDelta & JsonObject)[] = [];
  // A call begins after the one before it has begun.
  for (let begun = 0; queues.some((queue) => queue.length > 0);) {
    const open = queues.slice(0, begun).filter((queue) => queue.length > 0);
    if (begun < queues.length && (open.length === 0 || Number(order.next().value) % 3 === 0)) {
      mixed.push(queues[begun]!.shift()!);
      begun += 1;
    } else mixed.push(open[Number(order.next().value) % open.length]!.shift()!);
  }
  return mixed;
}

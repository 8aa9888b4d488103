/**
 * Takes the lists of numbers out of JSON text, one at a time. A vendor's vectors are megabytes of decimal numbers, which would
 * block the event loop if the adapter parsed and checked them.
 */
import { CooperativeYield, longStep } from "../../scheduling/cooperative-yield.ts";

export interface TakenLists {
  /** The text with `[n]` for the list with the index n. */
  readonly text: string;
  readonly lists: readonly Float32Array[];
}

/** A list that begins like one of numbers and has no list in it. It may also be part of a string. */
const candidate = /\[\s*-?\d[^[\]]*\]/g;

export async function takeNumberLists(text: string): Promise<TakenLists> {
  const yielder = new CooperativeYield();
  const lists: Float32Array[] = [];
  let rest = "";
  let from = 0;
  for (const { 0: found, index } of text.matchAll(candidate)) {
    const numbers = parseNumbers(found);
    if (numbers === undefined) continue;
    rest += `${text.slice(from, index)}[${lists.length}]`;
    from = index + found.length;
    lists.push(numbers);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return { text: rest + text.slice(from), lists };
}

function parseNumbers(list: string): Float32Array | undefined {
  try {
    const values = JSON.parse(list) as unknown[];
    return values.every((value) => typeof value === "number") ? Float32Array.from(values) : undefined;
  } catch {
    return undefined;
  }
}

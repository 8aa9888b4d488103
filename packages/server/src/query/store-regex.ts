/** Bounds what regular expressions cost in the store, which does not end a statement in the middle of a block of rows. */
import { compileCost } from "@sounding/promql/regex/compile-cost";

/** RE2 takes up to this many steps for each character: about a second for a text of a megabyte. */
const mostInstructions = 250;

export function isCheapInStore(expression: string): boolean {
  return compileCost(expression) <= mostInstructions;
}

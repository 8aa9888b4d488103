/** The errors of the parser and the type checker: position, Prometheus' wording, and what may have been meant. */
import { AppError } from "../../../errors.ts";
import { lineAndColumn, type SourceRange } from "./source-range.ts";

/** A query that cannot be understood, as `1:5: parse error: …`. */
export function parseError(text: string, at: SourceRange, problem: string): AppError {
  return new AppError("invalid_request", `${lineAndColumn(text, at.start)}: parse error: ${problem}`, {
    param: "query",
  });
}

/** `, did you mean "rate"?` when a known name is close to the one that was seen, else nothing. */
export function suggestion(seen: string, known: Iterable<string>): string {
  const lowered = seen.toLowerCase();
  const limit = Math.max(1, Math.floor(lowered.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const name of known) {
    if (Math.abs(name.length - lowered.length) >= bestDistance) continue;
    const distance = editDistance(lowered, name);
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best === undefined ? "" : `, did you mean "${best}"?`;
}

/** Damerau-Levenshtein distance with adjacent swaps (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let distance = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + cost);
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) distance = Math.min(distance, beforePrevious[column - 2]! + 1);
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length]!;
}

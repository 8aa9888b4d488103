/** Suggests the known name that is closest to a mistyped one. */

/** Damerau–Levenshtein distance (optimal string alignment). */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = rows[row - 1]![column - 1]! + (from[row - 1] === to[column - 1] ? 0 : 1);
      let best = Math.min(replaced, rows[row - 1]![column]! + 1, current[column - 1]! + 1);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        best = Math.min(best, rows[row - 2]![column - 2]! + 1);
      }
      current.push(best);
    }
    rows.push(current);
  }
  return rows[from.length]![to.length]!;
}

/** The candidate closest to `name`; undefined if none is close. */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > 128) return undefined;
  let closest: string | undefined;
  let smallest = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= smallest) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < smallest) {
      smallest = distance;
      closest = candidate;
    }
  }
  return closest;
}

/** ` Did you mean "x"?`, or nothing. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const closest = closestName(name, candidates);
  return closest === undefined ? "" : ` Did you mean ${JSON.stringify(closest)}?`;
}

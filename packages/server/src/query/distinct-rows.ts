/** Rows without the doubles that the store has of what was sent twice, until it merges them. */

/**
 * The first `limit` different rows of a statement. It is asked again for more where doubles took the place of others.
 * @param read gives the statement's first rows, at most as many as asked for
 * @param keyOf what two doubles have in common
 */
export async function distinctRows<Row>(
  limit: number,
  read: (limit: number) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): Promise<Row[]> {
  for (let asked = limit; ; asked *= 4) {
    const rows = await read(asked);
    const distinct = withoutDoubles(rows, keyOf);
    if (distinct.length >= limit || rows.length < asked) return distinct.slice(0, limit);
  }
}

/** Of rows with one key the first. */
export function withoutDoubles<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = keyOf(row);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** Rows without the doubles that the store has of what was sent twice, until it merges them. */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";

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
    const distinct = await deduplicateRows(rows, keyOf);
    if (distinct.length >= limit || rows.length < asked) return distinct.slice(0, limit);
  }
}

/** Of rows with one key the first. */
export async function deduplicateRows<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Promise<Row[]> {
  const seen = new Set<string>();
  const distinct: Row[] = [];
  const yielder = new CooperativeYield();
  for (const row of rows) {
    const key = keyOf(row);
    if (!seen.has(key)) distinct.push(row);
    seen.add(key);
    if (yielder.isDue()) await yielder.yield();
  }
  return distinct;
}

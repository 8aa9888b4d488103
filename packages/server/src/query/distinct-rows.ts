/** Removes duplicate rows, which the store has until it merges records that were sent twice. */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";

/**
 * The first `limit` distinct rows of a statement. Reads again with a larger limit if duplicates displaced other rows.
 * @param read returns the statement's first rows, at most the requested number
 * @param keyOf the key that duplicates share
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

/** Keeps the first row of each key. */
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

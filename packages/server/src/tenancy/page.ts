/** Pages of a list in the order of creation: `after` is the identifier that ended the page before. */
import type { Page } from "../api/admin.ts";

export interface PageRequest {
  /** 1 to 100. */
  readonly limit: number;
  readonly after?: string | undefined;
}

/** A page from rows that were asked for with one more than the limit, which tells whether there are more. */
export function toPage<Row, Item extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
): Page<Item> {
  const data = rows.slice(0, limit).map(toItem);
  return { object: "list", data, has_more: rows.length > limit, last_id: data.at(-1)?.id ?? null };
}

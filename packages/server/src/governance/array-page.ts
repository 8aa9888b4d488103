/** Lists by `offset` and `limit`, read from lists by cursor. */
import type { Page } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { PageRequest } from "../tenancy/list-query.ts";

const largestPage = 100;
const maximumItems = inputLimit({
  area: "Administration",
  bounds: "Objects in one list of the AI Refinery SDK (`limit`)",
  value: 1000,
  error: "invalid_request",
});
/** Rows before it are read, too. */
const maximumOffset = inputLimit({
  area: "Administration",
  bounds: "Objects to skip in a list of the AI Refinery SDK (`offset`)",
  value: 10_000,
  error: "invalid_request",
});

/** @throws AppError invalid_request */
export async function readArray<Item>(
  query: URLSearchParams,
  read: (page: PageRequest) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const offset = readNumber(query, "offset", { otherwise: 0, least: 0, most: maximumOffset });
  const limit = readNumber(query, "limit", { otherwise: largestPage, least: 1, most: maximumItems });
  const items: Item[] = [];
  let after: string | undefined;
  while (items.length < offset + limit) {
    const page = await read({ limit: Math.min(largestPage, offset + limit - items.length), after });
    items.push(...page.data);
    after = page.last_id ?? undefined;
    if (!page.has_more || after === undefined) break;
  }
  return items.slice(offset);
}

interface Bounds {
  readonly otherwise: number;
  readonly least: number;
  readonly most: number;
}

function readNumber(query: URLSearchParams, name: string, { least, most, otherwise }: Bounds): number {
  const text = query.get(name) ?? String(otherwise);
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new AppError(
    "invalid_request",
    `${name} is ${JSON.stringify(text.slice(0, 100))}; expected an integer from ${least} to ${most}.`,
    { param: name },
  );
}

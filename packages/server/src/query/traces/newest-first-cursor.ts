/** The text form of a place in a list that is ordered by time, newest first, then by ID: the cursor of a query that is read page by page. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";

/** Where a page ended. */
export interface NewestFirstCursor {
  /** The time of the last item of the page. */
  readonly unixNano: string;
  /** The ID of this item. */
  readonly id: string;
  /** Where the first page's range begins, since "the last hour" is later for each page. */
  readonly fromUnixNano: bigint;
}

export function encodeCursor({ fromUnixNano, id, unixNano }: NewestFirstCursor): string {
  return Buffer.from(JSON.stringify([unixNano, id, String(fromUnixNano)])).toString("base64url");
}

/**
 * The cursor that a request names; undefined for the first page.
 * @throws AppError invalid_request for a text that is no cursor
 */
export function decodeCursor(text: string): NewestFirstCursor | undefined {
  if (text === "") return undefined;
  const [unixNano, id, from, ...more] = listOf(text);
  if (isTime(unixNano) && isTime(from) && typeof id === "string" && more.length === 0) {
    return { unixNano, id, fromUnixNano: BigInt(from) };
  }
  throw new AppError(
    "invalid_request",
    `cursor is ${showValue(text)}; expected "" or the next_cursor of a previous response.`,
    { param: "cursor" },
  );
}

const maximumTime = 2n ** 63n - 1n;

function isTime(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,19}$/.test(value) && BigInt(value) <= maximumTime;
}

function listOf(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (Array.isArray(value)) return value;
  } catch {
    // Then it is none.
  }
  return [];
}

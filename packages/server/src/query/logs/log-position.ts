/** The place of a log entry in the order of results, and its text form: the cursor of a query that is read page by page. */
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { bind, sql, type Statement } from "../../store/statement.ts";

/** `backward`: the newest entries first. */
export type Direction = "backward" | "forward";

/** Identifies an entry within an organization. Entries are ordered by time and ID, in either direction, then by project. */
export interface LogPosition {
  readonly unixNano: string;
  readonly recordId: string;
  readonly project: string;
}

/** Where a page ended. */
export interface LogCursor extends LogPosition {
  /** Where the first page's range begins, since "the last hour" is later for each page. 0: where the query's begins. */
  readonly fromUnixNano: bigint;
}

/** Entries after this one in the order of results. */
export function afterCondition({ project, recordId, unixNano }: LogPosition, direction: Direction): Statement {
  const time = bind.time(unixNano);
  const id = bind.uint64(recordId);
  const isNextProject = sql`record_id = ${id} AND project > ${bind.text(project)}`;
  return direction === "backward"
    ? sql`time <= ${time} AND (time < ${time} OR record_id < ${id} OR (${isNextProject}))`
    : sql`time >= ${time} AND (time > ${time} OR record_id > ${id} OR (${isNextProject}))`;
}

/** The ID of an entry: the cursor to the entries after it, in a range that the query names. */
export function entryId(position: LogPosition): string {
  return encodeCursor({ ...position, fromUnixNano: 0n });
}

export function encodeCursor({ fromUnixNano, project, recordId, unixNano }: LogCursor): string {
  return Buffer.from(JSON.stringify([unixNano, recordId, String(fromUnixNano), project])).toString("base64url");
}

/** @throws AppError invalid_request for a text that is no cursor */
export function decodeCursor(text: string): LogCursor {
  const [unixNano, recordId, from, project, ...more] = listOf(text);
  if (isCount(unixNano, maximumTime) && isCount(recordId, maximumId) && isCount(from, maximumTime)) {
    if (typeof project === "string" && more.length === 0) {
      return { unixNano, recordId, fromUnixNano: BigInt(from), project };
    }
  }
  throw new AppError(
    "invalid_request",
    `cursor is ${showValue(text)}; expected "" or the next_cursor of a previous response.`,
    { param: "cursor" },
  );
}

const maximumTime = 2n ** 63n - 1n;
const maximumId = 2n ** 64n - 1n;

function isCount(value: unknown, most: bigint): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value) && BigInt(value) <= most;
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

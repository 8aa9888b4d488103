/**
 * Inserts the records of one segment in large groups. The tokens of the groups come from the segment's name and the records'
 * positions, so that the store drops what it already has when a segment is inserted again.
 */
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import { fullGroup, type Insert } from "../row-writer.ts";
import { describesOthers, type TableName } from "../schema.ts";
import { StoreError } from "../store-error.ts";
import type { WriteReport } from "../store.ts";
import type { JournalRecord } from "./record.ts";

export interface DrainParts {
  readonly insert: Insert;
  /** Resolves once the store is reachable. */
  readonly whenReady: (signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  readonly observe: (report: WriteReport) => void;
  readonly count: InsertCount;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

interface SegmentInserts extends DrainParts {
  readonly segmentId: string;
  readonly refused: JournalRecord[];
}

/** Counts inserts that succeeded, of all segments: the store works. */
export interface InsertCount {
  inserted: number;
}

/** Records `from` to `to` (excluded) of one table. */
interface Group {
  readonly table: TableName;
  readonly records: readonly JournalRecord[];
  readonly from: number;
  readonly to: number;
}

const insertTimeoutMs = 60_000;
const firstRetryMs = 100;
const longestRetryMs = 5000;
/** A group that failed this often while the store was ready is inserted in halves: it may be too much for the store. */
const triesUntilHalves = 5;
/** A record that failed this often while others were inserted is set aside: it would hold up everything behind it. */
const triesUntilRefused = 10;
/** How long rows wait for those that they refer to. */
const referredWaitMs = 10_000;
/** Everything else may be the store's fault, or an operator's, and passes. https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp */
const rowErrors: ReadonlySet<number> = new Set([
  6, // CANNOT_PARSE_TEXT
  27, // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  33, // CANNOT_READ_ALL_DATA
  53, // TYPE_MISMATCH
  69, // ARGUMENT_OUT_OF_BOUND
  70, // CANNOT_CONVERT_TYPE
  117, // INCORRECT_DATA
  128, // TOO_LARGE_ARRAY_SIZE
  131, // TOO_LARGE_STRING_SIZE
  190, // SIZES_OF_ARRAYS_DONT_MATCH
  321, // VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
]);

/** Whether the rows are the reason of the failure, so that a part of them may succeed. */
function concernsRows(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const { code, kind } = error;
  return kind === "too_scattered" || kind === "too_large" || (code !== undefined && rowErrors.has(code));
}

/**
 * Resolves with the records that the store refuses, when it has all others.
 * @param afterReferred called when the rows that other rows refer to are in
 * @throws Error when the signal fires
 */
export async function drainSegment(
  segmentId: string,
  records: readonly JournalRecord[],
  parts: DrainParts,
  afterReferred: () => void,
): Promise<readonly JournalRecord[]> {
  const refused: JournalRecord[] = [];
  const inserts: SegmentInserts = { ...parts, segmentId, refused };
  const groups = [...Map.groupBy(records, ({ table }) => table)].flatMap(([table, recordsOfTable]) =>
    groupsOf(table, recordsOfTable),
  );
  const insertAll = (isWanted: (group: Group) => boolean): Promise<unknown> =>
    Promise.all(groups.filter(isWanted).map((group) => insertGroup(group, inserts)));
  const referred = insertAll(({ table }) => describesOthers(table));
  const isOver = new AbortController();
  await Promise.race([referred, sleep(referredWaitMs, AbortSignal.any([parts.signal, isOver.signal]))]);
  isOver.abort();
  afterReferred();
  await Promise.all([referred, insertAll(({ table }) => !describesOthers(table))]);
  return refused;
}

function groupsOf(table: TableName, records: readonly JournalRecord[]): Group[] {
  const groups: Group[] = [];
  let from = 0;
  let bytes = 0;
  let rows = 0;
  for (const [index, { block, rowCount }] of records.entries()) {
    bytes += block.length;
    rows += rowCount;
    if (bytes < fullGroup.bytes && rows < fullGroup.rows && index < records.length - 1) continue;
    groups.push({ table, records, from, to: index + 1 });
    from = index + 1;
    bytes = 0;
    rows = 0;
  }
  return groups;
}

/** Tries until the rows are in or refused. @throws Error when the signal fires */
async function insertGroup(group: Group, inserts: SegmentInserts): Promise<void> {
  const { table, from, to } = group;
  const { segmentId, insert, whenReady, logger, observe, refused, count, signal } = inserts;
  const records = group.records.slice(from, to);
  const blocks = records.map(({ block }) => block);
  const organizationIds = new Set(records.map(({ organizationId }) => organizationId));
  const token = `${segmentId}-${table}-${from}-${to}`;
  const rows = records.reduce((sum, { rowCount }) => sum + rowCount, 0);
  const insertedBefore = count.inserted;
  for (let tries = 1; ; tries += 1) {
    await whenReady(signal);
    const startMs = performance.now();
    try {
      const attempt = AbortSignal.any([signal, AbortSignal.timeout(insertTimeoutMs)]);
      await insert({ table, blocks, organizationIds, token, signal: attempt });
      count.inserted += 1;
      observe({ table, rows, outcome: "written", durationMs: performance.now() - startMs });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (records.length > 1 && (concernsRows(error) || tries >= triesUntilHalves)) break;
      if (concernsRows(error) || (tries >= triesUntilRefused && count.inserted > insertedBefore)) {
        logger.error({ error, table, rows }, "the telemetry store refuses rows of the journal; they are set aside");
        observe({ table, rows, outcome: "internal", durationMs: performance.now() - startMs });
        refused.push(...records);
        return;
      }
      logger.warn({ error, table, rows, tries }, "rows of the journal could not be inserted; trying again");
      await sleep(Math.min(longestRetryMs, firstRetryMs * 2 ** tries), signal);
      signal.throwIfAborted();
    }
  }
  const middle = from + Math.ceil(records.length / 2);
  await insertGroup({ ...group, to: middle }, inserts);
  await insertGroup({ ...group, from: middle }, inserts);
}

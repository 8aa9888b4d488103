/** Finds which part of a time range can be read from a rollup, and which must be read from rows. */
import { bind, callerOrganization, sql, type Statement } from "../statement.ts";
import type { QueryOptions, TenantReader } from "../store.ts";
import { hourNanos, minuteNanos, type Rollup } from "./rollup.ts";

/** Nanoseconds since 1970, both included. */
interface NanosRange {
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
}

export interface RolledUpPart {
  /** Selects the sums of the part that has been rolled up; undefined if there are none. */
  readonly condition: Statement | undefined;
  /** What must be read from rows, in order of time; the rest of the range has none. */
  readonly rest: readonly NanosRange[];
}

interface RolledUpOptions extends Pick<QueryOptions, "signal"> {
  readonly reader: TenantReader;
  /** Whether the sums have all that is asked; if not, everything is read from rows. */
  readonly isSummed: boolean;
}

/** Shorter ranges are read from rows: finding the sums would cost as much. */
const shortestNanos = 2n * hourNanos;

/** Each piece costs about 2 ms of CPU time besides its rows. */
const mostPieces = 48;
/** Of the hours whose sums a statement can name: 27 months. */
const mostGenerations = 20_000;
/** Within what the store's type for minutes and hours can express, which ends in 2106. */
const lastUnixNano = 4_000_000_000_000_000_000n;

/** @returns the hours that lie completely in the range, less those with writes that their sums do not include */
export async function rolledUpPart(rollup: Rollup, range: NanosRange, options: RolledUpOptions): Promise<RolledUpPart> {
  const { fromUnixNano, toUnixNano } = range;
  const { isSummed, reader } = options;
  const rows = { condition: undefined, rest: [range] };
  if (!isSummed || !reader.usesRollups || toUnixNano - fromUnixNano < shortestNanos) return rows;
  const first = ceilHour(fromUnixNano > 0n ? fromUnixNano - 1n : 0n);
  const end = floorHour(toUnixNano < lastUnixNano ? toUnixNano : lastUnixNano);
  if (first >= end) return rows;
  const hours = await writtenHours(rollup, { first, end }, options);
  const stale = hours.filter(({ generation }) => generation === "0");
  const rest: NanosRange[] = [];
  const read = (from: bigint, to: bigint): void => {
    const last = rest.at(-1);
    if (last?.toUnixNano === from - 1n) rest[rest.length - 1] = { ...last, toUnixNano: to };
    else if (from <= to) rest.push({ fromUnixNano: from, toUnixNano: to });
  };
  read(fromUnixNano, first);
  for (const { startUnixNano } of stale) read(startUnixNano + 1n, startUnixNano + hourNanos);
  read(end + 1n, toUnixNano);
  const generations = hours.flatMap(({ generation }) => (generation === "0" ? [] : [generation]));
  if (rest.length > mostPieces || generations.length > mostGenerations) return rows;
  if (generations.length === 0) return { condition: undefined, rest };
  return {
    condition: sql`minute >= fromUnixTimestamp(${bind.int64(first / 1_000_000_000n)})
      AND minute < fromUnixTimestamp(${bind.int64(end / 1_000_000_000n)}) AND generation IN ${bind.uint64s(generations)}`,
    rest,
  };
}

/** The start of a minute, which does not belong to it. */
export const minuteUnixNano = sql`toInt64(toUnixTimestamp(minute)) * 1000000000`;

/** Whether a time is where minutes of rollups meet. */
export function isWholeMinute(unixNano: bigint): boolean {
  return unixNano % minuteNanos === 0n;
}

function floorHour(unixNano: bigint): bigint {
  return unixNano - (unixNano % hourNanos);
}

function ceilHour(unixNano: bigint): bigint {
  return floorHour(unixNano + hourNanos - 1n);
}

interface WrittenHour {
  readonly startUnixNano: bigint;
  /** The generation that includes the last write; "0" if there is none. */
  readonly generation: string;
}

/** The hours with rows, in order of time. Each write of a row is recorded before it is acknowledged. */
async function writtenHours(
  { source }: Rollup,
  { end, first }: { readonly first: bigint; readonly end: bigint },
  { reader, signal }: RolledUpOptions,
): Promise<WrittenHour[]> {
  const hours = sql`organization = ${callerOrganization} AND source = ${bind.text(source)}
    AND hour >= fromUnixTimestamp(${bind.int64(first / 1_000_000_000n)})
    AND hour < fromUnixTimestamp(${bind.int64(end / 1_000_000_000n)})`;
  const rows = await reader.query<{ start: number; generation: string }>(
    sql`SELECT toUnixTimestamp(hour) AS start, if(max(included) >= max(touched), argMax(made, included), 0) AS generation
      FROM (
        SELECT hour, generation AS made, touched_unix_nano AS included, 0 AS touched FROM rollup_hours WHERE ${hours}
        UNION ALL
        SELECT hour, 0 AS made, 0 AS included, touched_unix_nano AS touched FROM row_touches WHERE ${hours}
      )
      GROUP BY hour ORDER BY start`,
    { signal, duplicates: "kept" },
  );
  return rows.map(({ generation, start }) => ({ startUnixNano: BigInt(start) * 1_000_000_000n, generation }));
}

/**
 * Deletes one organization's rows with ClickHouse's lightweight deletes: queries no longer return them once the statement
 * ends, and the disk space is freed when the store merges its files.
 * https://clickhouse.com/docs/sql-reference/statements/delete
 */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import { answerRows, answerText } from "./answer-text.ts";
import type { Connection } from "./connection.ts";
import { hoursOfRows, touchHours } from "./rollups/rollup-statements.ts";
import { rollups, type RollupSource } from "./rollups/rollup-tables.ts";
import { callerOrganization, organizationParameterName, sql } from "./statement.ts";
import { toReadError } from "./store-error.ts";
import type { Removal } from "./store.ts";
import { type Layout, onCluster, storedName } from "./table-layout.ts";

/** A deletion waits for merges of the parts that it changes. */
const timeoutMs = 120_000;

/** Sums have no hours outside the range of the store's type for hours. */
const lastSeconds = 4_294_967_295;

interface TenantRemoval {
  readonly layout: Layout;
  readonly scope: Scope;
  readonly removal: Removal;
}

type RemovedRows = Pick<TenantRemoval, "removal" | "scope">;

/** The condition of the rows, and its parameters. It compares the organization whatever the removal's condition says. */
function rowsOf({ removal, scope }: RemovedRows): {
  readonly text: string;
  readonly parameters: Map<string, string>;
} {
  if (scope.organizationId === "") throw new AppError("internal", "Telemetry is deleted for an organization only.");
  const where = sql`organization = ${callerOrganization} AND (${removal.condition})`.render();
  where.parameters.set(organizationParameterName, scope.organizationId);
  return where;
}

/** The statement and its parameters. */
export function removalStatement(tenantRemoval: TenantRemoval): {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, string>;
} {
  const { layout, removal } = tenantRemoval;
  const { parameters, text } = rowsOf(tenantRemoval);
  return { text: `DELETE FROM ${storedName(removal.table, layout)}${onCluster(layout)} WHERE ${text}`, parameters };
}

/** Hours whose sums include rows that are to be deleted, with the rows' retention. */
interface SummedHours {
  readonly source: RollupSource;
  readonly hours: readonly (readonly [seconds: number, days: number])[];
}

export async function findSummedHours(
  connection: Connection,
  tenantRemoval: RemovedRows,
  limitMs = timeoutMs,
): Promise<SummedHours[]> {
  const { removal } = tenantRemoval;
  const { parameters, text } = rowsOf(tenantRemoval);
  const found: SummedHours[] = [];
  for (const rollup of rollups.filter(({ table }) => table === removal.table)) {
    const read = {
      text: hoursOfRows(rollup, text),
      parameters,
      settings: {},
      signal: removal.signal,
      timeoutMs: limitMs,
    };
    const rows = await answerRows<[seconds: string, days: number]>(connection, read);
    const hours = rows
      .map(([seconds, days]) => [Number(seconds), days] as const)
      .filter(([seconds]) => seconds >= 0 && seconds <= lastSeconds);
    if (hours.length > 0) found.push({ source: rollup.source, hours });
  }
  return found;
}

/** Hours in one statement, which keeps them within its limits. */
const hoursPerStatement = 20_000;

/** Makes queries read the rows themselves until their sums are made again. */
export async function invalidateRollups(
  connection: Connection,
  { scope, signal }: { readonly scope: Scope; readonly signal: AbortSignal },
  summed: readonly SummedHours[],
): Promise<void> {
  for (const { hours: all, source } of summed) {
    for (let first = 0; first < all.length; first += hoursPerStatement) {
      const hours = all.slice(first, first + hoursPerStatement);
      await answerText(connection, {
        text: touchHours,
        parameters: new Map([
          ["organization", scope.organizationId],
          ["source", source],
          ["hours", `[${hours.map(([seconds]) => seconds).join(",")}]`],
          ["days", `[${hours.map(([, days]) => days).join(",")}]`],
        ]),
        settings: { distributed_foreground_insert: 1 },
        signal,
        timeoutMs,
      });
    }
  }
}

/** @throws AppError as reading does */
export async function removeRows(connection: Connection, tenantRemoval: TenantRemoval): Promise<void> {
  const { removal, scope } = tenantRemoval;
  const { signal } = removal;
  try {
    const summed = await findSummedHours(connection, tenantRemoval);
    await invalidateRollups(connection, { scope, signal }, summed);
    await answerText(connection, {
      ...removalStatement(tenantRemoval),
      // The rows are gone on every replica when the statement ends.
      settings: { mutations_sync: 2 },
      signal,
      timeoutMs,
    });
    // An hour may have been summed in the meantime.
    await invalidateRollups(connection, { scope, signal }, summed);
  } catch (error) {
    throw toReadError(error, signal);
  }
}

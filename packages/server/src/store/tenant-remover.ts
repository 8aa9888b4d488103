/**
 * Deletes one organization's rows with ClickHouse's lightweight deletes: queries no longer return them once the statement
 * ends, and the disk space is freed when the store merges its files.
 * https://clickhouse.com/docs/sql-reference/statements/delete
 */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import type { Connection } from "./connection.ts";
import { touchAllHours } from "./rollups/rollup-statements.ts";
import { rollups } from "./rollups/rollup-tables.ts";
import { callerOrganization, organizationParameterName, sql } from "./statement.ts";
import { toReadError } from "./store-error.ts";
import type { Removal } from "./store.ts";
import { type Layout, onCluster, storedName } from "./table-layout.ts";

/** A deletion waits for merges of the parts that it changes. */
const timeoutMs = 120_000;

interface TenantRemoval {
  readonly layout: Layout;
  readonly scope: Scope;
  readonly removal: Removal;
}

/** The statement and its parameters. It compares the organization whatever the condition says. */
export function removalStatement({ layout, scope, removal }: TenantRemoval): {
  readonly text: string;
  readonly parameters: ReadonlyMap<string, string>;
} {
  if (scope.organizationId === "") throw new AppError("internal", "Telemetry is deleted for an organization only.");
  const where = sql`organization = ${callerOrganization} AND (${removal.condition})`.render();
  where.parameters.set(organizationParameterName, scope.organizationId);
  return {
    text: `DELETE FROM ${storedName(removal.table, layout)}${onCluster(layout)} WHERE ${where.text}`,
    parameters: where.parameters,
  };
}

/** Makes queries read the rows themselves until their sums are made again. */
async function invalidateRollups(connection: Connection, { removal, scope }: TenantRemoval): Promise<void> {
  for (const { source, table } of rollups) {
    if (table !== removal.table) continue;
    const answer = await connection.read({
      text: touchAllHours,
      parameters: new Map([
        ["organization", scope.organizationId],
        ["source", source],
      ]),
      settings: { distributed_foreground_insert: 1 },
      signal: removal.signal,
    });
    for await (const _ of answer);
  }
}

/** @throws AppError as reading does */
export async function removeRows(connection: Connection, tenantRemoval: TenantRemoval): Promise<void> {
  const { signal } = tenantRemoval.removal;
  try {
    await invalidateRollups(connection, tenantRemoval);
    const answer = await connection.read({
      ...removalStatement(tenantRemoval),
      // The rows are gone on every replica when the statement ends.
      settings: { mutations_sync: 2 },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    for await (const _ of answer);
    // An hour may have been summed in the meantime.
    await invalidateRollups(connection, tenantRemoval);
  } catch (error) {
    throw toReadError(error, signal);
  }
}

/**
 * Applies the settings of where a remote server stores the tables to tables that exist: their storage policy, and when rows move
 * to another volume. https://clickhouse.com/docs/engines/table-engines/mergetree-family/mergetree#table_engine-mergetree-multiple-volumes
 */
import type { Connection } from "./connection.ts";
import { rollupTables } from "./rollups/rollup-statements.ts";
import { tables } from "./schema.ts";
import { StoreError } from "./store-error.ts";
import type { TableDefinition } from "./table-definition.ts";
import { type Layout, onCluster, storedName } from "./table-layout.ts";
import { expiryOf, moveOf } from "./table-statements.ts";

/** What a table has now. */
interface StoredTable {
  readonly name: string;
  readonly policy: string;
  /** The engine with its clauses, as ClickHouse writes it. */
  readonly engine: string;
}

/** The statements that are missing. Settings that are absent leave the tables as they are. */
function missingChanges(stored: readonly StoredTable[], layout: Layout): string[] {
  const alter = (name: string): string => `ALTER TABLE ${name}${onCluster(layout)}`;
  const { coldAfterDays, coldVolume, storagePolicy } = layout.storage ?? {};
  const byName = new Map(stored.map((table) => [table.name, table]));
  const named = (name: string): StoredTable[] => {
    const found = byName.get(storedName(name, layout));
    return found === undefined ? [] : [found];
  };
  const all = [...Object.keys(tables), "trace_index", ...rollupTables].flatMap(named);
  const policies =
    storagePolicy === undefined
      ? []
      : all
          .filter(({ policy }) => policy !== storagePolicy)
          .map(({ name }) => `${alter(name)} MODIFY SETTING storage_policy = '${storagePolicy}'`);
  const moves =
    coldAfterDays === undefined
      ? []
      : Object.values(tables).flatMap((table: TableDefinition) =>
          named(table.name)
            .filter(
              ({ engine }) =>
                table.partitioned && !engine.includes(` + toIntervalDay(${coldAfterDays}) TO VOLUME '${coldVolume}'`),
            )
            .map(({ name }) => `${alter(name)} MODIFY TTL ${expiryOf(table)}${moveOf(table, layout)}`),
        );
  return [...policies, ...moves];
}

/** @throws StoreError */
export async function applyStorageTiers(connection: Connection, layout: Layout, signal: AbortSignal): Promise<void> {
  if (layout.storage === undefined) return;
  const answer = await connection.command(
    "SELECT name, storage_policy, engine_full FROM system.tables WHERE database = currentDatabase() FORMAT JSONCompactEachRow",
    signal,
  );
  const stored = answer
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name, policy, engine] = JSON.parse(line) as [string, string, string];
      return { name, policy, engine };
    });
  for (const statement of missingChanges(stored, layout)) await connection.command(statement, signal);
}

/** ClickHouse's errors of a policy or volume that a table cannot have: BAD_ARGUMENTS, BAD_TTL_EXPRESSION, UNKNOWN_POLICY. */
const storageCodes: ReadonlySet<number> = new Set([36, 450, 478]);

/** An error for operators that has the server's reason; any other error unchanged. */
export function explainedStorage(error: unknown, { storage }: Layout): unknown {
  if (storage === undefined || !(error instanceof StoreError) || error.serverText === undefined) return error;
  if (!storageCodes.has(error.code ?? 0)) return error;
  const setting = `telemetry.clickhouse.storage_policy is ${JSON.stringify(storage.storagePolicy)}`;
  return new Error(`${setting}, which ClickHouse refuses: ${error.serverText}`, { cause: error });
}

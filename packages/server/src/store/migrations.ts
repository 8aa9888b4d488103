/**
 * Migrates a database to this version's schema: runs the numbered steps that are missing, then adds columns that schema.ts has
 * and a table lacks. Every statement is idempotent and safe to run concurrently, so servers that start together need no lock.
 */
import type { Connection } from "./connection.ts";
import { addCallSums, createRollups, touchExistingRows, touchSpend } from "./rollups/rollup-statements.ts";
import { tables } from "./schema.ts";
import { applyStorageTiers, explainedStorage } from "./storage-tiers.ts";
import { StoreError } from "./store-error.ts";
import { type Layout, onCluster, storedName } from "./table-layout.ts";
import {
  addRangeIndexes,
  addSearchIndexes,
  addSpanIndexes,
  addTextIndexes,
  columnDeclaration,
  createTables,
} from "./table-statements.ts";

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly statements: (layout: Layout) => readonly string[];
}

/**
 * Servers of the previous version go on working during an upgrade, so a migration only adds. The name of one with which they
 * cannot work ends so, and they refuse to start with it.
 */
const incompatibleEnding = "(incompatible)";

/** ClickHouse's error number. */
export const unknownTable = 60;

const costSums = [
  "cost_billionths",
  "priced_calls",
  "priced_input_tokens",
  "priced_output_tokens",
  "priced_cache_read_tokens",
  "priced_cache_write_tokens",
];

const migrations: readonly Migration[] = [
  { version: 1, name: "create the tables", statements: createTables },
  { version: 2, name: "index the ends of spans", statements: addRangeIndexes },
  { version: 3, name: "index the trace IDs and attributes of logs", statements: addSearchIndexes },
  { version: 4, name: "index the text of logs", statements: addTextIndexes },
  { version: 5, name: "index the attributes of spans", statements: addSpanIndexes },
  {
    version: 6,
    name: "sum spans and logs by minute",
    statements: (layout) => [...createRollups(layout), ...touchExistingRows(["spans", "logs"])],
  },
  {
    version: 7,
    name: "sum calls by minute and hour",
    statements: (layout) => [...createRollups(layout), ...touchExistingRows(["calls"])],
  },
  {
    version: 8,
    name: "sum cached tokens of calls",
    statements: (layout) => [
      // The view of hours names all of them.
      ...addCallSums(["cache_read_tokens", "cache_write_tokens", ...costSums], layout),
      ...touchExistingRows(["calls"]),
    ],
  },
  {
    version: 9,
    name: "sum costs of calls",
    statements: (layout) => [...addCallSums(costSums, layout), ...touchExistingRows(["calls"])],
  },
  {
    version: 10,
    name: "sum what calls cost by quarter of an hour",
    // Rows that are written between the last two are touched by the view.
    statements: (layout) => [...createRollups(layout), ...touchSpend(layout), ...touchExistingRows(["spend"])],
  },
];

export const schemaVersion = Math.max(...migrations.map(({ version }) => version));

/** The steps that a store of this version lacks. */
export function pendingSteps(storedVersion: number): string[] {
  return migrations.filter(({ version }) => version > storedVersion).map(({ name, version }) => `${version}: ${name}`);
}

function createLedger(layout: Layout): string {
  const engine =
    layout.cluster === undefined
      ? "ReplacingMergeTree"
      : "ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/schema_migrations', '{shard}-{replica}')";
  return `CREATE TABLE IF NOT EXISTS schema_migrations${onCluster(layout)} (version UInt32, name String, applied_at DateTime DEFAULT now()) ENGINE = ${engine} ORDER BY version`;
}

interface MissingColumn {
  /** The table that a statement names, or the one with the rows. */
  readonly table: string;
  readonly declaration: string;
}

/** The columns that schema.ts has and the store lacks. */
export async function missingColumns(
  connection: Connection,
  layout: Layout,
  signal: AbortSignal,
): Promise<MissingColumn[]> {
  const answer = await connection.command(
    "SELECT table, name FROM system.columns WHERE database = currentDatabase() FORMAT TSV",
    signal,
  );
  const existing = new Set(answer.trimEnd().split("\n"));
  return Object.values(tables).flatMap((table) => {
    const stored = storedName(table.name, layout);
    return Object.entries(table.columns).flatMap(([name, column]) => {
      if (existing.has(`${stored}\t${name}`)) return [];
      const own = { table: stored, declaration: columnDeclaration(name, column) };
      return stored === table.name ? [own] : [own, { table: table.name, declaration: `${name} ${column.type.sql}` }];
    });
  });
}

async function addMissingColumns(connection: Connection, layout: Layout, signal: AbortSignal): Promise<void> {
  for (const { declaration, table } of await missingColumns(connection, layout, signal)) {
    await connection.command(
      `ALTER TABLE ${table}${onCluster(layout)} ADD COLUMN IF NOT EXISTS ${declaration}`,
      signal,
    );
  }
}

/**
 * The schema version of a store, which may be later than this server's.
 * @throws StoreError if the statement fails
 * @throws Error if a newer version of the server migrated the database so that this one cannot work with it
 */
export async function readStoredVersion(connection: Connection, signal: AbortSignal): Promise<number> {
  const answer = await connection.command("SELECT version, name FROM schema_migrations FORMAT TSV", signal);
  const done = answer
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split("\t") as [version: string, name: string]);
  const current = Math.max(0, ...done.map(([version]) => Number(version)));
  const incompatible = done.some(
    ([version, name]) => Number(version) > schemaVersion && name.endsWith(incompatibleEnding),
  );
  if (!incompatible) return current;
  throw new Error(
    `The telemetry store has schema version ${current}, with which this server cannot work; it has version ${schemaVersion}. Use a newer version of Sounding.`,
  );
}

/** A store that exists is asked only: statements on a whole cluster wait for servers that are down. */
async function storedOrNewVersion(connection: Connection, layout: Layout, signal: AbortSignal): Promise<number> {
  try {
    return await readStoredVersion(connection, signal);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== unknownTable) throw error;
    await connection.command(createLedger(layout), signal);
    return readStoredVersion(connection, signal);
  }
}

/** @throws StoreError, or Error, as `readStoredVersion`, and if the server refuses the storage policy */
export async function migrate(connection: Connection, layout: Layout, signal: AbortSignal): Promise<void> {
  try {
    await runMissingSteps(connection, layout, signal);
  } catch (error) {
    throw explainedStorage(error, layout);
  }
}

async function runMissingSteps(connection: Connection, layout: Layout, signal: AbortSignal): Promise<void> {
  const current = await storedOrNewVersion(connection, layout, signal);
  for (const { version, name, statements } of migrations) {
    if (version <= current) continue;
    for (const statement of statements(layout)) await connection.command(statement, signal);
    await connection.command(`INSERT INTO schema_migrations (version, name) SELECT ${version}, '${name}'`, signal);
  }
  await addMissingColumns(connection, layout, signal);
  await applyStorageTiers(connection, layout, signal);
}

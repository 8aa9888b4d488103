/** Assembles the store: the connection to the embedded engine or ClickHouse, the schema, the journal or the insert queue, the readers. */
import { join } from "node:path";
import { abortable, abortReason } from "../abort.ts";
import type { TelemetrySettings } from "../config/telemetry.ts";
import type { Logger } from "../logger.ts";
import { type Connection, createConnection, type Settings } from "./connection.ts";
import { DescriptionVersions } from "./description-versions.ts";
import { embeddedPaths, startEmbeddedEngine } from "./embedded/embedded-store.ts";
import { mostEmbeddedReads } from "./embedded/protocol.ts";
import type { SupervisedEngine } from "./embedded/supervised-engine.ts";
import { InsertQueue } from "./insert-queue.ts";
import { joinBlocks } from "./join-blocks.ts";
import { journalRoot } from "./journal/adopt-journals.ts";
import { Journal } from "./journal/journal.ts";
import { KnownIdentities } from "./known-identities.ts";
import { Readiness } from "./readiness.ts";
import { sumPastHours } from "./rollups/rollup-job.ts";
import { type Insert, maximumDays, notWritten, requireFewDays, type RowWriter } from "./row-writer.ts";
import { tables } from "./schema.ts";
import { readPlaces, ReadLimiter } from "./read-limiter.ts";
import { RowCaches } from "./row-cache.ts";
import type { StoreSharing } from "./store-sharing.ts";
import type { Store, WriteReport } from "./store.ts";
import type { Layout } from "./table-layout.ts";
import { indexesBuiltByMerges, readableTables } from "./table-statements.ts";
import { createTenantReader } from "./tenant-reader.ts";
import { removeRows } from "./tenant-remover.ts";

export interface StoreOptions {
  readonly settings: TelemetrySettings;
  /** The server's data directory; the embedded store has a folder in it. */
  readonly dataDirectory: string;
  readonly logger: Logger;
  readonly observe?: (report: WriteReport) => void;
  /** @throws AppError overloaded while no rows may be taken */
  requireRoom?(): void;
  /** Absent: no other process of this server uses the store. */
  readonly sharing?: StoreSharing | undefined;
  /**
   * Runs work in the background that one server at a time should do for all that share the store. Absent: this server does
   * none of it.
   */
  readonly runJob?: ((name: string, run: (signal: AbortSignal) => Promise<void>) => BackgroundJob) | undefined;
}

interface BackgroundJob {
  close(): Promise<void>;
}

/** Memory for cached resources, scopes and series. */
const cacheBytes = 67_108_864;
/** Connections for everything except queries, which have one for each concurrent read. */
const otherConnections = 16;

const insertSettings: Settings = {
  async_insert: 0,
  max_partitions_per_insert_block: maximumDays,
  // If an insert fails between the rows and the trace index, the retry still fills the index.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Duplicates within an insert are removed when parts merge, like all others, without the cost of merging each insert.
  optimize_on_insert: 0,
};
const clusterInsertSettings: Settings = { distributed_foreground_insert: 1 };
const readSettings: Settings = {
  do_not_merge_across_partitions_select_final: 1,
  // Read large columns only for the rows that a LIMIT returns; older servers do so for up to ten rows.
  query_plan_max_limit_for_lazy_materialization: 10_000,
};
/**
 * Range indexes exclude rows before duplicates are removed. Older servers lack the setting.
 * docs/adr/0026-metrics-over-spans-and-pushed-series.md
 */
const rangeIndexSettings: Settings = { use_skip_indexes_if_final_exact_mode: 0 };
/** For remote servers. The embedded engine responds in one piece and stops a statement when its reader disconnects. */
const remoteReadSettings: Settings = {
  // Report an error in the middle of a statement as the status, not as text after the first rows.
  wait_end_of_query: 1,
  // Without this, a server notices a disconnected reader only when a write fails.
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
};
/**
 * A statement waits this long before each block of rows while one with a lower number runs. Longer waits would stop an
 * organization's small queries behind the first heavy query of another.
 */
const pauseMs = 20;
const priorityReadSettings = (priority: number): Settings => ({ priority, low_priority_query_wait_time_ms: pauseMs });
/** After every query. */
const lowestPriority = 1_000_000;
const clusterReadSettings: Settings = { distributed_product_mode: "global" };

interface Home {
  readonly connection: Connection;
  readonly layout: Layout;
  readonly readSettings: Settings;
  readonly insertSettings: Settings;
  readonly rollupSettings: Settings;
  readonly engine: SupervisedEngine | undefined;
}

/** This process's part of the concurrent reads. */
function readPlacesFor({ settings, sharing }: StoreOptions): number {
  const { clickhouse, concurrent_reads: reads } = settings;
  const places = readPlaces(reads, clickhouse.url === undefined ? { mostInStore: mostEmbeddedReads } : {});
  return Math.ceil(places / (sharing?.processes ?? 1));
}

function connectionsFor(options: StoreOptions): number {
  return otherConnections + readPlacesFor(options);
}

function openRemote(options: StoreOptions, url: string, readiness: Readiness): Home {
  const { clickhouse } = options.settings;
  readiness.reachable();
  return {
    connection: createConnection({ ...clickhouse, url, maximumConnections: connectionsFor(options) }),
    layout: { cluster: clickhouse.cluster },
    readSettings: { ...remoteReadSettings, ...(clickhouse.cluster === undefined ? {} : clusterReadSettings) },
    insertSettings: clickhouse.cluster === undefined ? {} : clusterInsertSettings,
    rollupSettings: clickhouse.cluster === undefined ? {} : { ...clusterInsertSettings, ...clusterReadSettings },
    engine: undefined,
  };
}

async function openEmbedded(options: StoreOptions, readiness: Readiness): Promise<Home> {
  const { settings, dataDirectory, logger, sharing } = options;
  const paths = await embeddedPaths(dataDirectory);
  const { socketPath, spoolDirectory } = paths;
  const events = {
    onStart: () => readiness.reachable(),
    onEnd: (reason: string, isFinal: boolean) => readiness.lost(reason, isFinal),
  };
  const engine =
    sharing?.followEngine(events) ??
    startEmbeddedEngine({ paths, memoryBytes: settings.embedded_memory_bytes, logger, ...events });
  return {
    connection: createConnection({
      url: "http://localhost",
      socketPath,
      database: "default",
      compression: false,
      spoolDirectory,
      maximumConnections: connectionsFor(options),
    }),
    layout: { cluster: undefined },
    readSettings: { max_memory_usage: Math.floor(settings.embedded_memory_bytes / 2), ...rangeIndexSettings },
    // Older servers lack this setting as well.
    insertSettings: { exclude_materialize_skip_indexes_on_insert: indexesBuiltByMerges().join(",") },
    rollupSettings: {
      max_memory_usage: Math.floor(settings.embedded_memory_bytes / 4),
      ...rangeIndexSettings,
      ...priorityReadSettings(lowestPriority),
    },
    engine,
  };
}

interface RowWriters {
  /** There even if the queue takes the rows: an earlier server may have left some in it. */
  readonly journal: Journal;
  /** With `telemetry.journal: off`. */
  readonly queue: InsertQueue | undefined;
}

interface Destination {
  readonly home: Home;
  readonly readiness: Readiness;
  readonly descriptionVersions: DescriptionVersions;
}

async function openRowWriters(options: StoreOptions, destination: Destination): Promise<RowWriters> {
  const { settings, dataDirectory, logger, observe = () => {}, sharing } = options;
  const { descriptionVersions, home, readiness } = destination;
  const insert: Insert = async ({ table, blocks, organizationIds, token, signal }) => {
    try {
      await home.connection.insert({
        table,
        columns: Object.keys(tables[table].columns),
        blocks: await joinBlocks(blocks),
        settings: { ...insertSettings, ...home.insertSettings, insert_deduplication_token: token },
        signal,
      });
    } finally {
      descriptionVersions.inserted(table, organizationIds);
    }
  };
  const common = {
    insert,
    whenReady: (signal: AbortSignal) => readiness.whenReady(signal),
    queue: { totalBytes: settings.queue_bytes, organizationBytes: settings.organization_queue_bytes },
    writeTimeoutMs: settings.write_timeout_ms,
    logger,
    observe,
  };
  const directory = journalRoot(dataDirectory);
  const journal = await Journal.open({
    ...common,
    directory: join(directory, sharing?.journalFolder ?? ""),
    refusedDirectory: join(directory, "refused"),
    journal: { totalBytes: settings.journal_bytes, organizationBytes: settings.organization_journal_bytes },
  });
  return { journal, queue: settings.journal === "on" ? undefined : new InsertQueue(common) };
}

const removalWaitMs = 30_000;

/** Rows in the journal cannot be deleted. @throws AppError overloaded if the store does not take them in time */
async function requireVisible(visible: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (visible === undefined) return;
  try {
    await abortable(visible, AbortSignal.any([signal, AbortSignal.timeout(removalWaitMs)]));
  } catch (cause) {
    if (signal.aborted) throw abortReason(signal);
    throw notWritten("The telemetry store does not accept rows, so none can be deleted. Retry later.", cause);
  }
}

/**
 * Returns immediately; the store becomes ready in the background, and again after each failure.
 * @throws AppError internal if the folder cannot be created
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { settings, logger, sharing } = options;
  const readiness = new Readiness({ logger });
  const { url } = settings.clickhouse;
  const home = url === undefined ? await openEmbedded(options, readiness) : openRemote(options, url, readiness);
  const { connection, layout, engine } = home;
  readiness.watch({ connection, layout, engine });
  const known = new KnownIdentities(Date.now);
  const descriptionVersions = new DescriptionVersions();
  const { journal, queue } = await openRowWriters(options, { home, readiness, descriptionVersions });
  const writer: RowWriter = queue ?? journal;
  sharing?.answerOthers((organizationId) => journal.whenVisible(organizationId));
  const whenVisible = (organizationId: string): Promise<void> | undefined => {
    const own = journal.whenVisible(organizationId);
    if (sharing === undefined) return own;
    return Promise.all([own, sharing.whenOthersVisible(organizationId)]).then(() => {});
  };
  const reads = new ReadLimiter(readPlacesFor(options));
  const reader = {
    reads,
    connection,
    tables: readableTables(layout),
    settings: { ...readSettings, ...home.readSettings },
    // A remote server has its own administrator, users and workloads.
    settingsFor: engine === undefined ? undefined : priorityReadSettings,
    queryTimeoutMs: settings.query_timeout_ms,
    caches: new RowCaches(cacheBytes),
    // Other servers may write to the same remote store, and other processes to the embedded one.
    descriptionVersions: engine === undefined || sharing !== undefined ? undefined : descriptionVersions,
    usesRollups: settings.rollups,
    whenVisible,
  };
  const rollupOptions = {
    connection,
    readiness,
    settings: home.rollupSettings,
    delayMs: settings.rollup_delay_ms,
    logger,
  };
  const rollupJob = settings.rollups
    ? options.runJob?.("rollups", (signal) => sumPastHours(rollupOptions, signal))
    : undefined;
  return {
    async append(batch, appendOptions) {
      if (batch.rowCount === 0) return;
      requireFewDays(batch);
      options.requireRoom?.();
      // The journal takes rows while the store is down.
      readiness.requireHope(queue === undefined ? Infinity : settings.write_timeout_ms);
      await writer.append(batch, appendOptions);
      if (batch.identities !== undefined) known.add(batch.table, batch.organizationId, batch.identities);
    },
    isKnown: (table, organizationId, identity) => known.has(table, organizationId, identity),
    open: (scope) => createTenantReader(reader, scope),
    async remove(scope, removal) {
      await requireVisible(whenVisible(scope.organizationId), removal.signal);
      await removeRows(connection, { layout, scope, removal });
    },
    state: () => readiness.state(),
    queuedBytes: () => writer.queuedBytes,
    journalBytes: () => journal.bytes,
    waitingReads: () => reads.waiting,
    whenReady: (signal) => readiness.whenReady(signal),
    async close() {
      await rollupJob?.close();
      await queue?.close();
      await journal.close();
      await readiness.close();
      await connection.close();
      await engine?.close();
    },
  };
}

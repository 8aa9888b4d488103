/** Assembles the store: the connection to the embedded engine or ClickHouse, the schema, the journal or the insert queue, the readers. */
import { join } from "node:path";
import type { TelemetrySettings } from "../config/telemetry.ts";
import { createTelemetryCipher, type TelemetryCipher } from "../encryption/telemetry-cipher.ts";
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
import { requireVisible } from "./journal/require-visible.ts";
import { KnownIdentities } from "./known-identities.ts";
import { Readiness } from "./readiness.ts";
import { sumPastHours } from "./rollups/rollup-job.ts";
import { type Insert, requireFewDays, type RowWriter } from "./row-writer.ts";
import { tables } from "./schema.ts";
import { readPlaces, ReadLimiter } from "./read-limiter.ts";
import { addressesOf, connectRemote, remoteLayout } from "./replicas/connect-remote.ts";
import { RowCaches } from "./row-cache.ts";
import { createEraser } from "./eraser.ts";
import {
  clusterInsertSettings,
  clusterReadSettings,
  embeddedInsertSettings,
  insertSettings,
  lowestPriority,
  priorityReadSettings,
  rangeIndexSettings,
  readSettings,
  remoteReadSettings,
} from "./store-settings.ts";
import type { StoreSharing } from "./store-sharing.ts";
import type { Store, WriteReport } from "./store.ts";
import type { Layout } from "./table-layout.ts";
import { readableTables } from "./table-statements.ts";
import { createTenantReader } from "./tenant-reader.ts";
import { removeRows } from "./tenant-remover.ts";

export interface StoreOptions {
  readonly settings: TelemetrySettings;
  /** The server's data directory; the embedded store has a folder in it. */
  readonly dataDirectory: string;
  readonly logger: Logger;
  /** Decrypts content. Absent: encrypted content is not readable. */
  readonly cipher?: TelemetryCipher | undefined;
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

interface StoreBackend {
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

function openRemote(options: StoreOptions, readiness: Readiness): StoreBackend {
  const { clickhouse } = options.settings;
  readiness.reachable();
  return {
    connection: connectRemote({ clickhouse, logger: options.logger, maximumConnections: connectionsFor(options) }),
    layout: remoteLayout(clickhouse),
    readSettings: { ...remoteReadSettings, ...(clickhouse.cluster === undefined ? {} : clusterReadSettings) },
    insertSettings: clickhouse.cluster === undefined ? {} : clusterInsertSettings,
    rollupSettings: clickhouse.cluster === undefined ? {} : { ...clusterInsertSettings, ...clusterReadSettings },
    engine: undefined,
  };
}

async function openEmbedded(options: StoreOptions, readiness: Readiness): Promise<StoreBackend> {
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
    readSettings: rangeIndexSettings,
    insertSettings: embeddedInsertSettings(),
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

interface RowTarget {
  readonly backend: StoreBackend;
  readonly readiness: Readiness;
  readonly descriptionVersions: DescriptionVersions;
}

async function openRowWriters(options: StoreOptions, target: RowTarget): Promise<RowWriters> {
  const { settings, dataDirectory, logger, observe = () => {}, sharing } = options;
  const { descriptionVersions, backend, readiness } = target;
  const insert: Insert = async ({ table, blocks, organizationIds, token, signal }) => {
    try {
      await backend.connection.insert({
        table,
        columns: Object.keys(tables[table].columns),
        blocks: await joinBlocks(blocks),
        settings: { ...insertSettings, ...backend.insertSettings, insert_deduplication_token: token },
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

/**
 * Returns immediately; the store becomes ready in the background, and again after each failure.
 * @throws AppError internal if the folder cannot be created
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { settings, logger, sharing } = options;
  const readiness = new Readiness({ logger });
  const isRemote = addressesOf(settings.clickhouse).length > 0;
  const backend = isRemote ? openRemote(options, readiness) : await openEmbedded(options, readiness);
  const { connection, layout, engine } = backend;
  readiness.watch({ connection, layout, engine });
  const known = new KnownIdentities(Date.now);
  const descriptionVersions = new DescriptionVersions();
  const { journal, queue } = await openRowWriters(options, { backend, readiness, descriptionVersions });
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
    settings: { ...readSettings, ...backend.readSettings },
    // A remote server has its own administrator, users and workloads.
    settingsFor: engine === undefined ? undefined : priorityReadSettings,
    queryTimeoutMs: settings.query_timeout_ms,
    whenReplaced: engine === undefined ? undefined : (signal: AbortSignal) => readiness.whenAnswering(signal),
    caches: new RowCaches(cacheBytes),
    // Other servers may write to the same remote store, and other processes to the embedded one.
    descriptionVersions: engine === undefined || sharing !== undefined ? undefined : descriptionVersions,
    usesRollups: settings.rollups,
    cipher: options.cipher ?? createTelemetryCipher([]),
    whenVisible,
  };
  const rollupOptions = {
    connection,
    readiness,
    settings: backend.rollupSettings,
    delayMs: settings.rollup_delay_ms,
    logger,
  };
  const rollupJob = settings.rollups
    ? options.runJob?.("rollups", (signal) => sumPastHours(rollupOptions, signal))
    : undefined;
  const eraser = createEraser({
    connection,
    layout,
    requireVisible: (organizationId, signal) => requireVisible(whenVisible(organizationId), signal),
    forgetDescriptions(organizationId) {
      known.forget(organizationId);
      descriptionVersions.erased(organizationId);
    },
  });
  return {
    eraser,
    async append(batch, appendOptions) {
      if (batch.rowCount === 0) return;
      requireFewDays(batch);
      options.requireRoom?.();
      // The journal takes rows while the store is down.
      readiness.refuseIfDown(queue === undefined ? Infinity : settings.write_timeout_ms);
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
    check: () => readiness.check(),
    queuedBytes: () => writer.queuedBytes,
    journalBytes: () => journal.bytes,
    waitingReads: () => reads.waiting,
    addresses: () => connection.addresses(),
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

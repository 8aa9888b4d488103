/**
 * Opens the telemetry store for maintenance, from a process that is not the server: a remote ClickHouse, the socket of the server
 * that runs on this data directory, or an engine of our own while none runs.
 */
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../../abort.ts";
import type { TelemetrySettings } from "../../config/telemetry.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { type Connection, createConnection, type Settings } from "../connection.ts";
import { EngineAbsentError, startEngineProcess } from "../embedded/engine-process.ts";
import { socketPathFor } from "../embedded/socket-path.ts";
import { addressesOf, connectRemote, remoteLayout } from "../replicas/connect-remote.ts";
import { StoreError } from "../store-error.ts";
import {
  clusterInsertSettings,
  clusterReadSettings,
  embeddedInsertSettings,
  insertSettings,
  lowestPriority,
  priorityReadSettings,
  readSettings,
  remoteReadSettings,
} from "../store-settings.ts";
import type { Layout } from "../table-layout.ts";
import { claimFolder } from "./claimed-folder.ts";

export interface AccessOptions {
  readonly settings: TelemetrySettings;
  readonly dataDirectory: string;
  /** Whether a server runs on the data directory; otherwise the caller holds its lock. */
  readonly isServed: boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface StoreAccess extends AsyncDisposable {
  readonly connection: Connection;
  readonly layout: Layout;
  readonly readSettings: Settings;
  readonly insertSettings: Settings;
  /** Where the embedded engine reads and writes files; undefined for a remote server. */
  readonly spoolDirectory: string | undefined;
}

const startTimeoutMs = 60_000;
const pingTimeoutMs = 10_000;
const pauseMs = 100;

/** @throws AppError if the store cannot be reached or started */
export async function openStoreAccess(options: AccessOptions): Promise<StoreAccess> {
  const isRemote = addressesOf(options.settings.clickhouse).length > 0;
  const access = isRemote ? openRemote(options) : await openEmbedded(options);
  try {
    await untilItAnswers(access.connection, options.signal);
    // The engine has created its spool folder, and removed what earlier processes left there.
    return access.spoolDirectory === undefined ? access : await withOwnSpool(access, access.spoolDirectory);
  } catch (error) {
    await access[Symbol.asyncDispose]();
    throw error;
  }
}

async function withOwnSpool(access: StoreAccess, directory: string): Promise<StoreAccess> {
  const claimed = await claimFolder(directory);
  return {
    ...access,
    spoolDirectory: claimed.path,
    async [Symbol.asyncDispose]() {
      await claimed[Symbol.asyncDispose]();
      await access[Symbol.asyncDispose]();
    },
  };
}

function openRemote({ logger, settings: { clickhouse } }: AccessOptions): StoreAccess {
  const { cluster } = clickhouse;
  const connection = connectRemote({ clickhouse, logger, maximumConnections: 2 });
  return {
    connection,
    layout: remoteLayout(clickhouse),
    readSettings: { ...readSettings, ...remoteReadSettings, ...(cluster === undefined ? {} : clusterReadSettings) },
    insertSettings: { ...insertSettings, ...(cluster === undefined ? {} : clusterInsertSettings) },
    spoolDirectory: undefined,
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

async function openEmbedded({ dataDirectory, isServed, settings, signal }: AccessOptions): Promise<StoreAccess> {
  const directory = join(dataDirectory, "telemetry");
  if (isServed) await requireSameUser(dataDirectory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  const socketPath = await socketPathFor(directory);
  const spoolDirectory = join(directory, "spool");
  const memoryBytes = settings.embedded_memory_bytes;
  const engine = isServed
    ? undefined
    : await startEngine(
        { dataDirectory: join(directory, "clickhouse"), spoolDirectory, socketPath, memoryBytes },
        signal,
      );
  const connection = createConnection({
    url: "http://localhost",
    socketPath,
    database: "default",
    compression: false,
    spoolDirectory,
    maximumConnections: 2,
  });
  // Queries go first. Without a server there are none.
  const politeness: Settings = isServed
    ? { ...priorityReadSettings(lowestPriority), max_threads: 1, max_insert_threads: 1 }
    : {};
  return {
    connection,
    layout: { cluster: undefined },
    readSettings: { ...readSettings, ...politeness, max_memory_usage: Math.floor(memoryBytes / 2) },
    insertSettings: { ...insertSettings, ...embeddedInsertSettings(), ...politeness },
    spoolDirectory,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await engine?.stop();
    },
  };
}

/** The engine of a process that was killed ends a little later than that process. */
async function startEngine(
  settings: Parameters<typeof startEngineProcess>[0],
  signal: AbortSignal,
): ReturnType<typeof startEngineProcess> {
  const endMs = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      return await startEngineProcess(settings);
    } catch (error) {
      signal.throwIfAborted();
      const isAbsent = error instanceof EngineAbsentError;
      if (isAbsent || performance.now() > endMs) {
        const reason = isAbsent ? "it is not installed (npm package chdb)" : String(error);
        throw new AppError("internal", `The embedded telemetry store cannot be started: ${reason}.`, { cause: error });
      }
    }
    await sleep(pauseMs, signal);
  }
}

/** Files that pass between this process and the engine belong to one user. */
async function requireSameUser(dataDirectory: string): Promise<void> {
  const { uid } = await stat(dataDirectory);
  const own = process.getuid?.();
  if (own === undefined || own === uid) return;
  throw new AppError(
    "internal",
    `The data directory ${dataDirectory} belongs to the user with the ID ${uid}, and this process runs as ${own}. Run the command as the user of the server.`,
  );
}

/** A server that is starting opens the store a little later. */
async function untilItAnswers(connection: Connection, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      await connection.ping(AbortSignal.any([signal, AbortSignal.timeout(pingTimeoutMs)]));
      return;
    } catch (error) {
      signal.throwIfAborted();
      const isTransient = error instanceof StoreError && error.kind === "transient" && error.code !== 516;
      if (isTransient && performance.now() < endMs) await sleep(pauseMs, signal);
      else throw toAccessError(error, "opened");
    }
  }
}

/** ClickHouse's errors of a full disk. */
const diskCodes: ReadonlySet<number> = new Set([75, 243]);

/** @param done what could not be done to the store, as a participle */
export function toAccessError(error: unknown, done: string): unknown {
  if (!(error instanceof StoreError)) return error;
  const hint = error.code !== undefined && diskCodes.has(error.code) ? " The disk may be full." : "";
  return new AppError("internal", `The telemetry store cannot be ${done}: ${error.message}${hint}`, { cause: error });
}

/** Whether the error is one of `toAccessError` for a store that failed or cannot be reached. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof AppError && error.cause instanceof StoreError;
}

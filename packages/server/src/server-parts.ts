/**
 * What a server has once, however many processes serve its requests: the port, the data directory, the control database, the
 * embedded store's process. One process opens them itself; several get them from their primary, in workers/.
 */
import { readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Config } from "./config/config.ts";
import { openDataDirectory, type DataDirectory } from "./data-directory.ts";
import type { FailedKeysExchange } from "./http/failed-keys.ts";
import { bindPort, reachableUrl, type Address, type BoundPort } from "./http/listen.ts";
import type { LimitLedger } from "./limits/shared/limit-ledger.ts";
import type { Logger } from "./logger.ts";
import type { CircuitExchange } from "./routing/circuit-exchange.ts";
import type { MetricSnapshot } from "./status/metric-snapshot.ts";
import type { Scrape } from "./status/scrape.ts";
import { adoptJournals } from "./store/journal/adopt-journals.ts";
import type { StoreSharing } from "./store/store-sharing.ts";
import { giveUpEarlierProcesses } from "./tenancy/background-store.ts";
import { bootstrap, type InitialCredentials } from "./tenancy/bootstrap.ts";
import { openControlDatabase, type ControlDatabase } from "./tenancy/control-database.ts";
import { markInstallation, requireKnownInstallation } from "./tenancy/installation.ts";
import { requireNotMoved } from "./tenancy/move-record.ts";

/** What serves OTLP/gRPC on a port of its own. */
interface GrpcListener {
  accept(socket: Socket): void;
  listen(address: Address): Promise<number>;
}

/** A process's view of what the server has once. */
export interface ServerParts {
  readonly bound: BoundPort;
  readonly control: ControlDatabase;
  /** The secrets of the first keys, if this start created them. */
  readonly firstStart: InitialCredentials | undefined;
  /** The folder of this process's uploads. */
  readonly uploads: string;
  /** Lets the server take connections of the gRPC port. @returns the port */
  listenGrpc(server: GrpcListener, address: Address): Promise<number>;
  /** Absent: there is only this process. */
  readonly sharing: ProcessSharing | undefined;
  close(): Promise<void>;
}

/** What several processes tell each other. */
export interface ProcessSharing {
  /** Of this process, from 1. */
  readonly number: number;
  readonly store: StoreSharing;
  readonly circuits: CircuitExchange;
  readonly failedKeys: FailedKeysExchange;
  /** Counts limits for all processes. */
  readonly limits: LimitLedger;
  /** The metrics of all processes. */
  scrape(): Promise<Scrape>;
  /** Gives this process's metrics to the others. */
  answerScrapes(snapshot: () => Promise<MetricSnapshot>): void;
}

export interface OpenOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly onFirstStart?: ((made: InitialCredentials, url: string) => void | Promise<void>) | undefined;
}

/** Locks the data directory. @throws AppError internal if another server uses it */
export async function openOwnDirectory({ config, logger }: OpenOptions, bound: Address): Promise<DataDirectory> {
  const directory = await openDataDirectory(resolve(config.storage.data_dir), logger);
  await directory.announce(reachableUrl(bound));
  return directory;
}

/**
 * Opens the control database of a server whose data directory is locked, migrates it, and creates the first keys.
 * @throws AppError
 */
export async function openOwnDatabase({ config, onFirstStart }: OpenOptions, bound: Address) {
  const { storage, telemetry } = config;
  const dataDirectory = resolve(storage.data_dir);
  const store = telemetry.enabled ? telemetry.clickhouse : undefined;
  await requireNotMoved({ dataDirectory, controlUrl: storage.database_url, telemetry: store });
  const control = await openControlDatabase({ url: storage.database_url, dataDirectory });
  try {
    await requireKnownInstallation(control, { dataDirectory, acceptEmptyDatabase: storage.accept_empty_database });
    if (control.kind === "sqlite") await giveUpEarlierProcesses(control);
    const firstStart = await bootstrap(control, { adminKey: storage.admin_key });
    if (firstStart !== undefined) await onFirstStart?.(firstStart, reachableUrl(bound));
    if (config.telemetry.enabled) await markInstallation(dataDirectory);
    return { control, firstStart };
  } catch (error) {
    await control.close();
    throw error;
  }
}

/**
 * Prepares the folders of the processes, before any of them runs: removes uploads that earlier ones left, and hands on their
 * journals.
 * @param folders of the processes; `""` for the only one
 */
export async function prepareFolders({ config }: OpenOptions, folders: readonly [string, ...string[]]): Promise<void> {
  const dataDirectory = resolve(config.storage.data_dir);
  const uploads = join(dataDirectory, "uploads");
  const left = (await readdir(uploads).catch(() => [])).filter((name) => /^worker-\d+$/.test(name));
  for (const name of left) await rm(join(uploads, name), { recursive: true, force: true });
  if (config.telemetry.enabled) await adoptJournals(dataDirectory, folders);
}

/** Everything in this process. @throws AppError; parts that have been opened are closed */
export async function openServerParts(options: OpenOptions): Promise<ServerParts> {
  await using opening = new AsyncDisposableStack();
  const closeAtEnd = <T extends { close(): Promise<void> }>(part: T): T => opening.adopt(part, (each) => each.close());
  // Nothing is created if the port or the directory is in use.
  const bound = closeAtEnd(await bindPort(options.config.server));
  closeAtEnd(await openOwnDirectory(options, bound));
  const { control, firstStart } = await openOwnDatabase(options, bound);
  closeAtEnd(control);
  await prepareFolders(options, [""]);
  const opened = opening.move();
  return {
    bound,
    control,
    firstStart,
    uploads: join(resolve(options.config.storage.data_dir), "uploads"),
    listenGrpc: (server, address) => server.listen(address),
    sharing: undefined,
    close: () => opened.disposeAsync(),
  };
}

/**
 * Notices a control database that lost its organizations while their telemetry is still on this machine: an emptied or
 * forgotten file would otherwise look like a first start, and all keys and organizations would silently be new ones.
 */
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import type { ControlDatabase } from "./control-database.ts";

export interface InstallationOptions {
  readonly dataDirectory: string;
  /** The setting `storage.accept_empty_database`. */
  readonly acceptEmptyDatabase: boolean;
}

/** In the data directory of a server that has kept telemetry, wherever the telemetry itself is. */
const markerFile = "installation.json";
/** Where the embedded telemetry store keeps its data. */
const telemetryFolder = join("telemetry", "clickhouse");

async function hasEntries(folder: string): Promise<boolean> {
  return readdir(folder).then(
    (names) => names.length > 0,
    () => false,
  );
}

/** What shows that this was not the first start; undefined where nothing does. */
async function traceOfEarlierStart(dataDirectory: string): Promise<string | undefined> {
  if (await hasEntries(join(dataDirectory, telemetryFolder))) return join(dataDirectory, telemetryFolder);
  const names = await readdir(dataDirectory).catch((): string[] => []);
  return names.includes(markerFile) ? join(dataDirectory, markerFile) : undefined;
}

/**
 * To be called before anything is created in the database.
 * @throws AppError internal when the database has no organization although this data directory was in use before
 */
export async function requireKnownInstallation(
  control: ControlDatabase,
  { dataDirectory, acceptEmptyDatabase }: InstallationOptions,
): Promise<void> {
  if (acceptEmptyDatabase) return;
  const trace = await traceOfEarlierStart(dataDirectory);
  if (trace === undefined) return;
  const any = await control.read((database) =>
    database.selectFrom("organizations").select("id").limit(1).executeTakeFirst(),
  );
  if (any !== undefined) return;
  const place =
    control.kind === "sqlite" ? join(dataDirectory, "control.sqlite") : "in Postgres (storage.database_url)";
  throw new AppError(
    "internal",
    `The control database ${place} has no organizations, but ${trace} shows that this server was in use before. Restore the database from a backup, or set storage.database_url to the right one. To start with new organizations and keys instead, set storage.accept_empty_database to true (SOUNDING_ACCEPT_EMPTY_DATABASE) for one start; the telemetry of the old organizations then stays unreachable until it expires.`,
  );
}

/** Leaves the trace that `requireKnownInstallation` looks for, once the database has organizations. */
export async function markInstallation(dataDirectory: string): Promise<void> {
  const text = `${JSON.stringify({ first_start: new Date().toISOString() })}\n`;
  await writeFile(join(dataDirectory, markerFile), text, { flag: "wx", mode: 0o600 }).catch(
    // A disk that is full or read-only is no reason not to start.
    () => {},
  );
}

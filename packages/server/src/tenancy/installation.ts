/**
 * Detects a control database that lost its organizations while their telemetry is still on this machine. Otherwise an
 * emptied or missing file would look like a first start, and silently get new organizations and keys.
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

/** Marker file in the data directory of a server that has stored telemetry, even if the telemetry is elsewhere. */
const markerFile = "installation.json";
/** Where the embedded telemetry store keeps its data. */
const telemetryFolder = join("telemetry", "clickhouse");

async function hasEntries(folder: string): Promise<boolean> {
  return readdir(folder).then(
    (names) => names.length > 0,
    () => false,
  );
}

/** Evidence of an earlier start; undefined if there is none. */
async function evidenceOfEarlierStart(dataDirectory: string): Promise<string | undefined> {
  if (await hasEntries(join(dataDirectory, telemetryFolder))) return join(dataDirectory, telemetryFolder);
  const names = await readdir(dataDirectory).catch((): string[] => []);
  return names.includes(markerFile) ? join(dataDirectory, markerFile) : undefined;
}

/**
 * Call it before anything is created in the database.
 * @throws AppError internal when the database has no organization although this data directory was in use before
 */
export async function requireKnownInstallation(
  control: ControlDatabase,
  { dataDirectory, acceptEmptyDatabase }: InstallationOptions,
): Promise<void> {
  if (acceptEmptyDatabase) return;
  const trace = await evidenceOfEarlierStart(dataDirectory);
  if (trace === undefined) return;
  const any = await control.read((database) =>
    database.selectFrom("organizations").select("id").limit(1).executeTakeFirst(),
  );
  if (any !== undefined) return;
  const place =
    control.kind === "sqlite" ? join(dataDirectory, "control.sqlite") : "in PostgreSQL (storage.database_url)";
  throw new AppError(
    "internal",
    `The control database ${place} has no organizations, but ${trace} shows that this server has been in use. Restore the database from a backup, or correct storage.database_url. To start with new organizations and keys instead, set storage.accept_empty_database to true (SOUNDING_ACCEPT_EMPTY_DATABASE) for one start; the telemetry of the old organizations then stays unreachable until it expires.`,
  );
}

/** Writes the marker for `requireKnownInstallation`. Call it once the database has organizations. */
export async function markInstallation(dataDirectory: string): Promise<void> {
  const text = `${JSON.stringify({ first_start: new Date().toISOString() })}\n`;
  await writeFile(join(dataDirectory, markerFile), text, { flag: "wx", mode: 0o600 }).catch(
    // A full or read-only disk must not prevent the start.
    () => {},
  );
}

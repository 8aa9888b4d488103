/**
 * Creates the data directory and keeps other servers out of it while this one runs. The lock is a transaction on a SQLite
 * file: the system releases it when the process ends, however it ends, so no lock is ever stale and no PID is trusted.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AppError } from "./errors.ts";
import type { Logger } from "./logger.ts";

export interface DataDirectory {
  /** Where others find this server, for their error message. */
  announce(url: string): Promise<void>;
  /** Lets other servers use the directory. */
  close(): Promise<void>;
}

const lockFile = "server.lock";
/** Describes the server that holds the lock. */
const holderFile = "server.json";

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly url?: string | undefined;
}

/** @throws AppError internal if the directory cannot be created, or if another server uses it */
export async function openDataDirectory(path: string, logger: Logger): Promise<DataDirectory> {
  const directory = await tryOpenDataDirectory(path, logger);
  if (directory !== undefined) return directory;
  throw new AppError(
    "internal",
    `The data directory ${path} is in use by another Sounding server${await describeHolder(path)}. Stop that server, or set another directory with --data-dir, storage.data_dir or SOUNDING_DATA_DIR.`,
  );
}

/** Undefined if another process uses the directory. @throws AppError internal if it cannot be created */
export async function tryOpenDataDirectory(path: string, logger: Logger): Promise<DataDirectory | undefined> {
  await create(path);
  const release = tryLockFile(join(path, lockFile), logger);
  if (release === undefined) return undefined;
  const holder: Holder = { pid: process.pid, host: hostname() };
  const file = join(path, holderFile);
  // A full disk must not prevent the start: the file is only for the error message of others.
  const write = (content: Holder): Promise<void> =>
    writeFile(file, `${JSON.stringify(content)}\n`, { mode: 0o600 }).catch(() => {});
  await write(holder);
  return {
    announce: (url) => write({ ...holder, url }),
    async close() {
      await rm(file, { force: true }).catch(() => {});
      release();
    },
  };
}

async function create(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError("internal", `The data directory ${path} (storage.data_dir) cannot be created: ${reason}`, {
      cause: error,
    });
  }
}

/** https://sqlite.org/rescode.html#busy */
const busy = 5;

/** @returns a function that releases the lock; undefined if another process holds it */
export function tryLockFile(path: string, logger: Logger): (() => void) | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Nothing is written, so no journal is needed next to the file.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return () => database!.close();
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode !== busy) {
      // A read-only or remote file system. The control database reports what it cannot do.
      logger.warn(
        { error, data_dir: dirname(path) },
        "the data directory cannot be locked; start no second server on it",
      );
      return () => {};
    }
    return undefined;
  }
}

async function describeHolder(path: string): Promise<string> {
  try {
    const { pid, host, url } = JSON.parse(await readFile(join(path, holderFile), "utf8")) as Holder;
    const place = host === hostname() ? "" : ` on ${host}`;
    return ` (process ${pid}${place}${url === undefined ? "" : `, ${url}`})`;
  } catch {
    return "";
  }
}

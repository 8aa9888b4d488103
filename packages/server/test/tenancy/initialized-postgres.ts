/**
 * The data directory of a Postgres that has just been initialized, to copy: `initdb` takes two seconds of CPU time, a copy a
 * tenth of that. Made once for each version, user and locale, under `node_modules/.cache`.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chownSync, chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../../../node_modules/.cache/", import.meta.url));

interface PostgresData {
  /** The folder of Postgres' programs. */
  readonly binaries: string;
  /** The data directory that is created. */
  readonly data: string;
  /** Who owns it; this process's user if absent. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

let made: Promise<string> | undefined;

export async function copyInitializedPostgres({ binaries, data, user }: PostgresData): Promise<void> {
  made ??= initializedPostgres(binaries, user);
  await copy(await made, data);
}

/** With its owners and modes, which Postgres checks. */
async function copy(from: string, to: string): Promise<void> {
  await run("cp", ["-a", from, to]);
}

async function initializedPostgres(binaries: string, user: PostgresData["user"]): Promise<string> {
  const { stdout: version } = await run(join(binaries, "postgres"), ["--version"]);
  // What initdb writes into the configuration.
  const locale = Object.keys(process.env).filter((name) => /^(?:LANG|LC_\w+|TZ)$/.test(name));
  const values = locale.toSorted().map((name) => [name, process.env[name]]);
  const facts = JSON.stringify([version, user?.uid ?? process.getuid?.(), values]);
  const directory = join(
    cache,
    `initialized-postgres-${createHash("sha256").update(facts).digest("hex").slice(0, 16)}`,
  );
  if (existsSync(directory)) return directory;
  // The user may not be allowed to enter this repository.
  const temporary = mkdtempSync(join(tmpdir(), "sounding-pg-"));
  const unfinished = `${directory}-${process.pid}`;
  try {
    if (user !== undefined) chownSync(temporary, user.uid, user.gid);
    chmodSync(temporary, 0o700);
    const initialized = join(temporary, "data");
    const options = ["-U", "sounding", "-A", "trust", "-E", "UTF8", "--no-sync"];
    await run(join(binaries, "initdb"), ["-D", initialized, ...options], { cwd: temporary, ...user });
    await mkdir(cache, { recursive: true });
    await copy(initialized, unfinished);
    await rename(unfinished, directory);
  } catch (error) {
    // Another process may have made it meanwhile.
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return directory;
}

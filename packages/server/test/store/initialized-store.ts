/**
 * The folder of an embedded store that has its tables and no rows, to copy: creating the tables takes three times as long as
 * opening a store that has them. Made once for each version of the store's code, under `node_modules/.cache`.
 */
import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { glob, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Value } from "typebox/value";
import { telemetry, type TelemetrySettings } from "../../src/config/telemetry.ts";
import { silentLogger } from "../../src/logger.ts";
import { openStore } from "../../src/store/open-store.ts";

const cache = fileURLToPath(new URL("../../../../node_modules/.cache/", import.meta.url));
const sources = fileURLToPath(new URL("../../src/store/", import.meta.url));
const library = fileURLToPath(import.meta.resolve("chdb/package.json"));

let made: Promise<string> | undefined;

/** Puts the store's folder into a data directory that has none. */
export async function copyInitializedStore(dataDirectory: string): Promise<void> {
  made ??= initializedStore();
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  // A third of the time that `cp` takes.
  cpSync(join(await made, "telemetry"), join(dataDirectory, "telemetry"), { recursive: true });
}

async function initializedStore(): Promise<string> {
  const directory = join(cache, `initialized-store-${await versionOfStore()}`);
  if (await exists(directory)) return directory;
  await mkdir(dirname(directory), { recursive: true });
  const unfinished = await mkdtemp(`${directory}-`);
  try {
    await create(unfinished);
    await rename(unfinished, directory);
  } catch (error) {
    // Another process may have made it meanwhile.
    await rm(unfinished, { recursive: true, force: true });
    if (!(await exists(directory))) throw error;
  }
  return directory;
}

async function create(dataDirectory: string): Promise<void> {
  const settings = Value.Default(telemetry, {}) as TelemetrySettings;
  const store = await openStore({ settings, dataDirectory, logger: silentLogger });
  try {
    await store.whenReady(AbortSignal.timeout(120_000));
  } finally {
    await store.close();
  }
}

async function versionOfStore(): Promise<string> {
  const hash = createHash("sha256").update(await readFile(library));
  const files = (await Array.fromAsync(glob("**/*.ts", { cwd: sources }))).filter((path) => !path.endsWith(".test.ts"));
  for (const path of files.sort()) hash.update(path).update(await readFile(join(sources, path)));
  return hash.digest("hex").slice(0, 16);
}

async function exists(directory: string): Promise<boolean> {
  return readFile(join(directory, "telemetry/clickhouse.xml")).then(
    () => true,
    () => false,
  );
}

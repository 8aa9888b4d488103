/** Checks the server's storage: folder, disk, control database, telemetry store. */
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Config } from "@sounding/server";
import { showBytes } from "../progress.ts";
import { failed, ok, warning, type Finding } from "./finding.ts";
import { canConnect, readHttp } from "./network.ts";

/** Telemetry grows: below the first value there is a warning, below the second the server soon stops working. */
const littleBytes = 2 * 1024 ** 3;
const tooLittleBytes = 200 * 1024 ** 2;

export async function checkStorage(config: Config): Promise<Finding[]> {
  const folder = resolve(config.storage.data_dir);
  const place = await nearestFolder(folder);
  return [
    await checkFolder(folder, place),
    await checkDisk(place),
    await checkDatabase(config, folder),
    ...(await checkTelemetry(config)),
  ];
}

async function nearestFolder(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  return exists || dirname(path) === path ? path : nearestFolder(dirname(path));
}

async function checkFolder(folder: string, place: string): Promise<Finding> {
  const area = "data folder";
  try {
    await access(place, constants.W_OK | constants.X_OK);
    return ok(area, place === folder ? `${folder} is writable` : `${folder} will be created at the first start`);
  } catch {
    return failed(area, `${place} is not writable`, "Set another folder in storage.data_dir or SOUNDING_DATA_DIR.");
  }
}

async function checkDisk(place: string): Promise<Finding> {
  const area = "disk";
  try {
    const { bavail, bsize } = await statfs(place);
    const freeBytes = bavail * bsize;
    const message = `${showBytes(freeBytes)} are free at ${place}`;
    if (freeBytes < tooLittleBytes) return failed(area, message, "Free some space, or set another storage.data_dir.");
    return freeBytes < littleBytes ? warning(area, message, "Telemetry and models will need more.") : ok(area, message);
  } catch (error) {
    return warning(area, `the free space at ${place} is unknown: ${(error as Error).message}`);
  }
}

async function checkDatabase(config: Config, folder: string): Promise<Finding> {
  const area = "control database";
  const { database_url: url } = config.storage;
  if (url !== undefined) {
    const { hostname, port } = new URL(url);
    const at = `${hostname || "localhost"}:${port || "5432"}`;
    return (await canConnect(hostname || "127.0.0.1", Number(port || 5432)))
      ? ok(area, `PostgreSQL responds at ${at}`)
      : failed(area, `PostgreSQL cannot be reached at ${at}`, "Check storage.database_url or DATABASE_URL.");
  }
  const path = join(folder, "control.sqlite");
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (!exists) return ok(area, "SQLite; created at the first start, which prints the first keys");
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const [result] = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {});
      if (result !== "ok") return failed(area, `${path} is damaged: ${String(result)}`, "Restore it from a backup.");
      return ok(area, `${path} is intact`);
    } finally {
      database.close();
    }
  } catch (error) {
    return failed(area, `${path} cannot be read: ${(error as Error).message}`);
  }
}

async function checkTelemetry({ telemetry }: Config): Promise<Finding[]> {
  const area = "telemetry store";
  if (!telemetry.enabled) return [ok(area, "off (telemetry.enabled)")];
  const { url } = telemetry.clickhouse;
  if (url !== undefined) return checkAddresses(area, typeof url === "string" ? [url] : url);
  const { embeddedStoreIsInstalled } = await import("@sounding/server");
  return [
    embeddedStoreIsInstalled()
      ? ok(area, "embedded (chDB)")
      : failed(
          area,
          "the embedded store is not installed for this platform (npm package chdb)",
          "Set telemetry.clickhouse.url to a ClickHouse server, or telemetry.enabled to false.",
        ),
  ];
}

/** The server works while one of several addresses responds. */
async function checkAddresses(area: string, urls: readonly string[]): Promise<Finding[]> {
  const answers = await Promise.all(urls.map((url) => readHttp(`${url.replace(/\/+$/, "")}/ping`)));
  const responding = answers.filter((answer) => answer?.status === 200).length;
  const isUsable = responding > 0;
  return urls.map((url, index) => {
    if (answers[index]?.status === 200) return ok(area, `ClickHouse responds at ${url}`);
    const message = `ClickHouse cannot be reached at ${url}`;
    return isUsable
      ? warning(area, message, `${responding} of ${urls.length} addresses respond.`)
      : failed(area, message, "Check telemetry.clickhouse.url.");
  });
}

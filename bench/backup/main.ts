/**
 * Measures backups: `npm run bench:backup`, `npm run bench:backup -- --spans 2000000`. Fills a server with spans of a day over OTLP,
 * backs it up while it runs, restores the backup into an empty data directory, and counts the spans there.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { describeMachine } from "../processes.ts";
import { startMeasuredServer } from "../telemetry/server.ts";
import { createSpanRequests } from "../traces/span-requests.ts";

const { values: given } = parseArgs({ options: { spans: { type: "string", default: "2000000" } } });
const spanCount = Number(given.spans);
const requestsInFlight = 8;
const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");

const log = (text: string): void => void process.stderr.write(`${text}\n`);

interface Measured {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly result: { readonly telemetry_rows: number };
}

function sounding(words: readonly string[], dataDirectory: string): Measured {
  const startMs = performance.now();
  // The shell adds the CPU time of the command and of the engine that it starts, but not that of a server.
  const timed = ["-c", 'TIMEFORMAT="%U %S"; time "$@"', "bash", process.execPath, cli, ...words, "--json"];
  const { status, stderr, stdout } = spawnSync("bash", timed, {
    env: { PATH: process.env["PATH"], SOUNDING_DATA_DIR: dataDirectory, SOUNDING_INSTALL: "false" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`sounding ${words.join(" ")}: ${stderr}`);
  const seconds = (performance.now() - startMs) / 1000;
  const [user = 0, system = 0] = stderr.trimEnd().split("\n").at(-1)!.split(" ").map(Number);
  return { seconds, cpuSeconds: user + system, result: JSON.parse(stdout) as Measured["result"] };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const folder = mkdtempSync(join(tmpdir(), "sounding-bench-backup-"));
const backup = join(folder, "backup");
const server = await startMeasuredServer();
const lines: string[] = [];
try {
  const requests = createSpanRequests(spanCount, BigInt(Date.now()) * 1_000_000n);
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < requests.count) await server.send("/v1/traces", requests.request(next++));
  };
  await Promise.all(Array.from({ length: requestsInFlight }, sender));
  await server.untilStored();
  await server.untilQuiet();
  log(`The server has ${requests.count * requests.spansPerRequest} spans.`);
  const row = (what: string, { cpuSeconds, result, seconds }: Measured): void => {
    lines.push(`| ${what} | ${result.telemetry_rows} | ${seconds.toFixed(1)} s | ${cpuSeconds.toFixed(1)} s |`);
  };
  row("backup while the server runs", sounding(["backup", backup], server.directory));
  lines.push(`| size of the backup | | ${(bytesIn(backup) / 1e6).toFixed(0)} MB | |`);
  await server.stop();
  row("backup of a stopped server", sounding(["backup", join(folder, "second")], server.directory));
  row("restore", sounding(["restore", backup], join(folder, "restored")));
} finally {
  await server.stop().catch(() => {});
  server.removeFolder();
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  `${describeMachine()}\n\n| what | rows | time | CPU time of the command |\n| --- | ---: | ---: | ---: |\n${lines.join("\n")}`,
);

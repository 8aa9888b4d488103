/**
 * Measures how long `sounding serve` takes until `/readyz` answers with 200, and the CPU time of an idle server:
 * `npm run bench:start` (about 6 minutes), with `-- --quick` (1.5 min) or `-- --starts 5`. Prints Markdown tables.
 */
import { mkdirSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePorts } from "../free-ports.ts";
import { cpuMicros, describeMachine, start, stop } from "../processes.ts";
import { quantile } from "../quantile.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, starts: { type: "string" } },
});
const starts = Number(values.starts ?? (values.quick ? 3 : 10));
const idleSeconds = values.quick ? 10 : 30;
/** After a start: models that are loaded in the background, and the first merges of a new store. */
const settleSeconds = values.quick ? 5 : 15;
const pollMs = 10;
const startTimeoutMs = 60_000;

const command = join(import.meta.dirname, "../../packages/cli/bin/sounding.js");
const directory = mkdtempSync(join(tmpdir(), "sounding-bench-"));
process.once("SIGINT", () => process.exit(130));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
const agent = new Agent({ keepAlive: true });

interface Ready {
  readonly pid: number;
  /** From the start of the process to the first 200 of `/readyz`. */
  readonly readyMs: number;
  /** … to the first in which every check passes, the telemetry store's included. */
  readonly completeMs: number;
  /** CPU time of all processes until then. */
  readonly cpuMs: number;
  stop(): Promise<void>;
}

interface Kind {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
}

const kinds: readonly Kind[] = [
  { name: "without telemetry store", env: { SOUNDING_TELEMETRY_ENABLED: "false" } },
  { name: "embedded store", env: {} },
];

/** The status of `/readyz`: a refused connection counts as 503. */
async function readiness(port: number): Promise<{ code: number; status?: string }> {
  return new Promise((resolve) => {
    const request = get({ port, host: "127.0.0.1", path: "/readyz", agent }, (response) => {
      const code = response.statusCode ?? 503;
      json(response).then(
        (body) => resolve({ code, status: (body as { status: string }).status }),
        () => resolve({ code: 503 }),
      );
    });
    request.once("error", () => resolve({ code: 503 }));
  });
}

/** @param home where the command keeps compiled modules. @throws if the server is not ready within a minute */
async function serve(data: string, { env }: Kind, home = directory): Promise<Ready> {
  const [port] = (await freePorts(1)) as [number];
  const args = ["serve", "--port", String(port), "--data-dir", data];
  const startedMs = performance.now();
  const child = start({
    command: [process.execPath, command, ...args],
    env: { ...env, SOUNDING_INSTALL: "false", HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home },
    directory,
    errorFile: openSync(join(directory, "sounding.log"), "a"),
    measured: false,
  });
  child.stdout?.resume();
  let readyMs: number | undefined;
  for (;;) {
    const { code, status } = await readiness(port);
    const passedMs = performance.now() - startedMs;
    if (code === 200) readyMs ??= passedMs;
    if (readyMs !== undefined && status === "ok")
      return {
        pid: child.pid!,
        readyMs,
        completeMs: passedMs,
        cpuMs: cpuMicros(child.pid!) / 1_000,
        stop: () => stop(child),
      };
    if (passedMs > startTimeoutMs || child.exitCode !== null)
      throw new Error(`The server was not ready within ${startTimeoutMs} ms.`);
    await sleep(pollMs);
  }
}

/** The share of one core that the server's processes use while nothing calls it. */
async function idleShare(data: string, kind: Kind): Promise<number> {
  const server = await serve(data, kind);
  await sleep(settleSeconds * 1_000);
  const [before, beforeMs] = [cpuMicros(server.pid), performance.now()];
  await sleep(idleSeconds * 1_000);
  const share = (cpuMicros(server.pid) - before) / 1_000 / (performance.now() - beforeMs);
  await server.stop();
  return share;
}

/** The folders of one start: the data, and the compiled modules of earlier starts. */
const ages = {
  "the first of all": (name: string) => ({ data: join(directory, name), home: join(directory, `${name}-home`) }),
  "new data directory": (name: string) => ({ data: join(directory, `${name}-new`), home: directory }),
  "existing data directory": () => ({ data: join(directory, "existing"), home: directory }),
};

const machine = describeMachine({ bound: false });
const rows: string[] = [];
const idle: string[] = [];
for (const kind of kinds) {
  const { data: existing } = ages["existing data directory"]();
  await (await serve(existing, kind)).stop();
  const found: Record<string, Ready[]> = {};
  for (let round = 0; round < starts; round++) {
    for (const [age, foldersOf] of Object.entries(ages)) {
      const { data, home } = foldersOf(`${kind.name} ${round}`);
      mkdirSync(home, { recursive: true });
      const server = await serve(data, kind, home);
      await server.stop();
      (found[age] ??= []).push(server);
    }
  }
  for (const [age, servers] of Object.entries(found)) {
    const cells = (["readyMs", "completeMs", "cpuMs"] as const).map((name) => {
      const times = servers.map((each) => each[name]);
      const median = quantile(times, 0.5).toFixed(0);
      return name === "cpuMs" ? median : `${median} | ${Math.max(...times).toFixed(0)}`;
    });
    rows.push(`| ${kind.name}, ${age} | ${cells.join(" | ")} |`);
  }
  idle.push(`| ${kind.name} | ${((await idleShare(existing, kind)) * 100).toFixed(2)} % |`);
}
agent.destroy();
process.stdout.write(`
${machine}

| ${starts} starts | ready: median, ms | longest | every check passes: median, ms | longest | CPU until then, ms |
| --- | ---: | ---: | ---: | ---: | ---: |
${rows.join("\n")}

| idle for ${idleSeconds} s | CPU of all processes, of one core |
| --- | ---: |
${idle.join("\n")}
`);

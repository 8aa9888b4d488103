/**
 * A fleet of two servers behind Caddy is upgraded, one server after the other, under load: no call fails. Then it is taken back
 * to the previous version.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { repository } from "../support/served-process.ts";
import { chat, createKey, startFleet, type Fleet, type FleetServer } from "./fleet.ts";
import { needs } from "../support/needs.ts";
import { childEnvironment } from "../support/child-environment.ts";

const run = promisify(execFile);

/** The version from which upgrades are tested: before there is a release, a commit with an older schema. */
const previousVersion = "b41b02f59fc59f5e10053fa61a6f362028a1f36f";

/** The reason to skip, unless the previous version is here. */
const noHistory = await run("git", ["cat-file", "-e", `${previousVersion}^{commit}`], { cwd: repository }).then(
  () => false,
  () => "runs only in a clone with its history",
);

/** Extracts the previous version, with the packages that this one has installed. */
async function extractPreviousVersion(directory: string): Promise<string> {
  const archive = join(directory, "previous.tar");
  const version = join(directory, "previous");
  await run("git", ["archive", "--output", archive, previousVersion, "packages", "package.json", "docs/openapi.json"], {
    cwd: repository,
  });
  await mkdir(join(version, "node_modules/@sounding"), { recursive: true });
  await run("tar", ["-xf", archive, "-C", version]);
  const installed = await readdir(join(repository, "node_modules"));
  for (const name of installed.filter((each) => each !== "@sounding"))
    await symlink(join(repository, "node_modules", name), join(version, "node_modules", name));
  for (const name of ["cli", "client", "console", "server"])
    await symlink(join(version, "packages", name), join(version, "node_modules/@sounding", name));
  // It used nothing else of pino, which this version does not need.
  await mkdir(join(version, "node_modules/pino"));
  const pino = `const { SonicBoom } = require("sonic-boom");\nexports.destination = (options) => new SonicBoom(options);\n`;
  await writeFile(join(version, "node_modules/pino/index.js"), pino);
  return version;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Caddy before the servers, as docs/operate/proxies.md has it for several. @returns its URL */
async function startCaddy(parts: AsyncDisposableStack, directory: string, ports: readonly number[]): Promise<string> {
  const port = await freePort();
  const file = join(directory, "Caddyfile");
  const servers = ports.map((each) => `127.0.0.1:${each}`).join(" ");
  await writeFile(
    file,
    `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy ${servers} {
    health_uri /readyz
    health_interval 250ms
    lb_try_duration 10s
    flush_interval -1
  }
}
`,
  );
  const child = spawn("caddy", ["run", "--config", file], {
    env: { ...childEnvironment, HOME: directory },
    stdio: ["ignore", "ignore", "pipe"],
  });
  parts.defer(async () => {
    const exited = once(child, "exit");
    child.kill();
    await exited;
  });
  let output = "";
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  while (!output.includes("serving initial configuration")) await once(child.stderr, "data");
  return `http://127.0.0.1:${port}`;
}

interface Load {
  readonly failures: readonly string[];
  readonly served: { calls: number; exports: number; queries: number };
  end(): Promise<void>;
}

const paceMs = 50;

/** Sends calls, exports and queries, one of each at a time, until it is ended. */
function startLoad(url: string, key: string): Load {
  const failures: string[] = [];
  const served = { calls: 0, exports: 0, queries: 0 };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const steps = {
    calls: () => chat(url, key),
    exports: () => {
      const logRecords = [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: `record ${served.exports}` } }];
      const resource = { attributes: [{ key: "service.name", value: { stringValue: "rolling" } }] };
      const body = JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
      return fetch(`${url}/v1/logs`, { method: "POST", headers, body });
    },
    queries: () => fetch(`${url}/prometheus/api/v1/query?query=vector(1)`, { headers }),
  };
  const ending = new AbortController();
  const loops = Object.entries(steps).map(async ([name, step]) => {
    while (!ending.signal.aborted) {
      try {
        const response = await step();
        const text = await response.text();
        if (response.ok) served[name as keyof typeof served] += 1;
        else failures.push(`${name}: ${response.status} ${text}`);
      } catch (error) {
        failures.push(`${name}: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, paceMs));
    }
  });
  return {
    failures,
    served,
    async end() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}

/** Until each kind of request was answered some more times. */
async function untilServed({ served, failures }: Load): Promise<void> {
  const enough = Object.values(served).map((count) => count + 10);
  while (failures.length === 0 && Object.values(served).some((count, index) => count < enough[index]!))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

async function countRecords(url: string, key: string): Promise<number> {
  const query = encodeURIComponent('sum(count_over_time({service_name="rolling"}[1h]))');
  const response = await fetch(`${url}/loki/api/v1/query?query=${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await response.json()) as { data: { result: readonly { value: [number, string] }[] } };
  return Number(data.result[0]?.value[1] ?? 0);
}

const skip = needs("postgresql", "caddy") || noHistory;

test("a fleet is upgraded and taken back without a failed call", { skip }, async (context) => {
  await using parts = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "sounding-upgrade-"));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const previous = await extractPreviousVersion(directory);
  const fleet: Fleet = parts.use(await startFleet());
  const ports = [await freePort(), await freePort()];
  // Longer than Caddy takes to notice.
  const env = { SOUNDING_SERVER_SHUTDOWN_DELAY_MS: "1500" };
  const started: FleetServer[] = [];
  const serve = async (index: number, version?: string): Promise<FleetServer> => {
    const data = join(directory, `data-${index}`);
    const options = { port: ports[index]!, data, env, ...(version === undefined ? {} : { version }) };
    const server = parts.use(await fleet.serve(options));
    started.push(server);
    return server;
  };
  // Rows that are never inserted would keep the test waiting for those behind them.
  const assertInserts = (): void => {
    for (const server of started) assert.doesNotMatch(server.log(), /could not be inserted|refuses rows/);
  };
  const servers = await Promise.all([serve(0, previous), serve(1, previous)]);
  const url = await startCaddy(parts, directory, ports);
  const key = await createKey(servers[0]);
  const load = startLoad(url, key);
  await untilServed(load);

  for (const version of [undefined, previous]) {
    for (const index of [0, 1]) {
      assert.equal(await servers[index]!.end(), 0, servers[index]!.log());
      await untilServed(load);
      servers[index] = await serve(index, version);
      await untilServed(load);
    }
    context.diagnostic(
      `${JSON.stringify(load.served)} with ${version === undefined ? "this" : "the previous"} version`,
    );
  }

  await load.end();
  assert.deepEqual(load.failures, []);
  while ((await countRecords(url, key)) < load.served.exports) {
    assertInserts();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assertInserts();
  assert.equal(await countRecords(url, key), load.served.exports);
});

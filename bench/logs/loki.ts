/**
 * A real Loki as one process with its files in a temporary folder, from a given program. Everything that differs from its
 * defaults is here: limits of ingestion, no cached results (each query would run once), and the faster of its compressions.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { freePorts } from "../free-ports.ts";
import { cpuMicros, residentBytes, start, stop } from "../processes.ts";
import type { Posted } from "../telemetry/server.ts";
import type { LogServer } from "./log-server.ts";

const startupSeconds = 90;
const settlingSeconds = 300;
/** Its count of entries by the index is an estimate, some of a thousand below. */
const countedShare = 0.95;

function configuration(directory: string, [http, grpc]: readonly number[]): string {
  const messageBytes = 104_857_600;
  return `auth_enabled: false
analytics: { reporting_enabled: false }
server:
  http_listen_address: 127.0.0.1
  http_listen_port: ${http}
  grpc_listen_address: 127.0.0.1
  grpc_listen_port: ${grpc}
  grpc_server_max_recv_msg_size: ${messageBytes}
  grpc_server_max_send_msg_size: ${messageBytes}
  log_level: error
common:
  instance_addr: 127.0.0.1
  path_prefix: ${directory}
  replication_factor: 1
  ring: { kvstore: { store: inmemory } }
  storage: { filesystem: { chunks_directory: ${directory}/chunks, rules_directory: ${directory}/rules } }
schema_config:
  configs:
    - { from: 2024-01-01, store: tsdb, object_store: filesystem, schema: v13, index: { prefix: index_, period: 24h } }
ingester: { chunk_encoding: snappy }
query_range: { cache_results: false }
pattern_ingester: { enabled: true }
limits_config:
  allow_structured_metadata: true
  discover_log_levels: true
  reject_old_samples: false
  ingestion_rate_mb: 1000
  ingestion_burst_size_mb: 1000
  per_stream_rate_limit: 1GB
  per_stream_rate_limit_burst: 1GB
  volume_enabled: true
`;
}

/** @throws if it is not ready in time */
export async function startLoki(program: string): Promise<LogServer> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-bench-loki-"));
  const ports = await freePorts(2);
  const file = join(directory, "loki.yaml");
  writeFileSync(file, configuration(directory, ports));
  const errorFile = openSync(join(directory, "loki.log"), "w");
  const child = start({ command: [program, `-config.file=${file}`], directory, errorFile, measured: false });
  child.stdout!.resume();
  const pool = new Pool(`http://127.0.0.1:${ports[0]}`, { connections: 16, headersTimeout: 0, bodyTimeout: 0 });
  const request = async (method: "GET" | "POST", path: string, body?: Buffer): Promise<Posted> => {
    const startMs = performance.now();
    const headers = body === undefined ? {} : { "content-type": "application/x-protobuf" };
    const answer = await pool.request({ method, path, headers, body: body ?? null });
    const text = await answer.body.text();
    return { status: answer.statusCode, text, latencyMs: performance.now() - startMs, retryAfterMs: 0 };
  };
  const until = async (seconds: number, isReached: () => Promise<boolean>): Promise<boolean> => {
    for (let second = 0; second < seconds; second += 1) {
      if (child.exitCode !== null) throw new Error(`Loki ended; its log is the file loki.log in ${directory}.`);
      if (await isReached()) return true;
      await sleep(1000);
    }
    return false;
  };
  const isReady = async (): Promise<boolean> => {
    try {
      return (await request("GET", "/ready")).status === 200;
    } catch {
      return false;
    }
  };
  if (!(await until(startupSeconds, isReady))) throw new Error(`Loki is not ready after ${startupSeconds} s.`);
  const pid = child.pid!;
  const countEntries = async (): Promise<number> => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const query = new URLSearchParams({
      query: '{service_name=~".+"}',
      start: `${nowSeconds - 90_000}`,
      end: `${nowSeconds}`,
    });
    const { text } = await request("GET", `/loki/api/v1/index/stats?${query.toString()}`);
    return (JSON.parse(text) as { entries: number }).entries;
  };
  return {
    name: "Loki",
    async send(otlp) {
      const { status, text } = await request("POST", "/otlp/v1/logs", otlp);
      if (status >= 300) throw new Error(`Loki refused records: ${status} ${text.slice(0, 300)}`);
    },
    get: (path) => request("GET", path),
    cpuMicros: () => cpuMicros(pid),
    async untilSettled(recordCount) {
      await request("POST", "/flush");
      let quiet = 0;
      await until(settlingSeconds, async () => {
        const before = cpuMicros(pid);
        await sleep(1000);
        quiet = cpuMicros(pid) - before < 100_000 ? quiet + 1 : 0;
        return quiet >= 3 && (await countEntries()) >= recordCount * countedShare;
      });
    },
    storedBytes: async () =>
      Number(execFileSync("du", ["-sb", "--exclude=wal", directory], { encoding: "utf8" }).split("\t")[0]),
    memoryBytes: () => residentBytes(pid).highest,
    async stop() {
      await pool.destroy();
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

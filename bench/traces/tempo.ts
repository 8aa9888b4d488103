/**
 * A real Tempo, all of it in one process with its storage in a temporary folder. Its limits are raised, and recent blocks, which
 * it keeps on its disk, hold the whole day. https://grafana.com/docs/tempo/latest/configuration/
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { freePorts } from "../free-ports.ts";
import { cpuMicros, start, stop, untilQuiet } from "../processes.ts";
import type { Contender } from "./contender.ts";

function configuration(directory: string, [http, grpc, otlp, members]: readonly number[]): object {
  const slack = "48h";
  return {
    target: "all",
    usage_report: { reporting_enabled: false },
    server: {
      http_listen_address: "127.0.0.1",
      http_listen_port: http,
      grpc_listen_address: "127.0.0.1",
      grpc_listen_port: grpc,
      log_level: "error",
    },
    distributor: { receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlp}` } } } } },
    memberlist: { bind_addr: ["127.0.0.1"], bind_port: members },
    overrides: {
      defaults: {
        ingestion: {
          rate_limit_bytes: 1_000_000_000,
          burst_size_bytes: 1_000_000_000,
          max_traces_per_user: 0,
        },
        read: { max_bytes_per_tag_values_query: 100_000_000 },
      },
    },
    live_store: {
      wal: { path: join(directory, "live"), ingestion_time_range_slack: slack },
      shutdown_marker_dir: join(directory, "marker"),
      complete_block_timeout: "48h",
      max_trace_idle: "1s",
      max_trace_live: "5s",
      flush_check_period: "1s",
    },
    query_frontend: {
      query_end_cutoff: "0s",
      search: { query_backend_after: "100h", max_duration: "0s" },
      metrics: { query_backend_after: "100h", max_duration: "0s" },
    },
    storage: {
      trace: {
        backend: "local",
        wal: { path: join(directory, "wal"), ingestion_time_range_slack: slack },
        local: { path: join(directory, "blocks") },
      },
    },
  };
}

export async function startTempo(program: string): Promise<Contender> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-bench-tempo-"));
  const ports = await freePorts(4);
  const file = join(directory, "tempo.yaml");
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(configuration(directory, ports)));
  const log = openSync(join(directory, "log"), "w");
  const child = start({ command: [program, `-config.file=${file}`], directory, errorFile: log, measured: false });
  closeSync(log);
  child.stdout!.resume();
  const pid = child.pid!;
  const queries = new Pool(`http://127.0.0.1:${ports[0]}`, { connections: 4, headersTimeout: 300_000 });
  const spans = new Pool(`http://127.0.0.1:${ports[2]}`, { connections: 8, headersTimeout: 300_000 });
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const answer = await queries.request({ method: "GET", path });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const isReady = (): Promise<boolean> =>
    get("/ready").then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}.`);
    await sleep(500);
  }
  return {
    name: "Tempo",
    async send(body) {
      for (;;) {
        const headers = { "content-type": "application/x-protobuf" };
        const answer = await spans.request({ method: "POST", path: "/v1/traces", headers, body });
        const text = await answer.body.text();
        if (answer.statusCode === 200) return;
        if (answer.statusCode !== 429 && answer.statusCode !== 503) throw new Error(`${answer.statusCode} ${text}`);
        await sleep(200);
      }
    },
    async ask(path) {
      const { status, text } = await get(path);
      if (status !== 200) throw new Error(`Tempo: ${path}: ${status} ${text.slice(0, 300)}`);
      return text;
    },
    cpuMicros: () => cpuMicros(pid),
    untilQuiet: () => untilQuiet(pid, 8),
    async end() {
      await Promise.all([queries.destroy(), spans.destroy()]);
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

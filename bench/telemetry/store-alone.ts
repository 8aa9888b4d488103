/** The embedded store in isolation: inserts pre-encoded blocks as the server would, and measures the disk usage. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnection, type Connection } from "../../packages/server/src/store/connection.ts";
import { startEngineProcess } from "../../packages/server/src/store/embedded/engine-process.ts";
import { migrate } from "../../packages/server/src/store/migrations.ts";
import { type TableName, tables } from "../../packages/server/src/store/schema.ts";
import { ingestFixture, nowMs } from "../../packages/server/test/otlp/ingest-fixture.ts";
import { cpuMicros } from "../processes.ts";
import { createRequests, type Signal } from "./requests.ts";

const mainTable: Record<Signal, TableName> = { traces: "spans", logs: "logs", metrics: "points" };

interface OpenStore extends AsyncDisposable {
  readonly connection: Connection;
  readonly pid: number;
}

async function open(directory: string): Promise<OpenStore> {
  mkdirSync(directory, { recursive: true });
  const socketPath = join(directory, "store.sock");
  const spoolDirectory = join(directory, "spool");
  const engine = await startEngineProcess({
    dataDirectory: join(directory, "clickhouse"),
    spoolDirectory,
    socketPath,
    memoryBytes: 1_073_741_824,
  });
  const connection = createConnection({
    url: "http://localhost",
    socketPath,
    database: "default",
    compression: false,
    spoolDirectory,
    maximumConnections: 4,
  });
  return {
    connection,
    pid: engine.pid,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await engine.stop();
    },
  };
}

export interface TableSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Disk usage of the tables in a stopped server's folder, without what merging left behind. */
export async function tableSizes(dataDirectory: string): Promise<ReadonlyMap<string, TableSize>> {
  await using store = await open(join(dataDirectory, "telemetry"));
  const text = await store.connection.command(
    "SELECT table, sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active GROUP BY table FORMAT TSV",
    AbortSignal.timeout(30_000),
  );
  const lines = text.trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [table = "", rows, bytes] = line.split("\t");
      return [table, { rows: Number(rows), bytes: Number(bytes) }];
    }),
  );
}

/** Requests of 1 000 records as the server's decoder turns them into blocks. */
async function encodedBlocks(signal: Signal, requests: number): Promise<Uint8Array[]> {
  const ingest = ingestFixture();
  const source = createRequests(signal, 1000, () => nowMs);
  for (let count = 0; count < requests; count += 1) await ingest.send(signal, Buffer.from(source.next()));
  await ingest.close();
  return ingest.store.batches.filter(({ table }) => table === mainTable[signal]).map(({ block }) => block);
}

export interface AloneResult {
  readonly perSecond: number;
  /** Of the store's process, including Node around the engine. */
  readonly cpuMicros: number;
}

/** Inserts groups of 16 requests, two at a time, as the server does under load. */
export async function measureStoreAlone(signal: Signal, seconds: number): Promise<AloneResult> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-bench-store-"));
  try {
    await using store = await open(directory);
    await migrate(store.connection, { cluster: undefined }, AbortSignal.timeout(60_000));
    const table = mainTable[signal];
    const group = 16;
    const blocks = await encodedBlocks(signal, 8 * group);
    let inserts = 0;
    const startMs = performance.now();
    const cpuBefore = cpuMicros(store.pid);
    const writer = async (): Promise<void> => {
      while (performance.now() - startMs < seconds * 1000) {
        // The same rows again: the store treats them as new rows until a merge.
        const first = (inserts * group) % blocks.length;
        inserts += 1;
        await store.connection.insert({
          table,
          columns: Object.keys(tables[table].columns),
          blocks: blocks.slice(first, first + group),
          settings: { async_insert: 0, optimize_on_insert: 0, insert_deduplicate: 0 },
          signal: AbortSignal.timeout(60_000),
        });
      }
    };
    await Promise.all([writer(), writer()]);
    const rows = inserts * group * 1000;
    return {
      perSecond: (rows * 1000) / (performance.now() - startMs),
      cpuMicros: (cpuMicros(store.pid) - cpuBefore) / rows,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

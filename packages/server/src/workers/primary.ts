/**
 * Starts a server of several worker processes, and keeps what they share: the port, the data directory, the embedded store's
 * process, locks, open circuits, and the sum of the metrics. docs/adr/0040-workers-and-fleets.md
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bindRelayedPort, reachableUrl, type RelayedPort } from "../http/listen.ts";
import { MemoryLedger } from "../limits/shared/memory-ledger.ts";
import type { App, AppOptions } from "../running-app.ts";
import { openOwnDatabase, openOwnDirectory, prepareFolders } from "../server-parts.ts";
import { takes } from "../server-role.ts";
import { embeddedPaths } from "../store/embedded/embedded-store.ts";
import { CircuitBoard } from "./circuit-board.ts";
import { ConnectionRelay } from "./connection-relay.ts";
import { MetricSum } from "./metric-sum.ts";
import { ProcessLocks } from "./process-locks.ts";
import type { PortName } from "./protocol.ts";
import { startSharedEngine, type SharedEngine } from "./shared-engine.ts";
import { folderOf } from "./worker-folder.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** How long one worker waits for another: longer than a query or a deletion does. */
const visibleTimeoutMs = 60_000;
/** A worker that does not learn of a change in time reads it from the database seconds later. */
const changeTimeoutMs = 2_000;
const answerTimeoutMs = 10_000;

/** @throws AppError if the primary or a worker cannot start; what has started is closed */
export async function startPrimary(options: AppOptions, count: number): Promise<App> {
  const { config, logger, version } = options;
  await using starting = new AsyncDisposableStack();
  const closeAtEnd = <T extends { close(): Promise<void> }>(part: T): T => starting.adopt(part, (each) => each.close());

  // Nothing is created if the port or the directory is in use.
  const http = closeAtEnd(await bindRelayedPort(config.server));
  closeAtEnd(await openOwnDirectory(options, http));
  const relay = new ConnectionRelay();
  const metrics = new MetricSum();
  const locks = new ProcessLocks();
  const circuits = new CircuitBoard();
  const limits = new MemoryLedger();
  const ports: { http: RelayedPort; grpc?: RelayedPort } = { http };
  let engine: SharedEngine | undefined;

  // Workers load their modules while this process prepares what they need. They end before what they need does.
  const pool = new WorkerPool({
    count,
    config,
    logger,
    orderFor: (number, current) => ({
      config: current,
      version,
      number,
      count,
      ports: addressesOf(ports),
      engine: engine?.state,
      openCircuits: circuits.open(current.routing.open_ms),
    }),
    onSpawned(worker) {
      answer(worker);
      // Also one that ends while it starts: it may have taken locks already.
      void worker.disconnected.then(() => locks.releaseAll(worker));
    },
    onReady(worker) {
      metrics.addWorker(worker);
      relay.addWorker(worker);
    },
    onGone(worker) {
      relay.removeWorker(worker);
      metrics.removeWorker(worker);
    },
  });
  const others = (worker: WorkerProcess): WorkerProcess[] => pool.ready.filter((each) => each !== worker);

  function answer(worker: WorkerProcess): void {
    const { channel } = worker;
    channel.on("controlChanged", async () => {
      const told = others(worker).map((each) => each.channel.request("controlChanged", undefined).catch(() => {}));
      await Promise.race([Promise.all(told), new Promise((done) => setTimeout(done, changeTimeoutMs).unref())]);
    });
    channel.on("lock", (name) => locks.take(name, worker));
    channel.on("unlock", (name) => locks.release(name, worker));
    channel.on("restartEngine", (starts) => engine?.restart(starts));
    channel.on("othersVisible", (organizationId) =>
      pool.whenOthersVisible(worker, organizationId, AbortSignal.timeout(visibleTimeoutMs)),
    );
    channel.on("circuit", (report) => {
      circuits.report(report.target, report.change);
      for (const each of others(worker)) each.channel.notify("circuit", report);
    });
    channel.on("failedKey", (client) => {
      for (const each of others(worker)) each.channel.notify("failedKey", client);
    });
    channel.on("exchangeLimits", (request) => limits.exchangeNow(request));
    channel.on("scrape", () => metrics.scrape());
  }

  // If the start fails.
  closeAtEnd(pool);
  const { control, firstStart } = await openOwnDatabase(options, http);
  await control.close();
  const folders = Array.from({ length: count }, (_, index) => folderOf(index + 1));
  await prepareFolders(options, folders as [string, ...string[]]);
  const { telemetry, otlp, server, storage } = config;
  if (telemetry.enabled && telemetry.clickhouse.url === undefined) {
    engine = closeAtEnd(
      startSharedEngine({
        paths: await embeddedPaths(resolve(storage.data_dir)),
        memoryBytes: telemetry.embedded_memory_bytes,
        logger,
        onChange(state) {
          for (const { channel } of pool.ordered) channel.notify("engine", state);
        },
      }),
    );
  }
  if (otlp.grpc_port !== undefined && takes(server.role, "telemetry_write"))
    ports.grpc = closeAtEnd(await bindRelayedPort({ host: server.host, port: otlp.grpc_port }));
  await pool.start();
  // Closed first: no new connections, then the workers, then what they need.
  closeAtEnd(pool);
  for (const [name, port] of Object.entries(ports) as [PortName, RelayedPort][]) {
    relay.addPort(name, port);
    closeAtEnd(port);
  }
  starting.defer(async () => relay.close());
  starting.defer(async () => {
    const { shutdown_delay_ms: delayMs } = config.server;
    if (delayMs === 0) return;
    // The workers tell their clients to leave, and still get connections.
    void pool.close();
    await delay(delayMs);
  });
  const parts = starting.move();
  const url = reachableUrl(http);
  logger.info({ pids: pool.ready.map(({ pid }) => pid) }, "the workers accept connections");
  return {
    url,
    host: http.host,
    port: http.port,
    grpcPort: ports.grpc?.port,
    firstStart,
    async reload(next) {
      await pool.reload(next);
      logger.setLevel(next.server.log_level);
    },
    overview: () => pool.ask(({ channel }) => channel.request("overview", undefined), soon()),
    prepareConsole: () => pool.ask(({ channel }) => channel.request("prepareConsole", undefined), soon()),
    whenTelemetryReady: (signal) => pool.ask(({ channel }) => channel.request("telemetryReady", undefined), signal),
    async lookForModels() {
      await Promise.all(pool.ready.map(({ channel }) => channel.request("lookForModels", undefined).catch(() => {})));
    },
    close: () => parts.disposeAsync(),
  };
}

function soon(): AbortSignal {
  return AbortSignal.timeout(answerTimeoutMs);
}

function addressesOf({ http, grpc }: { readonly http: RelayedPort; readonly grpc?: RelayedPort }) {
  const address = ({ host, port }: RelayedPort) => ({ host, port });
  return { http: address(http), ...(grpc === undefined ? {} : { grpc: address(grpc) }) };
}

/** What the server has once, as a worker sees it: behind its channel to the primary. */
import { join, resolve } from "node:path";
import { HandedOverPort } from "../http/handed-over-port.ts";
import type { ProcessSharing, ServerParts } from "../server-parts.ts";
import { circuitKey } from "../routing/circuit-exchange.ts";
import type { StoreSharing } from "../store/store-sharing.ts";
import { openControlDatabase, type ControlDatabase } from "../tenancy/control-database.ts";
import type { Channel } from "./channel.ts";
import type { EngineState, StartOrder, ToPrimary, ToWorker } from "./protocol.ts";
import { folderOf } from "./worker-folder.ts";

export type PrimaryChannel = Channel<ToPrimary, ToWorker>;

/** @throws AppError if the control database cannot be opened */
export async function openWorkerParts(
  channel: PrimaryChannel,
  { config, ports, ...order }: StartOrder,
): Promise<ServerParts> {
  const dataDirectory = resolve(config.storage.data_dir);
  const bound = new HandedOverPort(ports.http);
  let grpc: Parameters<ServerParts["listenGrpc"]>[0] | undefined;
  channel.on("connection", ({ id, port }, socket) => {
    // There is none if its client has left meanwhile.
    if (socket !== undefined) {
      if (port === "http") bound.take(socket);
      else grpc?.accept(socket);
    }
    channel.notify("taken", id);
  });
  // Listens before anything else waits, so that no message is missed.
  const sharing = shareProcesses(channel, { ...order, config, ports });
  const database = await openControlDatabase({ url: config.storage.database_url, dataDirectory, isMigrated: true });
  return {
    bound,
    control: shareControl(channel, database),
    firstStart: undefined,
    uploads: join(dataDirectory, "uploads", folderOf(order.number)),
    async listenGrpc(server) {
      grpc = server;
      return ports.grpc!.port;
    },
    sharing,
    close: () => database.close(),
  };
}

/** Tells the other workers of changes, and lets one worker have a lock. */
function shareControl(channel: PrimaryChannel, database: ControlDatabase): ControlDatabase {
  const listeners: (() => void)[] = [];
  channel.on("controlChanged", () => {
    for (const listener of listeners) listener();
  });
  return {
    ...database,
    async change(run) {
      try {
        return await database.change(run);
      } finally {
        // What is revoked is refused by all workers when the caller has the response.
        await channel.request("controlChanged", undefined);
      }
    },
    onChange(listener) {
      listeners.push(listener);
      database.onChange(listener);
    },
    // Postgres has locks over all servers.
    tryLock: (name) => (database.kind === "sqlite" ? tryProcessLock(channel, name) : database.tryLock(name)),
  };
}

async function tryProcessLock(channel: PrimaryChannel, name: string) {
  if (!(await channel.request("lock", name))) return undefined;
  // Without its primary, this process ends as well.
  const { signal: lost } = new AbortController();
  return { lost, release: async () => channel.notify("unlock", name) };
}

function shareProcesses(channel: PrimaryChannel, order: StartOrder): ProcessSharing {
  const startMs = performance.now();
  const open = new Map(order.openCircuits.map(({ target, forMs }) => [circuitKey(target), forMs]));
  return {
    number: order.number,
    store: shareStore(channel, order),
    circuits: {
      report: (target, change) => channel.notify("circuit", { target, change }),
      listen: (listener) => channel.on("circuit", ({ target, change }) => listener(target, change)),
      openForMs(target) {
        const forMs = open.get(circuitKey(target));
        return forMs === undefined ? undefined : forMs + performance.now() - startMs;
      },
    },
    failedKeys: {
      report: (client) => channel.notify("failedKey", client),
      listen: (listener) => channel.on("failedKey", listener),
    },
    limits: { exchange: (request) => channel.request("exchangeLimits", request), close: async () => {} },
    scrape: () => channel.request("scrape", undefined),
    answerScrapes: (snapshot) => channel.on("snapshot", snapshot),
  };
}

function shareStore(channel: PrimaryChannel, { engine, number, count }: StartOrder): StoreSharing {
  let state = engine;
  let follow = (_state: EngineState): void => {};
  channel.on("engine", (next) => {
    state = next;
    follow(next);
  });
  return {
    processes: count,
    journalFolder: folderOf(number),
    followEngine({ onStart, onEnd }) {
      follow = ({ down }) => (down === undefined ? onStart() : onEnd(down.reason, down.isFinal));
      if (state !== undefined) follow(state);
      return {
        pid: undefined,
        restart: () => state !== undefined && channel.notify("restartEngine", state.starts),
        // It ends after all workers.
        close: async () => {},
      };
    },
    whenOthersVisible: (organizationId) => channel.request("othersVisible", organizationId),
    answerOthers: (whenVisible) => channel.on("visible", whenVisible),
  };
}

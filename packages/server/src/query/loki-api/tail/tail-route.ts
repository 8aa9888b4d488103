/** Serves Loki's endpoint for following log entries over a WebSocket. */
import { Amounts } from "../../../amounts.ts";
import { sleep } from "../../../abort.ts";
import { lokiTail } from "../../../api/loki.ts";
import { AppError } from "../../../errors.ts";
import { route, type Route, type RouteOptions, type ServeSocket, type SocketInput } from "../../../http/route.ts";
import { inputLimit } from "../../../input-limits.ts";
import { queryLogqlRange } from "@sounding/logql/engine";
import type { LogQuery } from "@sounding/logql/syntax/ast";
import { CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { Store } from "../../../store/store.ts";
import { createTenantLogs } from "../../logs/logql-storage/tenant-logs.ts";
import { categorizesLabels, lokiCall, readLogQuery } from "../loki-call.ts";
import { LokiParameters } from "../loki-parameters.ts";
import { tailLogs, type ReadEntries, type TailOptions } from "./tail-logs.ts";

const maximumTails = inputLimit({
  area: "LogQL",
  bounds: "Concurrent tails of an organization",
  value: 10,
  error: "rate_limited",
});
const maximumEntries = 5000;
const maximumDelaySeconds = 5;

export function tailRoute(store: Pick<Store, "open">, options: RouteOptions): Route {
  const tails = new OrganizationTails();
  return route<never>(
    lokiTail,
    () => {
      throw new AppError(
        "invalid_request",
        'This endpoint needs a WebSocket: send the headers "Connection: Upgrade" and "Upgrade: websocket", as WebSocket clients do.',
      );
    },
    { ...options, upgrade: (input) => prepareTail(store, input, tails) },
  );
}

/** How many tails each organization has. */
class OrganizationTails {
  readonly #counts = new Amounts();

  /** @throws AppError rate_limited */
  check(organizationId: string): void {
    const count = this.#counts.of(organizationId);
    if (count < maximumTails) return;
    throw new AppError(
      "rate_limited",
      `This organization has ${count} concurrent tails, which is the limit. Close one first.`,
    );
  }

  add(organizationId: string): Disposable {
    this.check(organizationId);
    this.#counts.add(organizationId, 1);
    return { [Symbol.dispose]: () => this.#counts.remove(organizationId, 1) };
  }
}

async function prepareTail(
  store: Pick<Store, "open">,
  input: SocketInput,
  tails: OrganizationTails,
): Promise<ServeSocket> {
  const { scope, signal } = input;
  tails.check(scope.organizationId);
  const parameters = new LokiParameters(input.query, "");
  const query = await parseQuery(store, input, parameters);
  const now = (): bigint => BigInt(Date.now()) * 1_000_000n;
  const delaySeconds = parameters.count("delay_for", 0, { least: 0, most: maximumDelaySeconds });
  const options: TailOptions = {
    startUnixNano: startOf(parameters, now()),
    limit: parameters.count("limit", 100, { most: maximumEntries }),
    delayNanos: BigInt(delaySeconds) * 1_000_000_000n,
    categorizesLabels: categorizesLabels(input.headers),
    now,
    wait: async (ms) => {
      await sleep(ms, signal);
      signal.throwIfAborted();
    },
  };
  return async (socket) => {
    using _tail = tails.add(scope.organizationId);
    await tailLogs(reader(store, input, { query, options }), socket, options);
  };
}

/** At most now: a client's clock may be ahead. */
function startOf(parameters: LokiParameters, nowUnixNano: bigint): bigint {
  const startUnixNano = parameters.timeUnixNano("start");
  if (startUnixNano !== undefined && startUnixNano > nowUnixNano) return nowUnixNano;
  return parameters.range(nowUnixNano).fromUnixNano;
}

async function parseQuery(
  store: Pick<Store, "open">,
  input: SocketInput,
  parameters: LokiParameters,
): Promise<LogQuery> {
  const memory = input.openMemory();
  try {
    return await readLogQuery(lokiCall(store, parameters, { ...input, memory }));
  } finally {
    memory.release();
  }
}

/** Each read has its own time limit and its own charge. */
function reader(
  store: Pick<Store, "open">,
  { openMemory, scope, signal }: SocketInput,
  { options, query }: { readonly query: LogQuery; readonly options: TailOptions },
): ReadEntries {
  const logs = createTenantLogs({ reader: store.open(scope), project: scope.namedProject });
  return async ({ fromUnixNano, toUnixNano }, limit) => {
    const memory = openMemory();
    try {
      const { value } = await queryLogqlRange(logs, {
        query,
        startUnixNano: fromUnixNano,
        endUnixNano: toUnixNano,
        stepMs: 1000,
        direction: "backward",
        limit,
        categorizesLabels: options.categorizesLabels,
        signal,
        memory,
        yielder: new CooperativeYield(),
      });
      const streams = value.type === "streams" ? value.streams : [];
      return streams
        .flatMap(({ entries, labels }) => entries.map((entry) => ({ ...entry, labels })).reverse())
        .sort((left, right) => (left.unixNano < right.unixNano ? -1 : left.unixNano > right.unixNano ? 1 : 0));
    } finally {
      memory.release();
    }
  };
}

/** The operations that read telemetry, and who serves them. */
import { queryLogs, queryTraces } from "../api/observability.ts";
import { AppError } from "../errors.ts";
import { incrementalJson } from "../http/incremental-json.ts";
import { route, type Route, type RouteInput } from "../http/route.ts";
import type { Store, TenantReader } from "../store/store.ts";
import type { Scope } from "../tenant.ts";
import { searchLogs } from "./logs/search-logs.ts";
import { projectOf } from "./project-filter.ts";
import { timeRange } from "./time-window.ts";
import type { TracePresets } from "./traces/trace-presets.ts";
import { findTrace, searchTraces } from "./traces/search-traces.ts";

interface QueryParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly tracePresets: TracePresets;
}

const defaults = { logs: { window: "24h", limit: 500 }, traces: { window: "1h", limit: 100 } } as const;

export function queryRoutes({ store, tracePresets }: QueryParts): Route[] {
  return [
    route(queryLogs, async ({ body, scope, signal, memory }) => {
      const nowUnixNano = now();
      const search = {
        project: projectOf(scope, body),
        severity: body.severity ?? undefined,
        range: timeRange(body.time_window ?? defaults.logs.window, nowUnixNano),
        nowUnixNano,
        limit: body.limit ?? defaults.logs.limit,
        signal,
      };
      return incrementalJson(await searchLogs(openReader(store, scope, memory), search));
    }),
    route(queryTraces, async ({ body, scope, signal, memory }) => {
      const nowUnixNano = now();
      const project = projectOf(scope, body);
      const preset = tracePresets.find(body.trace);
      const detail = body.detail ?? true;
      const range = timeRange(body.time_window ?? defaults.traces.window, nowUnixNano);
      if (body.trace_id != null) {
        const lookup = {
          project,
          traceId: body.trace_id.toLowerCase(),
          range: body.time_window == null ? undefined : range,
          detail,
          signal,
        };
        return incrementalJson(await findTrace(openReader(store, scope, memory), lookup));
      }
      const limit = body.limit ?? defaults.traces.limit;
      const search = { project, preset, range, nowUnixNano, limit, detail, signal };
      return incrementalJson(await searchTraces(openReader(store, scope, memory), search));
    }),
  ];
}

/**
 * A reader that charges what it reads to the request.
 * @throws AppError overloaded while the store cannot answer
 */
function openReader(store: QueryParts["store"], scope: Scope, memory: RouteInput<never>["memory"]): TenantReader {
  const reader = store.open(scope);
  if (store.state().ready) {
    return {
      memory: reader.memory,
      query: (statement, options) => reader.query(statement, { ...options, memory }),
      stream: (statement, options) => reader.stream(statement, { ...options, memory }),
      columns: (statement, options) => reader.columns(statement, { ...options, memory }),
    };
  }
  throw new AppError("overloaded", "The telemetry store is not ready; try again in a moment.");
}

function now(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

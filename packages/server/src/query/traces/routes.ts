/** Serves trace queries. */
import { queryTraces } from "../../api/observability.ts";
import type { TokenPrices } from "../../config/metric-presets.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, timeRange } from "../time-window.ts";
import { modelCosts } from "./model-cost.ts";
import { findTrace, searchTraces } from "./search-traces.ts";
import type { TracePresets } from "./trace-presets.ts";

interface TraceParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly tracePresets: TracePresets;
  readonly tokenPrices: TokenPrices;
}

const defaultWindow = "1h";
const defaultLimit = 100;

export function traceRoutes({ store, tracePresets, tokenPrices }: TraceParts): Route[] {
  const costOf = modelCosts(tokenPrices);
  return [
    route(queryTraces, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const project = projectOf(scope, body);
      const preset = tracePresets.find(body.trace);
      const detail = body.detail ?? true;
      const range = timeRange(body.time_window ?? defaultWindow, now);
      const reader = openReader(store, { scope, memory });
      if (body.trace_id != null) {
        const lookup = {
          project,
          traceId: body.trace_id.toLowerCase(),
          range: body.time_window == null ? undefined : range,
          detail,
          costOf,
          signal,
        };
        return incrementalJson(await findTrace(reader, lookup));
      }
      const limit = body.limit ?? defaultLimit;
      const search = { project, preset, range, nowUnixNano: now, limit, detail, costOf, signal };
      return incrementalJson(await searchTraces(reader, search));
    }),
  ];
}

/** Serves log queries. */
import { queryLogs } from "../../api/observability.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, timeRange } from "../time-window.ts";
import { searchLogs } from "./search-logs.ts";

const defaultWindow = "24h";
const defaultLimit = 500;

export function logRoutes(store: Pick<Store, "open" | "state">): Route[] {
  return [
    route(queryLogs, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const search = {
        project: projectOf(scope, body),
        severity: body.severity ?? undefined,
        range: timeRange(body.time_window ?? defaultWindow, now),
        nowUnixNano: now,
        limit: body.limit ?? defaultLimit,
        signal,
      };
      return incrementalJson(await searchLogs(openReader(store, { scope, memory }), search));
    }),
  ];
}

/** Serves log queries. */
import { queryLogs, type LogsQuery } from "../../api/observability-logs.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { attributeTexts } from "../attribute-condition.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, requestedRange } from "../time-window.ts";
import type { LogFilter } from "./log-filter.ts";
import { decodeCursor } from "./log-position.ts";
import { searchLogs } from "./search-logs.ts";

const defaultWindow = "24h";
const defaultLimit = 500;

export function logRoutes(store: Pick<Store, "open" | "state">): Route[] {
  return [
    route(queryLogs, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const { cursor } = body;
      const search = {
        filter: filterOf(body, projectOf(scope, body)),
        range: requestedRange(body, { defaultWindow, nowUnixNano: now }),
        nowUnixNano: now,
        limit: body.limit ?? defaultLimit,
        page: cursor == null ? undefined : cursor === "" ? ("first" as const) : decodeCursor(cursor),
        detail: body.detail ?? false,
        signal,
      };
      return incrementalJson(await searchLogs(openReader(store, { scope, memory }), search));
    }),
  ];
}

function filterOf(body: LogsQuery, project: string | undefined): LogFilter {
  return {
    project,
    severity: body.severity ?? undefined,
    minSeverity: body.min_severity ?? undefined,
    search: body.search ?? undefined,
    service: body.service_name ?? undefined,
    traceId: body.trace_id?.toLowerCase(),
    spanId: body.span_id?.toLowerCase(),
    attributes: attributeTexts(body.attributes),
  };
}

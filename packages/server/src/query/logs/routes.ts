/** Serves log queries and histograms. */
import { queryLogHistogram, type LogHistogramQuery } from "../../api/observability-log-histogram.ts";
import { queryLogs, type LogsQuery } from "../../api/observability-logs.ts";
import { AppError } from "../../errors.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { Store } from "../../store/store.ts";
import { attributeTexts, searchWarnings } from "../attribute-condition.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { nowUnixNano, requestedRange } from "../time-window.ts";
import type { LogFilter } from "./log-filter.ts";
import { countEntries } from "./count-entries.ts";
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
        direction: body.direction ?? "backward",
        limit: body.limit ?? defaultLimit,
        page: cursor == null ? undefined : cursor === "" ? ("first" as const) : decodeCursor(cursor),
        detail: body.detail ?? false,
        ids: idsOf(body),
        signal,
      };
      const reader = openReader(store, { scope, memory });
      const filtered = [...Object.keys(body.attributes ?? {}), ...Object.keys(body.exclude_attributes ?? {})];
      return incrementalJson({
        ...(await searchLogs(reader, search)),
        ...searchWarnings(reader, body.search, filtered),
      });
    }),
    route(queryLogHistogram, async ({ body, scope, signal, memory }) => {
      const now = nowUnixNano();
      const request = {
        filter: filterOf(body, projectOf(scope, body)),
        range: requestedRange(body, { defaultWindow, nowUnixNano: now }),
        nowUnixNano: now,
        step: body.step ?? undefined,
        signal,
      };
      return incrementalJson(await countEntries(openReader(store, { scope, memory }), request));
    }),
  ];
}

/** @throws AppError invalid_request if IDs are requested without the element that has them */
function idsOf({ detail, ids }: LogsQuery): boolean {
  if (ids === true && detail !== true) {
    throw new AppError("invalid_request", "ids is true, and detail is not; set detail to true as well.", {
      param: "ids",
    });
  }
  return ids ?? false;
}

function filterOf(body: LogHistogramQuery, project: string | undefined): LogFilter {
  const excluded = Object.entries(body.exclude_attributes ?? {});
  return {
    project,
    severity: body.severity ?? undefined,
    severities: body.severities ?? undefined,
    minSeverity: body.min_severity ?? undefined,
    search: body.search ?? undefined,
    service: body.service_name ?? undefined,
    traceId: body.trace_id?.toLowerCase(),
    spanId: body.span_id?.toLowerCase(),
    attributes: attributeTexts(body.attributes),
    exclude: {
      severities: body.exclude_severities ?? undefined,
      services: body.exclude_services ?? undefined,
      projects: body.exclude_projects ?? undefined,
      attributes: new Map(excluded.map(([name, values]) => [name, values.map(String)])),
    },
  };
}

/** Routes of Loki's HTTP API. The key determines the organization and, if it is bound to one, the project. */
import { lokiOperations, lokiReady, type LokiEndpoint } from "../../api/loki.ts";
import { AppError } from "../../errors.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type ErrorWriter, type Route, type RouteInput } from "../../http/route.ts";
import { inputLimit } from "../../input-limits.ts";
import { queryLogqlInstant, queryLogqlRange } from "@sounding/logql/engine";
import { formatLogql } from "@sounding/logql/syntax/format";
import { defaultLimits } from "@sounding/logql/evaluate/limits";
import { parseLogqlQuery } from "@sounding/logql/syntax/parse-query";
import type { Store } from "../../store/store.ts";
import { serveDetectedFields, serveDetectedFieldValues } from "./fields/field-endpoints.ts";
import { categorizesLabels, lokiCall, type LokiCall } from "./loki-call.ts";
import { LokiParameters } from "./loki-parameters.ts";
import { servePatterns } from "./patterns/pattern-endpoint.ts";
import { queryJson } from "./result-json.ts";
import {
  serveDetectedLabels,
  serveIndexStats,
  serveLabels,
  serveLabelValues,
  serveSeries,
} from "./stream-endpoints.ts";
import { tailRoute } from "./tail/tail-route.ts";
import { serveVolume, serveVolumeRange } from "./volume.ts";

interface LokiParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly version: string;
}

/** Large enough for the form of a percent-encoded query of the longest kind. */
const maximumFormBytes = inputLimit({
  area: "LogQL",
  bounds: "Form of a request to Loki's HTTP API",
  value: 524_288,
  unit: "bytes",
  error: "payload_too_large",
});
/** Clients decide by it which features they may use. */
const lokiVersion = "3.5.0";
const defaultEntries = 100;

export function lokiRoutes({ store, version }: LokiParts): Route[] {
  const servers: Readonly<Record<LokiEndpoint, (call: LokiCall) => Promise<unknown>>> = {
    query: serveInstant,
    queryRange: serveRange,
    labels: serveLabels,
    label: serveLabels,
    labelValues: serveLabelValues,
    series: serveSeries,
    indexStats: serveIndexStats,
    volume: serveVolume,
    volumeRange: serveVolumeRange,
    patterns: servePatterns,
    detectedLabels: serveDetectedLabels,
    detectedFields: serveDetectedFields,
    detectedFieldValues: serveDetectedFieldValues,
    drilldownLimits: async () => drilldownLimits,
    formatQuery: async ({ budget, parameters }) => ({
      status: "success",
      data: formatLogql(await parseLogqlQuery(parameters.required("query"), budget)),
    }),
    buildInfo: async () => ({
      version: lokiVersion,
      revision: `Sounding ${version}`,
      branch: "",
      buildUser: "",
      buildDate: "",
      goVersion: "",
    }),
    rules: async () => ({}),
  };
  const endpoints = Object.entries(lokiOperations).flatMap(([endpoint, operations]) =>
    operations.map((operation) =>
      route(
        operation,
        async (input: RouteInput<never>) => {
          const parameters = new LokiParameters(input.query, input.bytes.toString("utf8"));
          return incrementalJson(await servers[endpoint as LokiEndpoint](lokiCall(store, parameters, input)));
        },
        { ...errorForm, bodyLimitBytes: maximumFormBytes },
      ),
    ),
  );
  const ready = route(
    lokiReady,
    () => {
      if (!store.state().ready) throw new AppError("overloaded", "The telemetry store is not ready. Retry later.");
      return { kind: "text", text: "ready\n", type: "text/plain" };
    },
    errorForm,
  );
  return [...endpoints, tailRoute(store, errorForm), ready];
}

/** What Grafana's Logs Drilldown adapts its queries and its pages to. */
const drilldownLimits = {
  limits: {
    discover_log_levels: true,
    discover_service_name: ["service_name"],
    log_level_fields: ["level"],
    max_entries_limit_per_query: defaultLimits.maxEntriesReturned,
    max_line_size_truncate: false,
    max_query_bytes_read: "0B",
    max_query_length: "0s",
    max_query_lookback: "0s",
    max_query_range: "0s",
    max_query_series: defaultLimits.maxSeries,
    metric_aggregation_enabled: false,
    pattern_persistence_enabled: false,
    query_timeout: `${defaultLimits.timeoutMs / 1000}s`,
    retention_period: "0s",
    volume_enabled: true,
    volume_max_series: 1000,
  },
  pattern_ingester_enabled: true,
  version: lokiVersion,
} as const;

async function serveInstant({
  headers,
  logs,
  memory,
  nowUnixNano,
  parameters,
  signal,
  yielder,
}: LokiCall): Promise<unknown> {
  const timeUnixNano = parameters.timeUnixNano("time") ?? nowUnixNano;
  // Metric queries need neither, but Loki refuses invalid values here, too.
  parameters.direction();
  parameters.count("limit", defaultEntries);
  const query = parameters.required("query");
  const result = await queryLogqlInstant(logs, { query, timeUnixNano, signal, memory, yielder });
  return queryJson(result, { categorizesLabels: categorizesLabels(headers), timeUnixNano });
}

async function serveRange({
  headers,
  logs,
  memory,
  nowUnixNano,
  parameters,
  signal,
  yielder,
}: LokiCall): Promise<unknown> {
  const range = parameters.range(nowUnixNano);
  const categorizes = categorizesLabels(headers);
  const result = await queryLogqlRange(logs, {
    query: parameters.required("query"),
    startUnixNano: range.fromUnixNano,
    endUnixNano: range.toUnixNano,
    stepMs: parameters.stepMs(range),
    intervalMs: parameters.intervalMs(),
    direction: parameters.direction(),
    limit: parameters.count("limit", defaultEntries),
    categorizesLabels: categorizes,
    signal,
    memory,
    yielder,
  });
  return queryJson(result, { categorizesLabels: categorizes, timeUnixNano: range.toUnixNano });
}

const writeError: ErrorWriter = (error: AppError) => ({
  bytes: Buffer.from(JSON.stringify({ status: "error", code: error.status, message: error.message })),
  type: "application/json",
});

const errorForm = { writeError, errorsUnder: "/loki" } as const;

/** Routes of OTLP/HTTP. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import { exportLogs, exportMetrics, exportTraces } from "../../api/otlp.ts";
import type { Operation } from "../../api/operation.ts";
import { type ErrorWriter, route, type Route } from "../../http/route.ts";
import type { MemoryBudget } from "../../memory-budget.ts";
import { encodingOf, mediaTypes, writeExportResult, writeStatus } from "./export-result.ts";
import type { Ingest } from "./ingest.ts";
import { logSignal, metricSignal, type Signal, traceSignal } from "./signals.ts";

export function otlpRoutes(ingest: Ingest, limits: BodyLimits): Route[] {
  const serve = (operation: Operation<never>, signal: Signal): Route =>
    route(
      operation,
      async ({ bytes, headers, scope, note }) => {
        const encoding = encodingOf(headers["content-type"] as string);
        const outcome = await ingest({ scope, signal, encoding, bytes });
        note({ accepted: outcome.accepted, ...(outcome.rejected === 0 ? {} : { rejected: outcome.rejected }) });
        return { kind: "bytes", bytes: writeExportResult(outcome, signal, encoding), type: mediaTypes[encoding] };
      },
      { ...limits, writeError },
    );
  return [serve(exportTraces, traceSignal), serve(exportLogs, logSignal), serve(exportMetrics, metricSignal)];
}

/** Limits of request bodies, for HTTP and gRPC. */
export interface BodyLimits {
  /** Largest body, after decompression. */
  readonly bodyLimitBytes: number;
  readonly memory: MemoryBudget;
}

const writeError: ErrorWriter = (error, { contentType }) => {
  const encoding = encodingOf(contentType);
  return { bytes: writeStatus(error, encoding), type: mediaTypes[encoding] };
};

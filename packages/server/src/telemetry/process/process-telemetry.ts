/**
 * Exports telemetry about the server process for its operator: a span and a duration for each HTTP request, sent by
 * OpenTelemetry's SDK as configured by its standard variables (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 * It contains operations and statuses but nothing that callers sent; tenants' telemetry goes to the store.
 * docs/adr/0020-telemetry-ingest-and-journal.md
 */
import { operations } from "../../api/index.ts";
import type { Logger } from "../../logger.ts";

/** The data of a finished HTTP request. */
interface FinishedRequest {
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly outcome: string;
}

export interface ProcessTelemetry {
  /** Must not throw. */
  observeRequest(request: FinishedRequest): void;
  /** Exports what is buffered. */
  close(): Promise<void>;
}

const firstServerStatus = 500;
/** As the semantic conventions advise. https://opentelemetry.io/docs/specs/semconv/http/http-metrics/ */
const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const routes = new Map(operations.map(({ id, path }) => [id, path.replace("{+", "{")]));

/** Loads the SDK, which costs some tens of megabytes, and starts it. */
export async function startProcessTelemetry({
  version,
  logger,
}: {
  readonly version: string;
  readonly logger: Logger;
}): Promise<ProcessTelemetry> {
  const [{ metrics, SpanKind, SpanStatusCode, trace }, { resourceFromAttributes }, { NodeSDK }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/resources"),
    import("@opentelemetry/sdk-node"),
  ]);
  // As a resource and not as `serviceName`, so that OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count more.
  const resource = resourceFromAttributes({ "service.name": "sounding", "service.version": version });
  const sdk = new NodeSDK({ resource, instrumentations: [] });
  sdk.start();
  const tracer = trace.getTracer("sounding", version);
  const durations = metrics.getMeter("sounding", version).createHistogram("http.server.request.duration", {
    unit: "s",
    description: "Duration of HTTP server requests.",
    advice: { explicitBucketBoundaries: secondsBuckets },
  });
  return {
    observeRequest({ operation, method, status, durationMs, outcome }) {
      const route = routes.get(operation);
      const attributes = {
        "http.request.method": method,
        "http.response.status_code": status,
        ...(route === undefined ? {} : { "http.route": route }),
        ...(outcome === "ok" ? {} : { "error.type": outcome }),
      };
      durations.record(durationMs / 1000, attributes);
      const endTime = Date.now();
      const name = route === undefined ? method : `${method} ${route}`;
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: endTime - durationMs, attributes });
      if (status >= firstServerStatus) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    },
    async close() {
      // Where they cannot be delivered they are lost; the server ends all the same.
      await sdk.shutdown().catch((error: unknown) => logger.warn({ error }, "process telemetry could not be sent"));
    },
  };
}

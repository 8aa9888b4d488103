/**
 * The operations that receive OpenTelemetry data: OTLP over HTTP. https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
import { type Operation, operation } from "./operation.ts";

const types = ["application/x-protobuf", "application/json"];

function exportOperation(signal: "Traces" | "Logs" | "Metrics", items: string): Operation<never> {
  const message = `Export${signal === "Traces" ? "Trace" : signal}Service`;
  return operation({
    id: `export${signal}`,
    method: "POST",
    path: `/v1/${signal.toLowerCase()}`,
    tag: "Telemetry",
    summary: `Receive ${items} from an OpenTelemetry SDK or Collector`,
    description: `OTLP/HTTP with protobuf or JSON, plain or gzip; the response has the request's content type. The response is sent once the ${items} are stored durably. Invalid items are rejected individually and counted in \`partial_success\`.`,
    permission: "telemetry_write",
    rawBody: { types, description: `OTLP's ${message}Request.` },
    answer: { type: types[0]!, description: `OTLP's ${message}Response, in the request's content type.` },
    errors: { types, description: "google.rpc.Status, in the request's content type." },
  });
}

export const exportTraces = exportOperation("Traces", "spans");
export const exportLogs = exportOperation("Logs", "log records");
export const exportMetrics = exportOperation("Metrics", "metrics");

/**
 * Decides whether OpenTelemetry's SDK observes the process itself. The SDK reads its own variables; it is enabled if
 * one of them sets an endpoint.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
const endpointNames = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
];

export function wantsProcessTelemetry(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  if (env["OTEL_SDK_DISABLED"]?.trim().toLowerCase() === "true") return false;
  return endpointNames.some((name) => (env[name] ?? "").trim() !== "");
}

/**
 * Whether the process itself is to be observed with OpenTelemetry's SDK. The SDK reads its own variables; that there is
 * somewhere to send to is what switches it on.
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

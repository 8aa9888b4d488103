/** The operation that receives metrics by Prometheus' remote write. https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/ */
import { operation } from "./operation.ts";

const protobuf = "application/x-protobuf";

export const remoteWrite = operation<never, unknown>({
  id: "prometheusRemoteWrite",
  method: "POST",
  path: "/prometheus/api/v1/write",
  tag: "Telemetry",
  summary: "Receive metrics from Prometheus and other senders of its remote write protocol",
  description:
    "Versions 1.0 and 2.0, by the content type's `proto`. The response is sent once the samples are stored durably, and its headers `X-Prometheus-Remote-Write-*-Written` count them. If some samples are rejected, the others are stored, and the response is 400 with the reasons.",
  permission: "telemetry_write",
  rawBody: {
    types: [protobuf],
    description: "`prometheus.WriteRequest` or `io.prometheus.write.v2.Request`, compressed by Snappy.",
    snappyTypes: [protobuf],
  },
  answer: { status: 204, type: "application/json", description: "Every sample is stored." },
  errors: {
    types: ["application/json"],
    description: "An error in Prometheus' format: `status` is `error`, with `errorType` and `error`.",
  },
});

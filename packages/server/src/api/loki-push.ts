/** The operation that receives log streams by Loki's push API. https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs */
import { operation } from "./operation.ts";

const protobuf = "application/x-protobuf";

export const lokiPush = operation<never, unknown>({
  id: "lokiPush",
  method: "POST",
  path: "/loki/api/v1/push",
  tag: "Telemetry",
  summary: "Receive log streams from Promtail, Grafana Alloy, Fluent Bit and other clients of Loki",
  description:
    "The response is sent once the entries are stored durably. If some entries are rejected, the others are stored, and the response is 400 with the reasons. The label `service_name` names the service, `project_name` the project, and `level` the severity.",
  permission: "telemetry_write",
  rawBody: {
    types: ["application/json", protobuf],
    description: "Streams as JSON, plain or gzip; or Loki's PushRequest in protobuf, compressed by Snappy.",
    snappyTypes: [protobuf],
  },
  answer: { status: 204, type: "application/json", description: "Every entry is stored." },
  errors: { types: ["application/json"], description: "An error: `message` and `status`, which is `error`." },
});

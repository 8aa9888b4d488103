/** Limits and ports for OpenTelemetry data: `otlp` of the configuration file. */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { bytes } from "./setting-types.ts";

export const otlp = Type.Object(
  {
    max_body_bytes: bytes(
      67_108_864,
      "Largest export request, after decompression; a larger one is a 413.",
      limitsInput("OpenTelemetry data", "payload_too_large"),
    ),
    max_pending_body_bytes: bytes(
      268_435_456,
      "Total size of request bodies that are being read or decoded. One organization may use half of it; more is a 429 or a 503. At least twice `max_body_bytes`.",
      limitsInput("OpenTelemetry data", "overloaded"),
    ),
    grpc_port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        // Kubernetes sets variables for services whose names end in _PORT to "tcp://…".
        env: "SOUNDING_OTLP_GRPC_LISTEN_PORT",
        description:
          "Additional TCP port for OTLP/gRPC, usually 4317, on the address of `server.host`; 0 lets the system choose one. OTLP/HTTP and OTLP/gRPC are always available on `server.port`.",
      }),
    ),
  },
  { default: {}, description: "How OpenTelemetry data is received." },
);

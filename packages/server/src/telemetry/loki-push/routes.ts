/** The route of Loki's push API. */
import { lokiPush } from "../../api/loki-push.ts";
import { AppError } from "../../errors.ts";
import { parseJson } from "../../http/parse-json.ts";
import { type ErrorWriter, route, type Route } from "../../http/route.ts";
import { inputLimit } from "../../input-limits.ts";
import type { Ingest } from "../otlp/ingest.ts";
import type { BodyLimits } from "../otlp/routes.ts";
import { logSignal } from "../otlp/signals.ts";
import { readJsonPush } from "./read-json-push.ts";
import { readProtobufPush } from "./read-protobuf-push.ts";
import { toOtlp } from "./to-otlp.ts";

const maximumJsonValues = inputLimit({
  area: "OpenTelemetry data",
  bounds: "JSON values and member names in a request to Loki's push API",
  value: 1_000_000,
  error: "payload_too_large",
});

/** @param ingest of OTLP, which stores the entries */
export function lokiPushRoutes(ingest: Ingest, limits: BodyLimits): Route[] {
  return [
    route(
      lokiPush,
      async ({ bytes, headers, memory, note, scope }) => {
        const isJson = /^application\/json\b/i.test(String(headers["content-type"]));
        const streams = isJson
          ? readJsonPush(await parseJson(bytes, { maxValues: maximumJsonValues, charge: memory }))
          : readProtobufPush(bytes);
        const request = await toOtlp(streams, (size) => memory.add(size));
        const { accepted, message, rejected } = await ingest({
          scope,
          signal: logSignal,
          encoding: "protobuf",
          bytes: request,
        });
        note({ accepted, ...(rejected === 0 ? {} : { rejected }) });
        if (message !== undefined) {
          throw new AppError("invalid_request", `${message}. ${accepted} stored; do not send them again.`);
        }
        return { kind: "empty", status: 204 };
      },
      { ...limits, writeError },
    ),
  ];
}

/** Clients show the message. */
const writeError: ErrorWriter = (error) => ({
  bytes: Buffer.from(JSON.stringify({ status: "error", code: error.status, message: error.message })),
  type: "application/json",
});

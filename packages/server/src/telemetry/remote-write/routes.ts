/** The route of Prometheus' remote write. */
import { remoteWrite } from "../../api/remote-write.ts";
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { type ErrorWriter, route, type Route, type RouteResponse } from "../../http/route.ts";
import type { Ingest } from "../otlp/ingest.ts";
import type { BodyLimits } from "../otlp/routes.ts";
import { metricSignal } from "../otlp/signals.ts";
import { maximumExemplarCharacters, toOtlp } from "./to-otlp.ts";
import { readWriteRequest, type Version } from "./write-request.ts";

/** @param ingest of OTLP, which stores the samples */
export function remoteWriteRoutes(ingest: Ingest, limits: BodyLimits): Route[] {
  return [
    route(
      remoteWrite,
      async ({ bytes, headers, memory, note, scope }) => {
        const version = versionOf(String(headers["content-type"]));
        const converted = await toOtlp(readWriteRequest(bytes, version), { limitBytes: limits.bodyLimitBytes, memory });
        const store = (request: Buffer): ReturnType<Ingest> =>
          ingest({ scope, signal: metricSignal, encoding: "protobuf", bytes: request });
        const [floats, histograms] = await Promise.all([store(converted.floats), store(converted.histograms)]);
        const unread = [...converted.rejected.values()].reduce((sum, count) => sum + count, 0);
        const rejected = floats.rejected + histograms.rejected + unread;
        note({ accepted: floats.accepted + histograms.accepted, ...(rejected === 0 ? {} : { rejected }) });
        const messages = [
          ...[...converted.rejected].map(
            ([reason, count]) => `${count} ${count === 1 ? "sample" : "samples"} ${reason}`,
          ),
          ...(converted.rejectedExemplars === 0
            ? []
            : [
                `${converted.rejectedExemplars} exemplars of series with more than ${maximumExemplarCharacters} characters`,
              ]),
          floats.message,
          histograms.message,
        ].filter((message) => message !== undefined);
        const exemplars = floats.exemplars + histograms.exemplars;
        const written = { samples: floats.accepted, histograms: histograms.accepted, exemplars };
        return answer(written, messages);
      },
      { ...limits, writeError },
    ),
  ];
}

/** The names of the messages in the parameter `proto` of the content type. */
const versions: ReadonlyMap<string, Version> = new Map([
  ["", "1.0"],
  ["prometheus.writerequest", "1.0"],
  ["io.prometheus.write.v2.request", "2.0"],
]);

/** @throws AppError unsupported_media_type */
function versionOf(contentType: string): Version {
  const proto = /;\s*proto\s*=\s*"?(?<name>[^";\s]*)/i.exec(contentType)?.groups?.["name"] ?? "";
  const version = versions.get(proto.toLowerCase());
  if (version !== undefined) return version;
  throw new AppError(
    "unsupported_media_type",
    `Content-Type has proto=${showValue(proto)}; expected "prometheus.WriteRequest" or "io.prometheus.write.v2.Request".`,
    { param: "content-type" },
  );
}

interface Written {
  readonly samples: number;
  readonly histograms: number;
  readonly exemplars: number;
}

/** Senders must not repeat a request that is answered with 400: what could be stored is stored. */
function answer({ exemplars, histograms, samples }: Written, problems: readonly string[]): RouteResponse {
  const headers = {
    "x-prometheus-remote-write-samples-written": String(samples),
    "x-prometheus-remote-write-histograms-written": String(histograms),
    "x-prometheus-remote-write-exemplars-written": String(exemplars),
  };
  if (problems.length === 0) return { kind: "empty", status: 204, headers };
  return { kind: "json", status: 400, headers, value: errorOf(`Partly stored. Rejected: ${problems.join("; ")}.`) };
}

function errorOf(error: string): object {
  return { status: "error", errorType: "bad_data", error };
}

const writeError: ErrorWriter = (error) => ({
  bytes: Buffer.from(JSON.stringify(errorOf(error.message))),
  type: "application/json",
});

/** A trace in the JSON of the API, for tests of what the console computes from it. */
import type { TempoTrace } from "../../src/views/trace/tempo-json.ts";

interface SampleSpan {
  /** In hexadecimal digits, without leading zeros. */
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  /** Empty: the resource has no name. */
  readonly service?: string;
  readonly project?: string;
  readonly startNs: number;
  readonly endNs: number;
  readonly failed?: boolean;
}

/** @param start when the earliest span begins, UNIX time in nanoseconds */
export function tempoTrace(spans: readonly SampleSpan[], { start = 1_000_000_000n } = {}): TempoTrace {
  const base64 = (id: string): string => Buffer.from(id.padStart(16, "0"), "hex").toString("base64");
  const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
  return {
    traceID: "4bf92f3577b34da6a3ce929d0e0e4736",
    rootServiceName: "web",
    rootTraceName: "GET /",
    startTimeUnixNano: String(start),
    durationMs: 0,
    summary: { spanCount: spans.length, errorCount: 0, status: "unset", durationNanos: "0", models: [], cost: null },
    batches: spans.map(({ id, parent, name = "", service = "web", project, startNs, endNs, failed = false }) => ({
      resource: {
        attributes: [
          ...(service === "" ? [] : [text("service.name", service)]),
          ...(project === undefined ? [] : [text("project.name", project)]),
        ],
      },
      scopeSpans: [
        {
          scope: {},
          spans: [
            {
              spanId: base64(id),
              ...(parent === undefined ? {} : { parentSpanId: base64(parent) }),
              name,
              startTimeUnixNano: String(start + BigInt(startNs)),
              endTimeUnixNano: String(start + BigInt(endNs)),
              status: failed ? { code: "STATUS_CODE_ERROR" } : {},
            },
          ],
        },
      ],
    })),
  };
}

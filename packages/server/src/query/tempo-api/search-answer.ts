/** The answer of a search, in the JSON of Tempo's messages: 64-bit numbers as strings, zero and empty values omitted. */
import { convertedList, LazyList } from "../../http/incremental-json.ts";
import type { TraceSearchResult } from "@sounding/traceql/engine";
import type { FoundSpan, FoundSpanset, FoundTrace } from "@sounding/traceql/spans/found-trace";
import type { NamedValue } from "@sounding/traceql/spans/spanset";
import { metricsJson } from "./metrics-answer.ts";
import { attributesJson } from "./value-json.ts";

const noRoot = "<root span not yet received>";

export function searchAnswer({ statistics, traces }: TraceSearchResult): unknown {
  return { traces: new LazyList(tracesJson(traces)), metrics: metricsJson(statistics) };
}

function* tracesJson(traces: readonly FoundTrace[]): Generator<object> {
  for (const trace of traces) yield traceJson(trace);
}

function traceJson(trace: FoundTrace): object {
  const [first] = trace.spanSets;
  return {
    traceID: trace.traceId,
    rootServiceName: trace.rootServiceName === "" ? noRoot : trace.rootServiceName,
    ...(trace.rootTraceName === "" ? {} : { rootTraceName: trace.rootTraceName }),
    startTimeUnixNano: String(trace.startUnixNano),
    ...(trace.durationMs === 0 ? {} : { durationMs: trace.durationMs }),
    ...(first === undefined
      ? {}
      : { spanSet: spansetJson(first), spanSets: convertedList(trace.spanSets, spansetJson) }),
    serviceStats: Object.fromEntries(
      [...trace.serviceStats].map(([service, { errors, spans }]) => [
        service,
        { spanCount: spans, ...(errors === 0 ? {} : { errorCount: errors }) },
      ]),
    ),
  };
}

function spansetJson({ attributes, matched, spans }: FoundSpanset): object {
  return { spans: convertedList(spans, spanJson), matched, ...ifAny(attributes) };
}

function spanJson({ attributes, durationNano, name, spanId, startUnixNano }: FoundSpan): object {
  return {
    spanID: spanId,
    ...(name === "" ? {} : { name }),
    startTimeUnixNano: String(startUnixNano),
    ...(durationNano === 0n ? {} : { durationNanos: String(durationNano) }),
    ...ifAny(attributes),
  };
}

function ifAny(attributes: readonly NamedValue[]): object {
  return attributes.length === 0 ? {} : { attributes: attributesJson(attributes) };
}

/** Reads a trace by its ID and returns it as OTLP, in JSON or protobuf, as Tempo does. */
import { AppError } from "../../errors.ts";
import { showValue } from "../../api/validate.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import type { RouteResponse } from "../../http/route.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { message } from "../../protobuf/message-type.ts";
import { traceExport } from "../../protobuf/otlp-messages.ts";
import { CooperativeYield, longStep } from "../../scheduling/cooperative-yield.ts";
import type { TenantReader } from "../../store/store.ts";
import { lookUpResources } from "../resource-lookup.ts";
import type { TimeRange } from "../time-window.ts";
import {
  otlpForm,
  tempoForm,
  toResourceSpans,
  type ResourceSpans,
  type SpanContext,
} from "../traces/resource-spans.ts";
import { readFirstSpans, readSpanDetails, type StoredSpan } from "../traces/spans.ts";
import { locate, locationsCondition } from "../traces/trace-locations.ts";

interface TraceRequest {
  readonly reader: TenantReader;
  readonly project: string | undefined;
  readonly traceId: string;
  /** Undefined finds the trace regardless of its age. */
  readonly range: TimeRange | undefined;
  readonly signal: AbortSignal;
}

export interface FoundTrace {
  readonly spans: readonly StoredSpan[];
  /** Why spans are missing; undefined for a complete trace. */
  readonly missing: string | undefined;
  readonly context: SpanContext;
}

/** 32 lower-case digits, from an ID with or without leading zeros. @throws AppError invalid_request */
export function readTraceId(text: string): string {
  if (/^[\da-f]{1,32}$/i.test(text)) return text.toLowerCase().padStart(32, "0");
  throw new AppError("invalid_request", `The trace ID is ${showValue(text)}; expected up to 32 hex digits.`, {
    param: "id",
  });
}

/** @throws AppError not_found if the organization does not have it in the range */
export async function findTrace(request: TraceRequest): Promise<FoundTrace> {
  const { range, reader, signal, traceId } = request;
  const locations = await locate(reader, [traceId], request);
  const wanted = locations.filter(
    ({ fromUnixNano, toUnixNano }) =>
      range === undefined || (toUnixNano >= range.fromUnixNano && fromUnixNano <= range.toUnixNano),
  );
  if (wanted.length === 0) throw notFound(traceId);
  const { isComplete, limit, spans } = await readFirstSpans(reader, locationsCondition(wanted), { signal });
  if (spans.length === 0) throw notFound(traceId);
  const [descriptions, details] = await Promise.all([
    lookUpResources(reader, spans, { signal }),
    readSpanDetails(reader, spans, signal),
  ]);
  const missing = isComplete ? undefined : `The trace has more than ${limit} spans. These are the first ${limit}.`;
  return { spans, missing, context: { ...descriptions, details } };
}

function notFound(traceId: string): AppError {
  return new AppError("not_found", `trace not found: ${traceId}`);
}

/** Versions of the endpoint. The first returns the trace alone; the second says whether it is complete. */
export type TraceVersion = 1 | 2;

export async function traceJson(
  { context, missing, spans }: FoundTrace,
  version: TraceVersion,
): Promise<RouteResponse> {
  const resourceSpans = await toResourceSpans(spans, context, { form: tempoForm, yielder: new CooperativeYield() });
  if (version === 1) return incrementalJson({ batches: resourceSpans });
  return incrementalJson({
    trace: { resourceSpans },
    metrics: {},
    ...(missing === undefined ? {} : { status: "PARTIAL", message: missing }),
  });
}

/** Tempo's Trace has the same fields as a request that exports spans. */
const trace = traceExport.request;
const traceByIdResponse = message("TraceByIDResponse", {
  trace: [1, trace],
  metrics: [2, message("TraceByIDMetrics", {})],
  status: [3, "enum"],
  message: [4, "string"],
});

/** Spans that are encoded at once. */
const spansAtOnce = 256;
const partial = 1;

/** Messages that follow each other are merged when they are read, so a long trace is encoded in pieces. */
export function traceProtobuf(found: FoundTrace, version: TraceVersion): RouteResponse {
  const bytes = version === 1 ? piecesOf(found) : piecesOfResponse(found);
  return { kind: "stream", bytes, type: "application/protobuf" };
}

async function* piecesOf(found: FoundTrace): AsyncGenerator<Uint8Array> {
  for await (const resourceSpans of inPieces(found)) yield encodeMessage(trace, { resourceSpans });
}

async function* piecesOfResponse(found: FoundTrace): AsyncGenerator<Uint8Array> {
  for await (const resourceSpans of inPieces(found)) {
    yield encodeMessage(traceByIdResponse, { trace: { resourceSpans } });
  }
  const { missing } = found;
  yield encodeMessage(traceByIdResponse, {
    metrics: {},
    ...(missing === undefined ? {} : { status: partial, message: missing }),
  });
}

async function* inPieces({ context, spans }: FoundTrace): AsyncGenerator<ResourceSpans[]> {
  const yielder = new CooperativeYield();
  // Spans of a resource stay together as far as possible.
  const sorted = [...Map.groupBy(spans, ({ resource_id }) => resource_id).values()].flat();
  for (let start = 0; start < sorted.length; start += spansAtOnce) {
    yield await toResourceSpans(sorted.slice(start, start + spansAtOnce), context, { form: otlpForm, yielder });
    if (yielder.isDue(longStep)) await yielder.yield();
  }
}

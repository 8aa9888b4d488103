/**
 * What the TraceQL engine needs from a store. The engine knows no tenants: a storage is created for one tenant, and no query
 * text can reach past it.
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type {
  AttributeField,
  FieldExpression,
  IntrinsicField,
  KindValue,
  StaticValue,
  StatusValue,
} from "./syntax/ast.ts";

/** Attribute values by name. Values that TraceQL has no type for (maps, mixed lists, bytes) are strings of JSON or base64. */
export type Attributes = ReadonlyMap<string, StaticValue>;

export interface SpanEvent {
  readonly name: string;
  /** Nanoseconds since the start of the span. */
  readonly timeSinceStartNano: bigint;
  readonly attributes: Attributes;
}

export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
}

/** A span, with what the request needs of it; the rest may be empty. IDs are lower-case hex digits. */
export interface TraceqlSpan {
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly startUnixNano: bigint;
  readonly durationNano: bigint;
  readonly name: string;
  readonly status: StatusValue;
  readonly statusMessage: string;
  readonly kind: KindValue;
  readonly attributes: Attributes;
  /** Shared by spans of the same resource. Has service.name. */
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string; readonly attributes: Attributes };
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
}

/** One trace with the spans that the request needs. */
export interface TraceqlTrace {
  readonly traceId: string;
  /** By start, then by ID: nested sets are numbered in this order. */
  readonly spans: readonly TraceqlSpan[];
  /** Of the whole trace, whatever spans are here; only if the request needs it. */
  readonly head: TraceHead | null;
}

export interface TraceHead {
  /** Empty while the root has not arrived. */
  readonly rootName: string;
  readonly rootServiceName: string;
  readonly startUnixNano: bigint;
  readonly durationNano: bigint;
  /** By service.name; "" where a resource has none. */
  readonly services: ReadonlyMap<string, ServiceCounts>;
}

export interface ServiceCounts {
  readonly spans: number;
  /** Those with status error. */
  readonly errors: number;
}

export interface TracesRequest {
  /**
   * Conditions on single spans. A trace without a span that fulfils each of them may be skipped; unless `wholeTraces` is true,
   * spans that fulfil none may be skipped too. The engine evaluates the query again, so a store may ignore parts that it
   * cannot evaluate, as if they were true. null stands for "every span". A comparison with a field of events or links is
   * fulfilled by any of them, each comparison for itself.
   */
  readonly conditions: readonly (FieldExpression | null)[];
  /** `all`: a trace needs spans for each condition; `any`: for one of them. */
  readonly combination: "all" | "any";
  /** Nanoseconds since 1970, from included, to excluded: traces with a span that starts there. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
  /** All spans of the traces, for structure and for counts of children. */
  readonly wholeTraces: boolean;
  /** Whether to return heads. */
  readonly heads: boolean;
  /** The fields that the query reads. */
  readonly fields: readonly (IntrinsicField | AttributeField)[];
  /** Whether it reads all attributes, of spans, resources, scopes, events and links. */
  readonly allAttributes?: boolean | undefined;
  /** How many traces the query is likely to take; undefined: all. */
  readonly expectedTraces: number | undefined;
  /** A few examples are enough: some traces of each part, each with the spans that were found there. */
  readonly sample?: TraceSample | undefined;
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  /** Charges the bytes of a batch before it is kept; throws if they are too many. */
  readonly charge: (bytes: number) => void;
}

export interface TraceSample {
  /** Nanoseconds since 1970, from included, to excluded. */
  readonly parts: readonly { readonly fromUnixNano: bigint; readonly toUnixNano: bigint }[];
  readonly tracesPerPart: number;
}

/** Counts or other sums over spans by time and labels, for metrics. */
export interface SpanGridRequest extends Pick<
  TracesRequest,
  "fromUnixNano" | "toUnixNano" | "signal" | "yieldBudget" | "charge"
> {
  /** The condition on each span; null: every span. */
  readonly condition: FieldExpression | null;
  readonly measure: "count" | "sum" | "min" | "max" | "histogram";
  /** What is measured; null for counts. */
  readonly field: IntrinsicField | AttributeField | null;
  readonly by: readonly (IntrinsicField | AttributeField)[];
  /** Interval i holds spans that start from `first + i × step` (included) to before the next; nanoseconds. */
  readonly intervals: { readonly firstUnixNano: bigint; readonly stepNano: bigint; readonly count: number };
  readonly maxSeries: number;
}

/** Values at the intervals. `present` has 1 for each interval that has a value, else 0. */
export interface SpanGridSeries {
  /** One value for each field of `by`, nil where the span has none. */
  readonly by: readonly StaticValue[];
  /** For histograms, the upper bound of the bucket: a power of two of nanoseconds or of the unit of the field. */
  readonly bucket: number | null;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

export interface TraceqlStorage {
  /** Candidates, newest first, batch by batch. Ending the iteration ends the statements. */
  traces(request: TracesRequest): AsyncIterable<readonly TraceqlTrace[]>;
  /** Optional: aggregates in the store, or null if it cannot do so exactly. */
  spanGrid?(request: SpanGridRequest): Promise<readonly SpanGridSeries[] | null>;
}

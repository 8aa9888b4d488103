/**
 * The syntax tree of TraceQL. Nodes are plain data; `at` is their position in the text and has no meaning for the evaluation.
 * https://grafana.com/docs/tempo/latest/traceql/
 */
import type { SourceRange } from "@sounding/promql/syntax/source-range";

export type AttributeScope = "span" | "resource" | "event" | "link" | "instrumentation";

/** What a span has besides its attributes; `trace:id` and `traceID` are the same. */
export type Intrinsic =
  | "duration"
  | "name"
  | "status"
  | "statusMessage"
  | "kind"
  | "childCount"
  | "parent"
  | "rootName"
  | "rootServiceName"
  | "traceDuration"
  | "nestedSetLeft"
  | "nestedSetRight"
  | "nestedSetParent"
  | "trace:id"
  | "span:id"
  | "span:parentID"
  | "event:name"
  | "event:timeSinceStart"
  | "link:traceID"
  | "link:spanID"
  | "instrumentation:name"
  | "instrumentation:version";

export interface IntrinsicField {
  readonly kind: "intrinsic";
  readonly intrinsic: Intrinsic;
  readonly at: SourceRange;
}

export interface AttributeField {
  readonly kind: "attribute";
  /** null: of the span, or else of its resource (`.name`). */
  readonly scope: AttributeScope | null;
  /** `parent.span.name` reads from the span's parent. */
  readonly ofParent: boolean;
  readonly name: string;
  readonly at: SourceRange;
}

export type StatusValue = "error" | "ok" | "unset";
export type KindValue = "unspecified" | "internal" | "client" | "server" | "producer" | "consumer";

/** A constant. Integers beyond 2^53 are exact as bigint. */
export type StaticValue =
  | { readonly type: "nil" }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "duration"; readonly nanoseconds: bigint }
  | { readonly type: "status"; readonly value: StatusValue }
  | { readonly type: "kind"; readonly value: KindValue }
  /** All of one type. No query can write one: it is the value of an attribute. */
  | { readonly type: "array"; readonly values: readonly StaticValue[] };

export interface StaticField {
  readonly kind: "static";
  readonly value: StaticValue;
  readonly at: SourceRange;
}

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%" | "^";
export type ComparisonOperator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "=~" | "!~";

export interface FieldOperation {
  readonly kind: "field-operation";
  readonly operator: ArithmeticOperator | ComparisonOperator | "&&" | "||";
  readonly left: FieldExpression;
  readonly right: FieldExpression;
  readonly at: SourceRange;
}

export interface UnaryOperation {
  readonly kind: "unary";
  readonly operator: "-" | "!";
  readonly operand: FieldExpression;
  readonly at: SourceRange;
}

/** An expression on one span. */
export type FieldExpression = IntrinsicField | AttributeField | StaticField | FieldOperation | UnaryOperation;

/** `{ … }`: the spans for which the condition is true; null: every span. */
export interface SpansetFilter {
  readonly kind: "spanset-filter";
  readonly condition: FieldExpression | null;
  readonly at: SourceRange;
}

/** Operators between sets of spans of one trace. `!>>` negates, `&>>` returns the spans of both sides. */
export type SpansetOperator =
  | "&&"
  | "||"
  | ">"
  | ">>"
  | "<"
  | "<<"
  | "~"
  | "!>"
  | "!>>"
  | "!<"
  | "!<<"
  | "!~"
  | "&>"
  | "&>>"
  | "&<"
  | "&<<"
  | "&~";

export interface SpansetOperation {
  readonly kind: "spanset-operation";
  readonly operator: SpansetOperator;
  readonly left: SpansetExpression;
  readonly right: SpansetExpression;
  readonly at: SourceRange;
}

/** `({ … } | count() > 1)` as an operand. */
export interface NestedPipeline {
  readonly kind: "nested-pipeline";
  readonly stages: readonly PipelineStage[];
  readonly at: SourceRange;
}

export type SpansetExpression = SpansetFilter | SpansetOperation | NestedPipeline;

export type AggregateOperator = "count" | "min" | "max" | "sum" | "avg";

/** `avg(duration)`; `count()` has no expression. */
export interface Aggregate {
  readonly kind: "aggregate";
  readonly operator: AggregateOperator;
  readonly expression: FieldExpression | null;
  readonly at: SourceRange;
}

export interface ScalarOperation {
  readonly kind: "scalar-operation";
  readonly operator: ArithmeticOperator;
  readonly left: ScalarExpression;
  readonly right: ScalarExpression;
  readonly at: SourceRange;
}

/** `({ … } | count())` as a number. */
export interface ScalarPipeline {
  readonly kind: "scalar-pipeline";
  readonly stages: readonly PipelineStage[];
  readonly scalar: ScalarExpression;
  readonly at: SourceRange;
}

/** An expression on one set of spans. */
export type ScalarExpression = Aggregate | StaticField | ScalarOperation | ScalarPipeline;

/** `| avg(duration) > 1s`: the sets of spans for which it holds. */
export interface ScalarFilter {
  readonly kind: "scalar-filter";
  readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
  readonly left: ScalarExpression;
  readonly right: ScalarExpression;
  readonly at: SourceRange;
}

export interface GroupBy {
  readonly kind: "group-by";
  readonly expression: FieldExpression;
  readonly at: SourceRange;
}

export interface Coalesce {
  readonly kind: "coalesce";
  readonly at: SourceRange;
}

export interface Select {
  readonly kind: "select";
  readonly fields: readonly (IntrinsicField | AttributeField)[];
  readonly at: SourceRange;
}

export type PipelineStage = SpansetExpression | ScalarFilter | GroupBy | Coalesce | Select;

export type MetricsOperator =
  | "rate"
  | "count_over_time"
  | "min_over_time"
  | "max_over_time"
  | "avg_over_time"
  | "sum_over_time"
  | "quantile_over_time"
  | "histogram_over_time";

/** `| quantile_over_time(duration, .9, .99) by (resource.service.name)`. */
export interface MetricsAggregate {
  readonly kind: "metrics-aggregate";
  readonly operator: MetricsOperator;
  /** null for rate() and count_over_time(). */
  readonly field: IntrinsicField | AttributeField | null;
  /** Of quantile_over_time, at least one. */
  readonly quantiles: readonly number[];
  readonly by: readonly (IntrinsicField | AttributeField)[];
  readonly at: SourceRange;
}

/** `| compare({ status = error }, 10, start, end)`; the times are nanoseconds since 1970. */
export interface MetricsCompare {
  readonly kind: "metrics-compare";
  readonly selection: SpansetFilter;
  readonly topN: number;
  readonly startUnixNano: bigint | null;
  readonly endUnixNano: bigint | null;
  readonly at: SourceRange;
}

/** What follows a metrics aggregate: `| topk(10)`, `> 5`, and in arithmetic `* 100`. Durations are in seconds. */
export type MetricsSecondStage =
  | {
      readonly kind: "metrics-choice";
      readonly operator: "topk" | "bottomk";
      readonly count: number;
      readonly at: SourceRange;
    }
  | {
      readonly kind: "metrics-filter";
      readonly operator: "=" | "!=" | "<" | "<=" | ">" | ">=";
      readonly value: number;
      readonly at: SourceRange;
    }
  | {
      readonly kind: "metrics-scalar";
      readonly operator: "+" | "-" | "*" | "/";
      readonly value: number;
      /** `1 - series` rather than `series - 1`. */
      readonly isLeft: boolean;
      readonly at: SourceRange;
    };

/** `{ … } | rate()`, or arithmetic on such queries: `({ … } | rate()) / ({ … } | rate())`. */
export type MetricsExpression =
  | {
      readonly kind: "metrics-query";
      readonly stages: readonly PipelineStage[];
      readonly aggregate: MetricsAggregate | MetricsCompare;
      readonly secondStages: readonly MetricsSecondStage[];
      readonly at: SourceRange;
    }
  | {
      readonly kind: "metrics-operation";
      readonly operator: "+" | "-" | "*" | "/";
      readonly left: MetricsExpression;
      readonly right: MetricsExpression;
      readonly secondStages: readonly MetricsSecondStage[];
      readonly at: SourceRange;
    };

/** `with(most_recent=true)`. */
export interface Hint {
  readonly name: string;
  readonly value: StaticValue;
}

export interface SearchQuery {
  readonly kind: "search-query";
  /** At least one; the first is no Coalesce. */
  readonly stages: readonly PipelineStage[];
  readonly hints: readonly Hint[];
  readonly at: SourceRange;
}

export interface MetricsQuery {
  readonly kind: "metrics-root";
  readonly expression: MetricsExpression;
  readonly hints: readonly Hint[];
  readonly at: SourceRange;
}

export type TraceqlQuery = SearchQuery | MetricsQuery;

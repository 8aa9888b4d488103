/**
 * The syntax tree of LogQL. Nodes are plain data; `at` is their position in the text and has no meaning for the evaluation.
 * https://grafana.com/docs/loki/latest/query/
 */
import type { LabelMatcher, NumberLiteral, VectorMatching } from "@sounding/promql/syntax/ast";
import type { SourceRange } from "@sounding/promql/syntax/source-range";

export type { LabelMatcher, MatchOperator, NumberLiteral, VectorMatching } from "@sounding/promql/syntax/ast";

/** A query for entries: a stream selector and the stages that follow it. */
export interface LogQuery {
  readonly kind: "log-query";
  /** At least one of them matches no empty value. */
  readonly matchers: readonly LabelMatcher[];
  readonly stages: readonly Stage[];
  readonly at: SourceRange;
}

export type LineFilterOperator = "|=" | "!=" | "|~" | "!~" | "|>" | "!>";

/** One alternative of a line filter: a text, expression or pattern, or a range of addresses (`ip("10.0.0.0/8")`). */
export interface LineFilterOperand {
  readonly kind: "text" | "ip";
  readonly value: string;
}

/** `|= "a" or "b"`: a line passes if any operand matches. */
export interface LineFilter {
  readonly kind: "line-filter";
  readonly operator: LineFilterOperator;
  /** One for negative operators: the parser splits `!= "a" or "b"` into `!= "a" != "b"`. */
  readonly operands: readonly LineFilterOperand[];
  readonly at: SourceRange;
}

/** A label and the expression that its value is read with, as in `json first="a.b[0]"`; for `json a` both are `a`. */
export interface Extraction {
  readonly label: string;
  readonly expression: string;
}

export interface JsonParser {
  readonly kind: "json";
  /** Empty: every member of the object becomes a label. */
  readonly extractions: readonly Extraction[];
  readonly at: SourceRange;
}

export interface LogfmtParser {
  readonly kind: "logfmt";
  readonly extractions: readonly Extraction[];
  readonly strict: boolean;
  readonly keepEmpty: boolean;
  readonly at: SourceRange;
}

export interface RegexpParser {
  readonly kind: "regexp";
  readonly expression: string;
  readonly at: SourceRange;
}

export interface PatternParser {
  readonly kind: "pattern";
  readonly pattern: string;
  readonly at: SourceRange;
}

export interface UnpackParser {
  readonly kind: "unpack";
  readonly at: SourceRange;
}

export interface Decolorize {
  readonly kind: "decolorize";
  readonly at: SourceRange;
}

export interface LabelFilterStage {
  readonly kind: "label-filter";
  readonly filter: LabelFilter;
  readonly at: SourceRange;
}

export type ComparisonOperator = "==" | "!=" | ">" | ">=" | "<" | "<=";

/** A condition on labels. `==` and `=` are the same for numbers, durations and bytes. */
export type LabelFilter =
  | { readonly kind: "matcher"; readonly matcher: LabelMatcher }
  | {
      readonly kind: "number";
      readonly label: string;
      readonly operator: ComparisonOperator;
      readonly value: number;
    }
  | {
      readonly kind: "duration";
      readonly label: string;
      readonly operator: ComparisonOperator;
      readonly nanoseconds: number;
    }
  | {
      readonly kind: "bytes";
      readonly label: string;
      readonly operator: ComparisonOperator;
      readonly bytes: number;
    }
  | { readonly kind: "ip"; readonly label: string; readonly operator: "=" | "!="; readonly addresses: string }
  | { readonly kind: "and" | "or"; readonly left: LabelFilter; readonly right: LabelFilter };

export interface LineFormat {
  readonly kind: "line-format";
  /** A template in the syntax of Go's text/template. */
  readonly template: string;
  readonly at: SourceRange;
}

/** `label=other` renames a label; `label="template"` sets it. */
export type LabelAssignment =
  | { readonly kind: "rename"; readonly label: string; readonly from: string }
  | { readonly kind: "template"; readonly label: string; readonly template: string };

export interface LabelFormat {
  readonly kind: "label-format";
  readonly assignments: readonly LabelAssignment[];
  readonly at: SourceRange;
}

/** `drop a, b="c"`: labels by name, or only where their value matches. */
export interface LabelChoice {
  readonly kind: "drop" | "keep";
  readonly labels: readonly (
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "matcher"; readonly matcher: LabelMatcher }
  )[];
  readonly at: SourceRange;
}

export type Stage =
  | LineFilter
  | JsonParser
  | LogfmtParser
  | RegexpParser
  | PatternParser
  | UnpackParser
  | Decolorize
  | LabelFilterStage
  | LineFormat
  | LabelFormat
  | LabelChoice;

/** `unwrap label`, `unwrap duration(label)`; the label filters behind it apply after the conversion. */
export interface Unwrap {
  readonly label: string;
  /** `duration` and `duration_seconds` are the same. */
  readonly conversion: "duration" | "duration_seconds" | "bytes" | null;
  readonly filters: readonly LabelFilterStage[];
  readonly at: SourceRange;
}

export type RangeOperator =
  | "rate"
  | "rate_counter"
  | "count_over_time"
  | "bytes_rate"
  | "bytes_over_time"
  | "absent_over_time"
  | "sum_over_time"
  | "avg_over_time"
  | "min_over_time"
  | "max_over_time"
  | "first_over_time"
  | "last_over_time"
  | "stddev_over_time"
  | "stdvar_over_time"
  | "quantile_over_time";

export interface Grouping {
  readonly labels: readonly string[];
  readonly without: boolean;
}

/** `quantile_over_time(0.9, {…} | unwrap x [5m] offset 1h) by (a)`. */
export interface RangeAggregation {
  readonly kind: "range-aggregation";
  readonly operator: RangeOperator;
  /** Of quantile_over_time. */
  readonly parameter: number | null;
  readonly query: LogQuery;
  readonly unwrap: Unwrap | null;
  readonly rangeMs: number;
  /** May be negative. */
  readonly offsetMs: number;
  readonly grouping: Grouping | null;
  readonly at: SourceRange;
}

export type VectorOperator =
  | "sum"
  | "avg"
  | "min"
  | "max"
  | "count"
  | "stddev"
  | "stdvar"
  | "topk"
  | "bottomk"
  | "approx_topk"
  | "sort"
  | "sort_desc";

export interface VectorAggregation {
  readonly kind: "vector-aggregation";
  readonly operator: VectorOperator;
  /** The number of series that topk, bottomk and approx_topk choose. */
  readonly parameter: number | null;
  readonly expression: MetricExpression;
  readonly grouping: Grouping | null;
  readonly at: SourceRange;
}

export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "^"
  | "=="
  | "!="
  | ">"
  | ">="
  | "<"
  | "<="
  | "and"
  | "or"
  | "unless";

export interface BinaryExpression {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: MetricExpression;
  readonly right: MetricExpression;
  readonly returnBool: boolean;
  /** null if a side is a number. Set operators without a group modifier are many-to-many. */
  readonly matching: VectorMatching | null;
  readonly at: SourceRange;
}

export interface LabelReplace {
  readonly kind: "label-replace";
  readonly expression: MetricExpression;
  readonly destination: string;
  readonly replacement: string;
  readonly source: string;
  readonly regularExpression: string;
  readonly at: SourceRange;
}

/** `vector(1)`: a series without labels. */
export interface VectorLiteral {
  readonly kind: "vector";
  readonly value: number;
  readonly at: SourceRange;
}

/** A query for samples. The tree's structure says what parentheses did; operators on two numbers are already computed. */
export type MetricExpression =
  | RangeAggregation
  | VectorAggregation
  | BinaryExpression
  | LabelReplace
  | VectorLiteral
  | NumberLiteral;

export type LogqlExpression = LogQuery | MetricExpression;

/** Whether the result has entries; otherwise it has samples. */
export function isLogQuery(expression: LogqlExpression): expression is LogQuery {
  return expression.kind === "log-query";
}

/**
 * Random valid LogQL queries over given labels and lines, as trees: log queries with every kind of stage, and metric queries
 * over them. `printLogql` makes them text.
 */
import * as fc from "fast-check";
import type {
  Grouping,
  LogQuery,
  LogqlExpression,
  MetricExpression,
  RangeAggregation,
  Unwrap,
  VectorMatching,
} from "../../src/syntax/ast.ts";
import { vectorOperators } from "../../src/syntax/token.ts";
import { nowhere } from "@sounding/promql/syntax/source-range";
import {
  arbitraryLogQuery,
  logQueryOf,
  ofRecord,
  oneOf,
  parser,
  type LineShape,
  type LogVocabulary,
} from "./arbitrary-log-query.ts";

const at = nowhere;

function grouping(vocabulary: LogVocabulary, shapes: readonly LineShape[]): fc.Arbitrary<Grouping> {
  const names = [vocabulary.streamLabels, vocabulary.metadata, ...shapes.map(({ fields }) => fields)].flatMap((one) =>
    Object.keys(one),
  );
  return fc.record({ labels: fc.uniqueArray(oneOf(names), { minLength: 1, maxLength: 2 }), without: fc.boolean() });
}

const overLines = ["rate", "count_over_time", "bytes_rate", "bytes_over_time", "absent_over_time"] as const;
const overNumbers = ["rate", "rate_counter", "sum_over_time", "absent_over_time"] as const;
const overNumbersGrouped = [
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "first_over_time",
  "last_over_time",
  "stddev_over_time",
  "stdvar_over_time",
  "quantile_over_time",
] as const;

function rangeAggregation(vocabulary: LogVocabulary, shape: LineShape): fc.Arbitrary<RangeAggregation> {
  const times = fc.record({
    rangeMs: fc.constantFrom(1000, 30_000, 60_000, 300_000, 3_600_000),
    offsetMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.constantFrom(60_000, -30_000, 1500)),
  });
  const make = (
    parts: Pick<RangeAggregation, "operator" | "rangeMs" | "offsetMs" | "query" | "unwrap" | "grouping">,
  ): RangeAggregation => ({
    kind: "range-aggregation",
    ...parts,
    parameter: parts.operator === "quantile_over_time" ? 0.9 : null,
    at,
  });
  const counted = fc
    .tuple(oneOf(overLines), times, logQueryOf(vocabulary, shape))
    .map(([operator, time, query]) => make({ operator, ...time, query, unwrap: null, grouping: null }));
  const measured = Object.entries(shape.fields).filter(
    ([, kind]) => kind === "number" || kind === "duration" || kind === "bytes",
  );
  if (measured.length === 0) return counted;
  const unwrap = oneOf(measured).map(([label, kind]): Unwrap => ({
    label,
    conversion: kind === "duration" || kind === "bytes" ? kind : null,
    filters: [
      {
        kind: "label-filter",
        filter: { kind: "matcher", matcher: { name: "__error__", operator: "=", value: "" } },
        at,
      },
    ],
    at,
  }));
  const operator = fc.oneof(
    fc.tuple(oneOf(overNumbers), fc.constant(null)),
    fc.tuple(oneOf(overNumbersGrouped), fc.option(grouping(vocabulary, [shape]))),
  );
  const query = fc
    .tuple(logQueryOf(vocabulary, shape), parser(shape))
    .map(([log, parsing]): LogQuery => ({ ...log, stages: [...log.stages, parsing] }));
  const unwrapped = fc
    .tuple(operator, times, query, unwrap)
    .map(([[name, groups], time, log, wrapped]) =>
      make({ operator: name, ...time, query: log, unwrap: wrapped, grouping: groups }),
    );
  return fc.oneof({ weight: 2, arbitrary: counted }, unwrapped);
}

/** A query for samples. */
export function arbitraryMetricQuery(vocabulary: LogVocabulary): fc.Arbitrary<MetricExpression> {
  const number = fc
    .oneof(fc.integer({ min: -3, max: 100 }), fc.double({ noNaN: false }))
    .map((value): MetricExpression => ({ kind: "number", value, isDuration: false, at }));
  const leaf: fc.Arbitrary<MetricExpression> = fc.oneof(
    { weight: 8, arbitrary: oneOf(vocabulary.lines).chain((shape) => rangeAggregation(vocabulary, shape)) },
    fc.nat({ max: 1000 }).map((value): MetricExpression => ({ kind: "vector", value: value / 8, at })),
  );
  const groups = grouping(vocabulary, vocabulary.lines);
  const { vector } = fc.letrec<{ vector: MetricExpression }>((tie) => ({
    vector: fc.oneof(
      { maxDepth: 3 },
      { weight: 2, arbitrary: leaf },
      { weight: 2, arbitrary: fc.tuple(oneOf(vectorOperators), fc.option(groups), tie("vector")).map(aggregated) },
      fc
        .tuple(arithmetic, fc.boolean(), matching(groups), fc.tuple(tie("vector"), tie("vector")))
        .map(([operator, returnBool, how, [left, right]]): MetricExpression => ({
          kind: "binary",
          operator,
          left,
          right,
          returnBool: returnBool && comparisons.has(operator),
          matching: how,
          at,
        })),
      fc
        .tuple(arithmetic, tie("vector"), number, fc.boolean())
        .map(([operator, one, literal, swap]): MetricExpression => ({
          kind: "binary",
          operator,
          left: swap ? literal : one,
          right: swap ? one : literal,
          returnBool: false,
          matching: null,
          at,
        })),
      fc
        .tuple(fc.constantFrom("and" as const, "or" as const, "unless" as const), tie("vector"), tie("vector"))
        .map(([operator, left, right]): MetricExpression => ({
          kind: "binary",
          operator,
          left,
          right,
          returnBool: false,
          matching: { ...plainMatching, cardinality: "many-to-many" },
          at,
        })),
      ofRecord(vocabulary.streamLabels, (source) => fc.tuple(fc.constant(source), tie("vector"))).map(
        ([source, expression]): MetricExpression => ({
          kind: "label-replace",
          expression,
          destination: "copy",
          replacement: "$1-x",
          source,
          regularExpression: "(.*)",
          at,
        }),
      ),
    ),
  }));
  return vector;
}

const arithmetic = fc.constantFrom("+", "-", "*", "/", "%", "^", "==", "!=", ">", ">=", "<", "<=");
const comparisons: ReadonlySet<string> = new Set(["==", "!=", ">", ">=", "<", "<="]);
const plainMatching = {
  cardinality: "one-to-one" as const,
  labels: [],
  on: false,
  include: [],
  fillLeft: null,
  fillRight: null,
};

function matching(groups: fc.Arbitrary<Grouping>): fc.Arbitrary<VectorMatching> {
  return fc.oneof(
    fc.constant(plainMatching),
    fc
      .tuple(
        groups,
        fc.boolean(),
        fc.constantFrom("one-to-one" as const, "many-to-one" as const, "one-to-many" as const),
      )
      .map(([{ labels }, on, cardinality]) => ({ ...plainMatching, labels, on, cardinality })),
  );
}

function aggregated([operator, groups, expression]: [
  (typeof vectorOperators)[number],
  Grouping | null,
  MetricExpression,
]): MetricExpression {
  const chooses = operator === "topk" || operator === "bottomk" || operator === "approx_topk";
  const isUngrouped = operator === "approx_topk" || operator === "sort" || operator === "sort_desc";
  const parameter = chooses ? 3 : null;
  return { kind: "vector-aggregation", operator, parameter, expression, grouping: isUngrouped ? null : groups, at };
}

/** Any query. */
export function arbitraryLogql(vocabulary: LogVocabulary): fc.Arbitrary<LogqlExpression> {
  return fc.oneof(arbitraryLogQuery(vocabulary), arbitraryMetricQuery(vocabulary));
}

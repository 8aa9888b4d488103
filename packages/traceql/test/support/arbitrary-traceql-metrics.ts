/** Random valid TraceQL metrics queries over given fields, within Tempo's grammar. */
import * as fc from "fast-check";
import { nowhere } from "@sounding/promql/syntax/source-range";
import type { MetricsAggregate, MetricsExpression, MetricsQuery, MetricsSecondStage } from "../../src/syntax/ast.ts";
import { arbitraryFilter, arbitraryStages, numericFields, order, type TypedField } from "./arbitrary-traceql.ts";

const at = nowhere;

function arbitraryAggregate(fields: readonly TypedField[]): fc.Arbitrary<MetricsAggregate> {
  const by = fc.uniqueArray(fc.constantFrom(...fields.map(({ field }) => field)), { maxLength: 3 });
  const numeric = numericFields(fields);
  const aggregate = (
    operator: MetricsAggregate["operator"],
    field: MetricsAggregate["field"],
    quantiles: readonly number[],
  ): fc.Arbitrary<MetricsAggregate> =>
    by.map((grouped) => ({ kind: "metrics-aggregate", operator, field, quantiles, by: grouped, at }));
  const counted = fc
    .constantFrom("rate" as const, "count_over_time" as const)
    .chain((operator) => aggregate(operator, null, []));
  if (numeric.length === 0) return counted;
  const measured = fc
    .tuple(
      fc.constantFrom(
        ...(["min_over_time", "max_over_time", "avg_over_time", "sum_over_time", "histogram_over_time"] as const),
      ),
      fc.constantFrom(...numeric),
    )
    .chain(([operator, { field }]) => aggregate(operator, field, []));
  const quantiles = fc
    .tuple(fc.uniqueArray(fc.constantFrom(0, 0.5, 0.9, 0.99, 1), { minLength: 1 }), fc.constantFrom(...numeric))
    .chain(([values, { field }]) => aggregate("quantile_over_time", field, values));
  return fc.oneof({ weight: 2, arbitrary: counted }, { weight: 2, arbitrary: measured }, quantiles);
}

const choice = fc
  .tuple(fc.constantFrom("topk" as const, "bottomk" as const), fc.integer({ min: 1, max: 4 }))
  .map<MetricsSecondStage>(([operator, count]) => ({ kind: "metrics-choice", operator, count, at }));
const filter = fc
  .tuple(fc.constantFrom(...order), fc.constantFrom(-1, 0, 0.5, 1, 10))
  .map<MetricsSecondStage>(([operator, value]) => ({ kind: "metrics-filter", operator, value, at }));
const scalar = fc
  .tuple(
    fc.constantFrom("+" as const, "-" as const, "*" as const, "/" as const),
    fc.constantFrom(0, 0.5, 2, 100),
    fc.boolean(),
  )
  .map<MetricsSecondStage>(([operator, value, isLeft]) => ({ kind: "metrics-scalar", operator, value, isLeft, at }));

const choices = fc.array(fc.oneof(choice, filter), { maxLength: 2 });

export function arbitraryMetricsQuery(fields: readonly TypedField[]): fc.Arbitrary<MetricsQuery> {
  const simple = fc
    .tuple(arbitraryStages(fields), arbitraryAggregate(fields), choices)
    .map<MetricsExpression>(([stages, aggregate, secondStages]) => ({
      kind: "metrics-query",
      stages,
      aggregate,
      secondStages,
      at,
    }));
  const scaled = fc
    .tuple(simple, fc.array(scalar, { minLength: 1, maxLength: 2 }))
    .map<MetricsExpression>(([query, stages]) => ({ ...query, secondStages: [...query.secondStages, ...stages] }));
  const operand = fc.oneof({ weight: 3, arbitrary: simple }, scaled);
  const joined = fc
    .tuple(fc.constantFrom("+" as const, "-" as const, "*" as const, "/" as const), operand, operand, choices)
    .map<MetricsExpression>(([operator, left, right, secondStages]) => ({
      kind: "metrics-operation",
      operator,
      left,
      right,
      secondStages,
      at,
    }));
  const compared = fc
    .tuple(arbitraryStages(fields), arbitraryFilter(fields), fc.integer({ min: 1, max: 12 }))
    .map<MetricsExpression>(([stages, selection, topN]) => ({
      kind: "metrics-query",
      stages,
      aggregate: { kind: "metrics-compare", selection, topN, startUnixNano: null, endUnixNano: null, at },
      secondStages: [],
      at,
    }));
  return fc
    .oneof({ weight: 4, arbitrary: simple }, scaled, joined, compared)
    .map((expression) => ({ kind: "metrics-root", expression, hints: [], at }));
}

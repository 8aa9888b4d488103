/** The results of a query's range aggregations, which are computed before the tree above them. */
import type { Column } from "@sounding/promql/evaluate/grid";
import type { Grouping, MetricExpression, RangeAggregation } from "../syntax/ast.ts";
import type { EvaluationContext } from "./evaluation-context.ts";
import { evaluatePushedDown } from "./push-down.ts";
import { evaluateRangeAggregation, planRangeAggregation, type RangePlan } from "./range-aggregation.ts";
import type { TimeGrid } from "./time-grid.ts";

/** The columns of each range aggregation. A query that repeats one computes it once. */
export async function evaluateRanges(
  expression: MetricExpression,
  grid: TimeGrid,
  context: EvaluationContext,
): Promise<ReadonlyMap<RangeAggregation, readonly Column[]>> {
  // All are compiled before any entry is read, so an invalid query fails at once.
  const plans = [...plansIn(expression)];
  const results = new Map<RangeAggregation, readonly Column[]>();
  const groups = Map.groupBy(plans, planKey).values();
  const failure = new AbortController();
  const shared = { ...context, signal: AbortSignal.any([context.signal, failure.signal]) };
  const evaluateOneByOne = async (): Promise<void> => {
    for (const [plan, ...others] of groups) {
      if (failure.signal.aborted) return;
      const columns = await evaluatePlan(plan!, grid, shared);
      for (const { aggregation } of [plan!, ...others]) results.set(aggregation, columns);
    }
  };
  const endOthers = (error: unknown): void => failure.abort(error);
  // All have ended before the query ends, also if one fails.
  await Promise.all(Array.from({ length: concurrentAggregations }, () => evaluateOneByOne().catch(endOthers)));
  failure.signal.throwIfAborted();
  return results;
}

/** So the store reads for one while another one's entries are evaluated. */
const concurrentAggregations = 2;

async function evaluatePlan(plan: RangePlan, grid: TimeGrid, context: EvaluationContext): Promise<readonly Column[]> {
  return (await evaluatePushedDown(plan, grid, context)) ?? evaluateRangeAggregation(plan, grid, context);
}

/** Equal for aggregations with equal results: everything but the positions in the text. */
function planKey({ aggregation, grouping }: RangePlan): string {
  // JSON has no NaN and no infinite numbers.
  const replace = (name: string, value: unknown): unknown =>
    name === "at" ? undefined : typeof value === "number" ? String(value) : value;
  return JSON.stringify([aggregation, grouping], replace);
}

function* plansIn(expression: MetricExpression, sum?: Grouping | null): Generator<RangePlan> {
  switch (expression.kind) {
    case "range-aggregation":
      yield planRangeAggregation(expression, sum);
      break;
    case "vector-aggregation":
      yield* plansIn(expression.expression, expression.operator === "sum" ? expression.grouping : undefined);
      break;
    case "label-replace":
      yield* plansIn(expression.expression);
      break;
    case "binary":
      yield* plansIn(expression.left);
      yield* plansIn(expression.right);
      break;
    case "number":
    case "vector":
      break;
  }
}

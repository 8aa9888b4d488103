/** count_values: how many series of a group have each value. */
import { printHistogram } from "../histogram/print-histogram.ts";
import { setLabels } from "../series/labels.ts";
import type { Aggregation } from "../syntax/ast.ts";
import { formatPlain } from "../syntax/number-literal.ts";
import { isLabelName, quoteForMessage } from "../syntax/string-literal.ts";
import { workOfLabels } from "./budget.ts";
import { absent, float, histogramAt, setFloat, type Column } from "./grid.ts";
import { labelsInGroup } from "./grouping.ts";
import { ColumnCollector } from "./merge-columns.ts";
import { evaluationError, type QueryContext } from "./query-context.ts";

/** One series for each group and value, with the value in a label. */
export async function countValues(
  columns: readonly Column[],
  call: { aggregation: Aggregation; valueLabel: string; count: number; context: QueryContext },
): Promise<readonly Column[]> {
  const { aggregation, context, valueLabel } = call;
  if (!isLabelName(valueLabel)) throw evaluationError(`invalid label name ${quoteForMessage(valueLabel)}`);
  const { without } = aggregation;
  const grouping = without ? aggregation.grouping : [...aggregation.grouping, valueLabel];
  const toGroup = labelsInGroup({ grouping, without });
  const results = new ColumnCollector(call.count, context.budget);
  for (const column of columns) {
    for (let step = 0; step < call.count; step++) {
      if (column.kinds[step] === absent) continue;
      const value =
        column.kinds[step] === float ? formatPlain(column.values[step]!) : printHistogram(histogramAt(column, step));
      if (context.budget.spend(2 * workOfLabels)) await context.budget.yield();
      const labels = toGroup(setLabels(column.labels, new Map([[valueLabel, value]])));
      const result = results.column(labels, false);
      setFloat(result, step, result.values[step]! + 1);
    }
    if (context.budget.spend(call.count)) await context.budget.yield();
  }
  return results.columns;
}

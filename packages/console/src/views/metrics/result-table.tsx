/** Series as a table: the value of an instant query, or what a range comes to. */
import { isInstant } from "./metrics-address.ts";
import type { HistogramJson } from "./prometheus.ts";
import { fullName, letterOf, type ResultSeries } from "./result-series.ts";
import { formatValue, type Unit } from "./units.ts";

export function ResultTable({ series, unit }: { readonly series: readonly ResultSeries[]; readonly unit: Unit }) {
  const several = new Set(series.map(({ query }) => query)).size > 1;
  const instant = isInstant.value && series.every(({ times }) => times.length <= 1);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must take the focus
    <div class="metrics-table" tabIndex={0} role="region" aria-label="Series">
      <table class="table">
        <thead>
          <tr>
            {several && <th scope="col">Query</th>}
            <th scope="col">Series</th>
            {(instant ? ["Value"] : ["Last", "Least", "Mean", "Greatest"]).map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {series.map((each) => (
            <tr key={each.key}>
              {several && <td>{letterOf(each.query)}</td>}
              <td>
                <code class="foreign">{clipped(fullName(each.labels))}</code>
              </td>
              {cellsOf(each, { instant, unit }).map((text, index) => (
                <td key={index} class="number">
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function clipped(text: string): string {
  return text.length > 1_000 ? `${text.slice(0, 1_000)}…` : text;
}

function cellsOf({ histograms, values }: ResultSeries, { instant, unit }: { instant: boolean; unit: Unit }): string[] {
  const histogram = histograms.findLast((each) => each !== undefined);
  if (histogram !== undefined) return instant ? [describe(histogram)] : [describe(histogram), "–", "–", "–"];
  const last = values.at(-1) ?? Number.NaN;
  if (instant) return [formatValue(last, unit)];
  const finite = values.filter((value) => Number.isFinite(value));
  if (finite.length === 0) return [formatValue(last, unit), "–", "–", "–"];
  const [least, greatest, sum] = finite.reduce(
    ([low, high, total], value) => [Math.min(low, value), Math.max(high, value), total + value],
    [Infinity, -Infinity, 0] as const as readonly [number, number, number],
  );
  return [last, least, sum / finite.length, greatest].map((value) => formatValue(value, unit));
}

function describe({ count, sum }: HistogramJson): string {
  return `${formatValue(Number(count), "none")} observations, sum ${formatValue(Number(sum), "none")}`;
}

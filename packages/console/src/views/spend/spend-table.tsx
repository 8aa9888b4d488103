/** The groups in a table: cost with a bar, calls and tokens. A name leads to the calls behind it. */
import { formatCost, formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { setParameters } from "../../state/address.ts";
import { callsAddress, dimension, dimensions, filterNames, inSentence } from "./spend-address.ts";
import { labelOf, type SpendRow, type SpendSummary } from "./spend-data.ts";

export function SpendTable({ summary }: { readonly summary: SpendSummary }) {
  const { by, groups } = summary;
  const title = dimension.value === "tag" ? by.slice("tag:".length) : dimensions[dimension.value];
  const highest = Math.max(...groups.data.map(({ cost }) => Number(cost)), 0);
  const hasUnpriced = groups.totals.some((total) => total.unpriced_calls > 0);
  const numbers = [...(hasUnpriced ? ["Without price"] : []), "Tokens in", "Tokens out"];
  return (
    <section class="card stack">
      <h2>By {dimension.value === "tag" ? title : inSentence(title)}</h2>
      <div class="spend-table" tabIndex={0} role="region" aria-label="Spend by group">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" class="spend-bar-column">
                Share
              </th>
              <th scope="col" class="number">
                Calls
              </th>
              {numbers.map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.data.map((row) => (
              <tr key={JSON.stringify([row.group[by], row.currency])}>
                <td>
                  <Name row={row} summary={summary} />
                </td>
                <td class="number" title={`${row.cost} ${row.currency}`}>
                  {isUnknown(row) ? <span class="badge warning">unknown</span> : costOf(row, summary)}
                </td>
                <td class="spend-bar-column">
                  <span
                    class="spend-bar"
                    style={{ width: `${highest === 0 ? 0 : (Number(row.cost) / highest) * 100}%` }}
                  />
                </td>
                <td class="number">{formatCount(row.calls)}</td>
                {hasUnpriced && (
                  <td class="number">{row.unpriced_calls === 0 ? "" : formatCount(row.unpriced_calls)}</td>
                )}
                <td class="number">{formatCount(row.input_tokens)}</td>
                <td class="number">{formatCount(row.output_tokens)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {groups.truncated && (
        <p class="small muted">These are the {groups.data.length} with the highest cost. The total has all of them.</p>
      )}
    </section>
  );
}

function Name({ row, summary: { by, moments } }: { readonly row: SpendRow; readonly summary: SpendSummary }) {
  const label = labelOf(row, by);
  const value = row.group[by] ?? null;
  const address = callsAddress(moments, { value });
  const filter = dimension.value === "tag" ? undefined : filterNames[dimension.value];
  return (
    <span class="spend-name">
      {address === undefined ? (
        <span class="foreign">{label}</span>
      ) : (
        <a class="foreign" href={address} title="Show the calls">
          {label}
        </a>
      )}
      {filter !== undefined && (
        <button
          type="button"
          class="button quiet icon-only spend-filter"
          aria-label={`Only ${label}`}
          title={`Only ${label}`}
          onClick={() => setParameters({ [filter]: value ?? "", by: dimension.value === "model" ? "user" : undefined })}
        >
          <Icon name="filter" size={12} />
        </button>
      )}
    </span>
  );
}

/** What is not known is not 0. */
function isUnknown({ cost, unpriced_calls: unpriced }: SpendRow): boolean {
  return cost === "0" && unpriced > 0;
}

function costOf({ cost, currency }: SpendRow, summary: SpendSummary): string {
  const amount = formatCost(Number(cost));
  return currency === summary.currency ? amount : `${amount} ${currency}`;
}

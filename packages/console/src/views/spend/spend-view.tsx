/** The view "Spend": what calls cost, by day and by model, user, key, project, engine or tag. */
import { useEffect } from "preact/hooks";
import { useQuery } from "../../api/use-query.ts";
import { Chart, Legend } from "../../design/chart/chart.tsx";
import { formatCost, formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { ProjectSelect } from "../../shell/project-select.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { navigate, parameters, setParameters } from "../../state/address.ts";
import { moments, setTimeRange } from "../../state/time-range.ts";
import {
  callsAddress,
  dimension,
  dimensions,
  filters,
  inSentence,
  mayReadAll,
  tagName,
  type Dimension,
} from "./spend-address.ts";
import { downloadSpend } from "./spend-csv.ts";
import { readSpend, type SpendSummary } from "./spend-data.ts";
import { SpendTable } from "./spend-table.tsx";

const month = "now-30d";

export function SpendView() {
  const isOpen = parameters.value.has("from");
  // An hour, the range of other views, is short for costs.
  useEffect(() => {
    if (!isOpen) setParameters({ from: month }, { replace: true });
  }, [isOpen]);
  const spend = useQuery((signal) => (isOpen ? readSpend(moments.value, signal) : undefined), [isOpen]);
  const { data, error } = spend;
  return (
    <div class="view">
      <ViewHeader title="Spend" time>
        <DimensionSelect />
        <ProjectSelect />
        <button
          type="button"
          class="button"
          disabled={data.value === undefined || data.value.days.data.length === 0}
          onClick={() => data.value && downloadSpend(data.value)}
        >
          <Icon name="download" />
          CSV
        </button>
      </ViewHeader>
      <Filters />
      {data.value === undefined ? (
        error.value === undefined ? (
          <Loading what="spend" onCancel={spend.cancel} />
        ) : (
          <ErrorState error={error.value} onRetry={spend.reload} />
        )
      ) : (
        <div class={`spend ${spend.loading.value ? "refreshing" : ""}`}>
          {error.value && <ErrorState error={error.value} onRetry={spend.reload} />}
          {data.value.groups.totals.length === 0 ? <NoCalls /> : <Sums summary={data.value} />}
        </div>
      )}
    </div>
  );
}

function DimensionSelect() {
  const names = (Object.keys(dimensions) as Dimension[]).filter((each) => each !== "organization" || mayReadAll.value);
  return (
    <>
      <select
        class="select"
        aria-label="Group by"
        value={dimension.value}
        onChange={({ currentTarget: { value } }) => setParameters({ by: value === "model" ? undefined : value })}
      >
        {names.map((each) => (
          <option key={each} value={each}>
            {`By ${inSentence(dimensions[each])}`}
          </option>
        ))}
      </select>
      {dimension.value === "tag" && (
        <input
          key={tagName.value}
          class="input"
          aria-label="Name of the tag"
          defaultValue={tagName.value}
          maxLength={64}
          onChange={({ currentTarget: { value } }) => setParameters({ tag: value.trim() || undefined })}
        />
      )}
    </>
  );
}

function Filters() {
  if (filters.value.length === 0) return null;
  return (
    <div class="row spend-filters" role="group" aria-label="Filters">
      {filters.value.map(({ dimension: of, name, value }) => (
        <span key={name} class="badge">
          {dimensions[of]}: <span class="foreign">{value === "" ? "(none)" : value}</span>
          <button
            type="button"
            class="button quiet icon-only"
            aria-label={`Remove the filter by ${dimensions[of]}`}
            onClick={() => setParameters({ [name]: undefined })}
          >
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
    </div>
  );
}

function Sums({ summary }: { readonly summary: SpendSummary }) {
  const { currency, dayStarts, groups, lastDayEndMs, moments: range, series } = summary;
  const open = (index: number): void => {
    const start = dayStarts[index] ?? range.startMs;
    const end = dayStarts[index + 1] ?? range.endMs;
    const address = callsAddress({ startMs: Math.max(start, range.startMs), endMs: Math.min(end, range.endMs) });
    if (address !== undefined) navigate(address);
  };
  return (
    <>
      <ul class="spend-totals">
        {groups.totals.map((total) => (
          <Total key={total.currency} title={`Cost in ${total.currency}`} value={formatCost(Number(total.cost))}>
            <span title="Exact">{total.cost}</span>
          </Total>
        ))}
        <Total title="Calls" value={formatCount(sumOf(summary, "calls"))}>
          {unknownText(sumOf(summary, "unpriced_calls"))}
        </Total>
        <Total title="Tokens" value={formatCount(sumOf(summary, "input_tokens") + sumOf(summary, "output_tokens"))}>
          {`${formatCount(sumOf(summary, "input_tokens"))} in, ${formatCount(sumOf(summary, "output_tokens"))} out`}
        </Total>
      </ul>
      {series.length > 0 && (
        <section class="card stack">
          <h2>By day, in {currency}</h2>
          <Chart
            label="Cost by day"
            times={dayStarts}
            moments={{ startMs: dayStarts[0] ?? range.startMs, endMs: lastDayEndMs }}
            series={series}
            kind="stacked-bars"
            format={formatCost}
            height={220}
            onPick={open}
          />
          <Legend series={series} />
          <p class="small muted">A click on a day shows its calls.</p>
        </section>
      )}
      <SpendTable summary={summary} />
    </>
  );
}

function Total({
  title,
  value,
  children,
}: {
  readonly title: string;
  readonly value: string;
  readonly children: unknown;
}) {
  return (
    <li class="card">
      <span class="spend-total-title">{title}</span>
      <span class="spend-total-value">{value}</span>
      <span class="small muted">{children as string}</span>
    </li>
  );
}

function sumOf({ groups }: SpendSummary, name: "calls" | "unpriced_calls" | "input_tokens" | "output_tokens"): number {
  return groups.totals.reduce((sum, total) => sum + total[name], 0);
}

function unknownText(unpriced: number): string {
  if (unpriced === 0) return "all with a known cost";
  return `${formatCount(unpriced)} of unknown cost: their models have no price`;
}

function NoCalls() {
  return (
    <EmptyState title="No model was called in this time range" icon="spend">
      <p>There may be older calls, or calls that the filters leave out.</p>
      <div class="row">
        {filters.value.length > 0 && (
          <button
            type="button"
            class="button"
            onClick={() => setParameters(Object.fromEntries(filters.value.map(({ name }) => [name, undefined])))}
          >
            Clear the filters
          </button>
        )}
        <button type="button" class="button" onClick={() => setTimeRange({ from: "now-90d", to: "now" })}>
          Show the last 90 days
        </button>
      </div>
    </EmptyState>
  );
}

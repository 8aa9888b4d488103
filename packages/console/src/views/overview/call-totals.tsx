/** The totals of the overview: one number each, with its course over time. */
import { formatCost, formatCount, formatDuration, formatShare } from "../../design/format.ts";
import { Sparkline } from "../../design/chart/sparkline.tsx";
import type { CallsSummary, Values } from "./calls-summary.ts";

interface Total {
  readonly title: string;
  readonly value: string;
  readonly note: string;
  readonly values?: Values;
  readonly color?: string;
}

export function CallTotals({ summary }: { readonly summary: CallsSummary }) {
  return (
    <ul class="overview-totals">
      {totalsOf(summary).map(({ title, value, note, values, color = "--series-1" }) => (
        <li key={title} class="card">
          <span class="overview-total-title">{title}</span>
          <span class="overview-total-value">{value}</span>
          <span class="small muted">{note}</span>
          {values && <Sparkline values={values} color={color} />}
        </li>
      ))}
    </ul>
  );
}

function totalsOf({
  total,
  callsByModel,
  errors,
  p95Ms,
  firstTokenP50Ms,
  outputTokens,
  moments,
  times,
}: CallsSummary): Total[] {
  const minutes = (moments.endMs - moments.startMs) / 60_000;
  const calls = times.map((_, index) => {
    return callsByModel.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
  });
  const duration = (ms: number | undefined) => (ms === undefined ? "–" : formatDuration(ms));
  const streamed = total.firstTokenP50Ms !== undefined;
  return [
    {
      title: "Calls",
      value: formatCount(total.calls),
      note: `${formatCount(total.calls / minutes)} per minute`,
      values: calls,
    },
    {
      title: "Errors",
      value: formatShare(total.errors / total.calls),
      note: `${formatCount(total.errors)} ${total.errors === 1 ? "call" : "calls"} failed`,
      values: errors,
      color: "--error",
    },
    { title: "Duration, median", value: duration(total.p50Ms), note: `p95 ${duration(total.p95Ms)}`, values: p95Ms },
    {
      title: "Time to first token",
      value: duration(total.firstTokenP50Ms),
      note: streamed ? `median; p95 ${duration(total.firstTokenP95Ms)}` : "no streamed calls",
      values: firstTokenP50Ms,
    },
    {
      title: "Tokens",
      value: formatCount(total.inputTokens + total.outputTokens),
      note: `${formatCount(total.inputTokens)} in, ${formatCount(total.outputTokens)} out`,
      values: outputTokens,
    },
    {
      title: "Cost",
      value: formatCost(total.cost),
      note: total.cost === undefined ? "no call has a known cost" : "in your prices' currency",
    },
  ];
}

/** Lists traces in a table: status, start, duration, spans, models, tokens and cost, and what each trace is. */
import type { TracesResult } from "@sounding/client";
import type { CommandIo } from "../command.ts";
import { formatMoney, formatShort } from "../terminal/numbers.ts";
import { writeTable, type Cell, type Column } from "../terminal/table.ts";
import { formatDuration, formatTime, type TimeOptions } from "../terminal/times.ts";

type Trace = TracesResult["traces"][number];

/** Terminals narrower than this show the first digits of IDs, which `sounding traces` accepts, and no date for today. */
const widthForWholeIds = 110;
export const shortestId = 8;

export async function writeTraces(
  traces: readonly Trace[],
  io: Pick<CommandIo, "stdout" | "colors" | "terminalWidth">,
  times: TimeOptions,
): Promise<void> {
  const isNarrow = io.terminalWidth !== undefined && io.terminalWidth < widthForWholeIds;
  const isPriced = traces.some(({ summary }) => summary.cost !== null);
  const columns: readonly (string | Column)[] = [
    { title: "trace", whole: true },
    { title: "began", whole: true, optional: 1 },
    { title: "took", align: "right", whole: true },
    { title: "status", whole: true },
    { title: "spans", align: "right", whole: true, optional: 3 },
    { title: "name", least: 16 },
    { title: "service", optional: 4 },
    { title: "model", least: 12 },
    { title: "tokens", align: "right", whole: true, optional: 2 },
    ...(isPriced ? [{ title: "cost", align: "right", whole: true } as const] : []),
  ];
  const rows = traces.map((trace): Cell[] => [
    { text: isNarrow ? trace.traceID.slice(0, shortestId) : trace.traceID, style: "cyan" },
    { text: startOf(trace, { isShort: isNarrow, times }), style: "gray" },
    formatDuration(Number(trace.summary.durationNanos) / 1e6),
    statusOf(trace),
    String(trace.summary.spanCount),
    trace.rootTraceName,
    { text: trace.rootServiceName, style: "gray" },
    modelsOf(trace),
    tokensOf(trace),
    ...(isPriced ? [trace.summary.cost === null ? "" : formatMoney(trace.summary.cost)] : []),
  ]);
  await writeTable(io, columns, rows);
}

function startOf(trace: Trace, { isShort, times }: { readonly isShort: boolean; readonly times: TimeOptions }): string {
  const start = formatTime(Number(BigInt(trace.startTimeUnixNano) / 1_000_000n), times);
  const isToday = start.slice(0, 10) === formatTime(Date.now(), times).slice(0, 10);
  return isShort && isToday ? start.slice(11) : start;
}

/** A trace can succeed although spans in it failed, for example a call that was retried. */
function statusOf({ summary: { status, errorCount } }: Trace): Cell {
  if (status === "error") return { text: "✗ error", style: "red" };
  if (errorCount > 0) return { text: `✓ ${errorCount} failed`, style: "yellow" };
  return { text: "✓ ok", style: "green" };
}

function modelsOf({ summary: { models } }: Trace): string {
  const [first] = models.toSorted((left, right) => right.calls - left.calls);
  if (first === undefined) return "";
  return models.length === 1 ? first.model : `${first.model} +${models.length - 1}`;
}

function tokensOf({ summary: { models } }: Trace): string {
  const tokens = models.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0);
  return tokens === 0 ? "" : formatShort(tokens);
}

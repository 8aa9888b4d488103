/** A trace in the list: when, what, where, how it ended, how long it took and what it cost. */
import { formatCost, formatCount, formatDuration, formatTime } from "../../design/format.ts";
import { href } from "../../state/address.ts";
import type { ListedTrace } from "./trace-list.ts";
import { TraceStatus } from "./trace-status.tsx";

/** Longer names are clipped by the browser, which is slow for a megabyte. */
const mostCharacters = 200;

export function TraceRow({
  trace,
  index,
  selected,
  longestMs,
  withDate,
}: {
  readonly trace: ListedTrace;
  readonly index: number;
  readonly selected: boolean;
  /** The duration that fills the bar. */
  readonly longestMs: number;
  readonly withDate: boolean;
}) {
  const { rootServiceName, rootTraceName, startTimeUnixNano, summary, traceID } = trace;
  const startMs = Number(BigInt(startTimeUnixNano) / 1_000_000n);
  const durationMs = Number(summary.durationNanos) / 1e6;
  const name = rootTraceName.slice(0, mostCharacters) || "(no name)";
  const tokensIn = summary.models.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  const tokensOut = summary.models.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  const models = summary.models.map(({ model }) => model.slice(0, mostCharacters)).join(", ");
  return (
    <div
      class={`traces-row ${selected ? "selected" : ""}`}
      role="row"
      aria-rowindex={index + 2}
      aria-current={selected ? "true" : undefined}
    >
      <div class="traces-time" role="cell">
        <time dateTime={new Date(startMs).toISOString()} title={formatTime(startMs, { millis: true })}>
          {formatTime(startMs, { date: withDate, millis: !withDate })}
        </time>
      </div>
      <div class="traces-name" role="cell">
        <a class="clip" dir="auto" href={href(`traces/${traceID}`)} title={name}>
          {name}
        </a>
      </div>
      <div class="traces-service clip" role="cell" dir="auto">
        {rootServiceName.slice(0, mostCharacters) || <span class="muted">unknown</span>}
      </div>
      <div class="traces-project muted clip" role="cell" dir="auto">
        {summary.projects?.map((project) => project.slice(0, mostCharacters)).join(", ")}
      </div>
      <div class="traces-status" role="cell">
        <TraceStatus status={summary.status} errors={summary.errorCount} />
      </div>
      <div class="traces-duration" role="cell">
        <span>{formatDuration(durationMs)}</span>
        <span class="traces-bar" aria-hidden="true">
          <span style={{ width: `${Math.max(1, Math.min(100, (100 * durationMs) / longestMs))}%` }} />
        </span>
      </div>
      <div class="traces-spans number" role="cell">
        {formatCount(summary.spanCount)}
      </div>
      <div class="traces-models clip" role="cell" dir="auto" title={models}>
        {models}
      </div>
      <div class="traces-tokens number" role="cell" title={`${tokensIn} tokens in, ${tokensOut} out`}>
        {tokensIn + tokensOut === 0 ? "" : `${formatCount(tokensIn)} / ${formatCount(tokensOut)}`}
      </div>
      <div class="traces-cost number" role="cell">
        {summary.cost === null ? "" : formatCost(summary.cost)}
      </div>
    </div>
  );
}

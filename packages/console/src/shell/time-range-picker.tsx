/** Selects the time range: common ranges, free text, step back and forward, refresh, live. */
import { useSignal } from "@preact/signals";
import { formatTime } from "../design/format.ts";
import { Icon } from "../design/icons.tsx";
import { Menu } from "../design/menu.tsx";
import {
  endsNow,
  live,
  moments,
  refresh,
  setLive,
  setTimeRange,
  stepRange,
  timeRange,
  type TimeRange,
} from "../state/time-range.ts";
import { parseRange } from "../state/time-text.ts";
import { useShortcuts } from "./shortcuts.ts";

const presets: readonly (readonly [from: string, title: string])[] = [
  ["now-5m", "Last 5 minutes"],
  ["now-15m", "Last 15 minutes"],
  ["now-1h", "Last hour"],
  ["now-3h", "Last 3 hours"],
  ["now-12h", "Last 12 hours"],
  ["now-24h", "Last 24 hours"],
  ["now-7d", "Last 7 days"],
  ["now-30d", "Last 30 days"],
];

export function TimeRangePicker() {
  useShortcuts(() => [
    { keys: "[", description: "Earlier: one time range back", group: "This view", run: () => stepRange(-1) },
    { keys: "]", description: "Later: one time range forward", group: "This view", run: () => stepRange(1) },
    { keys: "r", description: "Refresh", group: "This view", run: refresh },
  ]);
  return (
    <div class="time-range" role="group" aria-label="Time range">
      <button
        type="button"
        class="button quiet icon-only"
        aria-label="Earlier"
        title="Earlier"
        onClick={() => stepRange(-1)}
      >
        <Icon name="left" />
      </button>
      <Menu button={<TimeRangeTitle range={timeRange.value} />} align="end">
        {(close) => <TimeRangeChoices onSelect={(range) => (setTimeRange(range), close())} />}
      </Menu>
      <button
        type="button"
        class="button quiet icon-only"
        aria-label="Later"
        title="Later"
        disabled={endsNow.value}
        onClick={() => stepRange(1)}
      >
        <Icon name="right" />
      </button>
      <button type="button" class="button quiet icon-only" aria-label="Refresh" title="Refresh" onClick={refresh}>
        <Icon name="refresh" />
      </button>
      {endsNow.value && (
        <button type="button" class="button" aria-pressed={live.value} onClick={() => setLive(!live.value)}>
          <Icon name="live" />
          Live
        </button>
      )}
    </div>
  );
}

function TimeRangeTitle({ range }: { readonly range: TimeRange }) {
  const preset = range.to === "now" ? presets.find(([from]) => from === range.from) : undefined;
  if (preset !== undefined) return <>{preset[1]}</>;
  if (range.to === "now" && range.from.startsWith("now-")) return <>Last {range.from.slice(4)}</>;
  const { startMs, endMs } = moments.value;
  const start = formatTime(startMs);
  const end = range.to === "now" ? "now" : formatTime(endMs);
  return (
    <>
      {start} – {end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end}
    </>
  );
}

function TimeRangeChoices({ onSelect }: { readonly onSelect: (range: TimeRange) => void }) {
  const invalid = useSignal(false);
  return (
    <div class="time-range-choices">
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get("range");
          const range = typeof text === "string" ? parseRange(text) : undefined;
          invalid.value = range === undefined;
          if (range !== undefined) onSelect(range);
        }}
      >
        <label for="time-range-text">Other range</label>
        <input
          id="time-range-text"
          class="input"
          name="range"
          autocomplete="off"
          placeholder="45m"
          aria-invalid={invalid.value}
          aria-describedby="time-range-help"
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autofocus
        />
        <span id="time-range-help" class={invalid.value ? "problem" : "hint"}>
          A length such as <code>45m</code> or <code>3d</code>, a date, or{" "}
          <code>2026-01-31 09:00 to 2026-01-31 10:30</code>.
        </span>
      </form>
      <ul>
        {presets.map(([from, title]) => (
          <li key={from}>
            <button
              type="button"
              class="menu-item"
              aria-current={timeRange.value.from === from && endsNow.value}
              onClick={() => onSelect({ from, to: "now" })}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

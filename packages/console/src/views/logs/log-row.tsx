/** A line of a list of logs, with its details below it while it is expanded. */
import { formatTime } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { LogDetails, type LogDetailsProps } from "./log-details.tsx";
import { LogText } from "./log-text.tsx";

export interface LogRowProps extends LogDetailsProps {
  readonly expanded: boolean;
  readonly onToggle: () => void;
  /** Whether it has the list's cursor, or belongs to what is selected elsewhere. */
  readonly current?: boolean;
  readonly wrap?: boolean;
  readonly search?: string | undefined;
  /** Whether to show the date. */
  readonly dated?: boolean;
}

export function LogRow({ expanded, onToggle, current, wrap, search, dated = false, ...details }: LogRowProps) {
  const { entry } = details;
  const time = formatTime(entry.ms, { date: dated, millis: true });
  return (
    <div class={`logs-row ${entry.level} ${current === true ? "current" : ""}`} role="listitem">
      <div
        class={`logs-line ${wrap === true ? "wrap" : ""}`}
        onClick={(event) => {
          // A click that ends a selection of text is none.
          if (!(event.target as Element).closest("button") && getSelection()?.isCollapsed === false) return;
          onToggle();
        }}
      >
        <button
          type="button"
          class="logs-toggle"
          aria-expanded={expanded}
          aria-label={`${entry.level}, ${time}, ${entry.labels["service_name"] ?? ""}: details`}
        >
          <Icon name={expanded ? "down" : "right"} size={12} />
        </button>
        <span class="logs-time mono">{time}</span>
        <span class="logs-level">{entry.level}</span>
        <span class="logs-service clip">{entry.labels["service_name"]}</span>
        <LogText text={entry.line} search={search} />
      </div>
      {expanded && <LogDetails {...details} />}
    </div>
  );
}

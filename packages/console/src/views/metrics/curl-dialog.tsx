/** The queries as curl commands. */
import { apiRoot } from "../../api/request.ts";
import { CodeBlock } from "../../design/code-block.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { isInstant, projectHeaders } from "./metrics-address.ts";
import { seconds } from "./prometheus.ts";
import { letterOf } from "./result-series.ts";
import type { StepTimes } from "./step.ts";

export function CurlDialog({
  queries,
  times,
  timeMs,
  onClose,
}: {
  readonly queries: readonly string[];
  readonly times: StepTimes;
  /** When an instant query is evaluated. */
  readonly timeMs: number;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="The same with curl" onClose={onClose} wide>
      {queries.map((query, index) => (
        <CodeBlock
          key={letterOf(index)}
          label={queries.length > 1 ? `query ${letterOf(index)}` : "command"}
          code={commandOf(query, times, timeMs)}
        />
      ))}
      <p class="small muted">
        <code>SOUNDING_API_KEY</code> is a key with the permission <code>telemetry_read</code>.
      </p>
    </Dialog>
  );
}

function commandOf(query: string, { startMs, endMs, stepMs }: StepTimes, timeMs: number): string {
  const path = isInstant.value ? "query" : "query_range";
  const parameters: [string, string][] = isInstant.value
    ? [["time", seconds(timeMs)]]
    : [
        ["start", seconds(startMs)],
        ["end", seconds(endMs)],
        ["step", seconds(stepMs)],
      ];
  const lines = [
    `curl --get ${quote(new URL(`prometheus/api/v1/${path}`, apiRoot).href)}`,
    `-H "Authorization: Bearer $SOUNDING_API_KEY"`,
    ...Object.entries(projectHeaders()).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...[["query", query], ...parameters].map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
  ];
  return lines.join(" \\\n  ");
}

/** For a shell, whatever the text contains. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A trace as the API returned it: as many lines as a browser can scroll, and all of it as a file. */
import { useMemo } from "preact/hooks";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatBytes, formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { VirtualList } from "../../design/virtual-list.tsx";
import type { TempoTrace } from "./tempo-json.ts";

/** Browsers limit the height of elements. */
const mostLines = 200_000;
/** Longer lines are cut. */
const longestLine = 2_000;
const lineHeight = 20;

export function RawJson({ trace }: { readonly trace: TempoTrace }) {
  const { text, lines } = useMemo(() => {
    const indented = JSON.stringify(trace, null, 2);
    return { text: indented, lines: indented.split("\n") };
  }, [trace]);
  const shown = Math.min(lines.length, mostLines);
  return (
    <div class="trace-raw">
      <div class="row">
        <span class="small muted">
          {formatCount(lines.length)} lines, {formatBytes(text.length)}
          {lines.length > mostLines && `; shown are the first ${formatCount(mostLines)}`}
        </span>
        <span class="spread" />
        <CopyButton text={text} label="Copy JSON" />
        <button type="button" class="button" onClick={() => download(`trace-${trace.traceID}.json`, text)}>
          <Icon name="download" />
          Download
        </button>
      </div>
      <div class="trace-raw-lines mono">
        <VirtualList
          count={shown}
          rowHeight={lineHeight}
          label="JSON of the trace"
          renderRow={(index) => {
            const line = lines[index]!;
            return (
              <div role="listitem" class="trace-raw-line">
                {line.length > longestLine ? `${line.slice(0, longestLine)}…` : line}
              </div>
            );
          }}
        />
      </div>
    </div>
  );
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

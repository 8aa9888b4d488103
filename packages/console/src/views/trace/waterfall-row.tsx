/** A span as a row: its name in the tree, its service, its duration, and its bar on the time axis. */
import type { TraceSpan } from "./trace-model.ts";
import type { Segment } from "./critical-path.ts";
import { chartColor, seriesColor } from "../../design/chart/chart-color.ts";
import { formatCount, formatDuration } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import type { TimeSpan, TraceState } from "./trace-state.ts";

/** Longer names are cut in rows; the details show them. */
const longestName = 200;

export function WaterfallRow({ span, state }: { readonly span: TraceSpan; readonly state: TraceState }) {
  const { key, index, name, service, depth, failed, children, startNs, endNs, next } = span;
  const folded = children.length > 0 ? state.folded.value.has(key) : undefined;
  const selected = state.selected.value?.key === key;
  const matches = state.isMatch.value?.has(index);
  return (
    <div
      id={rowId(span)}
      class={`trace-row ${selected ? "selected" : ""} ${matches === undefined ? "" : matches ? "match" : "other"}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={selected}
      aria-expanded={folded === undefined ? undefined : !folded}
      onClick={() => state.select(span)}
    >
      <div class="trace-name" style={{ paddingLeft: `min(${depth * 14}px, 40%)` }}>
        {folded === undefined ? (
          <span class="trace-toggle" />
        ) : (
          <span
            class="trace-toggle"
            aria-hidden="true"
            title={folded ? "Unfold" : "Fold"}
            onClick={(event) => {
              event.stopPropagation();
              state.toggleFold(span);
            }}
          >
            <Icon name={folded ? "right" : "down"} size={12} />
          </span>
        )}
        <span class="trace-dot" style={{ background: serviceColor(span.serviceIndex) }} />
        {failed && (
          <span class="trace-failed" role="img" aria-label="Failed">
            <Icon name="error" size={14} />
          </span>
        )}
        <span class="clip">{name.slice(0, longestName) || "(no name)"}</span>
        {folded === true && <span class="badge">+{formatCount(next - index - 1)}</span>}
      </div>
      <span class="trace-service clip">{service.slice(0, longestName)}</span>
      <span class="trace-duration">{formatDuration((endNs - startNs) / 1e6)}</span>
      <Bar span={span} zoom={state.zoom.value} segments={state.criticalPath.value?.get(index)} />
    </div>
  );
}

export function rowId({ key }: TraceSpan): string {
  return `span-${key}`;
}

export function serviceColor(serviceIndex: number): string {
  return chartColor(seriesColor(serviceIndex));
}

function Bar({
  span: { startNs, endNs, serviceIndex, failed },
  zoom,
  segments = [],
}: {
  readonly span: TraceSpan;
  readonly zoom: TimeSpan;
  readonly segments?: readonly Segment[] | undefined;
}) {
  if (endNs < zoom.startNs || startNs > zoom.endNs) return <div class="trace-time" />;
  return (
    <div class="trace-time" aria-hidden="true">
      <div
        class={`trace-bar ${failed ? "failed" : ""}`}
        style={{ ...place(startNs, endNs, zoom), background: serviceColor(serviceIndex) }}
      />
      {segments
        .filter((each) => each.endNs >= zoom.startNs && each.startNs <= zoom.endNs)
        .slice(0, mostSegments)
        .map((each) => (
          <div key={each.startNs} class="trace-critical" style={place(each.startNs, each.endNs, zoom)} />
        ))}
    </div>
  );
}

/** More segments of a span are narrower than a pixel. */
const mostSegments = 100;

/** The share of the axis, cut at both ends: browsers are slow with very wide elements. */
function place(startNs: number, endNs: number, zoom: TimeSpan): { left: string; width: string } {
  const length = zoom.endNs - zoom.startNs;
  const left = Math.max(0, (startNs - zoom.startNs) / length);
  const right = Math.min(1, (endNs - zoom.startNs) / length);
  return { left: `${left * 100}%`, width: `${Math.max(0, right - left) * 100}%` };
}

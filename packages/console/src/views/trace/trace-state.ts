/** What is shown of a trace: selection, search, zoom and the critical path are in the address; folded spans are not. */
import { computed, signal, type ReadonlySignal } from "@preact/signals";
import { parameter, setParameters } from "../../state/address.ts";
import { criticalPath, type Segment } from "./critical-path.ts";
import type { TraceModel, TraceSpan } from "./trace-model.ts";

/** A part of the time axis, in nanoseconds after the trace's start. */
export type TimeSpan = Segment;

export interface TraceState {
  readonly model: ReadonlySignal<TraceModel>;
  readonly selected: ReadonlySignal<TraceSpan | undefined>;
  readonly detailsOpen: ReadonlySignal<boolean>;
  /** Keys of spans whose descendants are hidden. */
  readonly folded: ReadonlySignal<ReadonlySet<string>>;
  /** Indexes of the spans that are not hidden. */
  readonly rows: ReadonlySignal<readonly number[]>;
  readonly search: ReadonlySignal<string>;
  /** Indexes of the spans that match the search; undefined without one. */
  readonly matches: ReadonlySignal<readonly number[] | undefined>;
  readonly isMatch: ReadonlySignal<ReadonlySet<number> | undefined>;
  /** What the time axis shows. */
  readonly zoom: ReadonlySignal<TimeSpan>;
  readonly zoomed: ReadonlySignal<boolean>;
  /** The segments of each span on the critical path; undefined if it is not shown. */
  readonly criticalPath: ReadonlySignal<ReadonlyMap<number, readonly Segment[]> | undefined>;
  select(span: TraceSpan | undefined, options?: { readonly details?: boolean }): void;
  closeDetails(): void;
  setFolded(keys: Iterable<string>): void;
  toggleFold(span: TraceSpan): void;
  setSearch(text: string): void;
  zoomTo(span: TimeSpan | undefined): void;
  /** @param factor below 1 magnifies @param center stays where it is */
  zoomBy(factor: number, center?: number): void;
  setCriticalPath(shown: boolean): void;
}

/** What may be selected at least, in nanoseconds. */
const shortestZoomNs = 10;

export function createTraceState(model: ReadonlySignal<TraceModel>): TraceState {
  const selectedKey = parameter("span");
  const details = parameter("details");
  const searchParameter = parameter("search");
  const zoomParameter = parameter("zoom");
  const pathParameter = parameter("critical_path");

  const folded = signal<ReadonlySet<string>>(new Set());
  const selected = computed(() => {
    const { byKey, spans } = model.value;
    // The only span of a trace is what one wants to see.
    return byKey.get(selectedKey.value ?? "") ?? (spans.length === 1 ? spans[0] : undefined);
  });
  const search = computed(() => searchParameter.value ?? "");
  const matches = computed(() => findMatches(model.value, search.value));
  const zoom = computed(() => parseZoom(zoomParameter.value, model.value.durationNs) ?? whole(model.value));

  const select: TraceState["select"] = (span, { details: open = true } = {}) => {
    const first = selectedKey.peek() === undefined;
    if (span !== undefined) unfoldAbove(span);
    setParameters({ span: span?.key, details: span === undefined || open ? undefined : "0" }, { replace: !first });
  };
  const unfoldAbove = (span: TraceSpan): void => {
    const { spans } = model.peek();
    const open = new Set(folded.peek());
    for (let at = span.parent; at !== -1; at = spans[at]!.parent) open.delete(spans[at]!.key);
    if (open.size !== folded.peek().size) folded.value = open;
  };
  const zoomTo: TraceState["zoomTo"] = (span) => {
    const full = model.peek().durationNs;
    const fitted = span && clamp(span, full);
    const isWhole = fitted === undefined || (fitted.startNs <= 0 && fitted.endNs >= full);
    setParameters({ zoom: isWhole ? undefined : `${fitted.startNs}-${fitted.endNs}` }, { replace: true });
  };
  return {
    model,
    selected,
    detailsOpen: computed(() => selected.value !== undefined && details.value !== "0"),
    folded,
    rows: computed(() => visibleRows(model.value, folded.value)),
    search,
    matches,
    isMatch: computed(() => matches.value && new Set(matches.value)),
    zoom,
    zoomed: computed(
      () => zoomParameter.value !== undefined && zoom.value.endNs - zoom.value.startNs < whole(model.value).endNs,
    ),
    criticalPath: computed(() =>
      pathParameter.value === "0" ? undefined : criticalPath(model.value.spans, model.value.roots),
    ),
    select,
    closeDetails: () => setParameters({ details: "0" }, { replace: true }),
    setFolded: (keys) => void (folded.value = new Set(keys)),
    toggleFold: ({ key }) => {
      const next = new Set(folded.peek());
      if (!next.delete(key)) next.add(key);
      folded.value = next;
    },
    setSearch: (text) => setParameters({ search: text === "" ? undefined : text }, { replace: true }),
    zoomTo,
    zoomBy: (factor, center) => {
      const { startNs, endNs } = zoom.peek();
      const at = center ?? (startNs + endNs) / 2;
      zoomTo({ startNs: at - (at - startNs) * factor, endNs: at + (endNs - at) * factor });
    },
    setCriticalPath: (shown) => setParameters({ critical_path: shown ? undefined : "0" }, { replace: true }),
  };
}

function whole({ durationNs }: TraceModel): TimeSpan {
  return { startNs: 0, endNs: Math.max(1, durationNs) };
}

function visibleRows({ spans }: TraceModel, folded: ReadonlySet<string>): number[] {
  const rows: number[] = [];
  for (let index = 0; index < spans.length;) {
    rows.push(index);
    const { key, next } = spans[index]!;
    index = folded.has(key) ? next : index + 1;
  }
  return rows;
}

/** Spans whose name, service, ID or status message contains the text. */
function findMatches({ spans }: TraceModel, search: string): number[] | undefined {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return undefined;
  const found: number[] = [];
  for (const { index, name, service, id, raw } of spans) {
    const texts = [name, service, id, raw.status?.message ?? ""];
    if (texts.some((text) => text.toLowerCase().includes(wanted))) found.push(index);
  }
  return found;
}

function parseZoom(text: string | undefined, durationNs: number): TimeSpan | undefined {
  const match = /^(?<start>\d{1,16})-(?<end>\d{1,16})$/.exec(text ?? "")?.groups;
  if (match === undefined) return undefined;
  const [startNs, endNs] = [Number(match["start"]), Number(match["end"])];
  return startNs < endNs && startNs < durationNs ? { startNs, endNs: Math.min(endNs, durationNs) } : undefined;
}

/** Whole nanoseconds within the trace, at least the shortest length. */
function clamp({ startNs, endNs }: TimeSpan, fullNs: number): TimeSpan {
  const length = Math.min(fullNs, Math.max(shortestZoomNs, Math.round(endNs - startNs)));
  const start = Math.max(0, Math.min(Math.round(startNs), fullNs - length));
  return { startNs: start, endNs: start + length };
}

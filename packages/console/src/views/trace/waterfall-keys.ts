/** The keyboard of the waterfall: shortcuts of the view, and the arrow keys of a tree that has the focus. */
import { useShortcuts } from "../../shell/shortcuts.ts";
import type { TraceSpan } from "./trace-model.ts";
import type { TraceState } from "./trace-state.ts";

export function useWaterfallKeys(state: TraceState): void {
  useShortcuts(() => {
    const shortcut = (keys: string, description: string, run: () => void | boolean) =>
      ({ keys, description, group: "This view", run }) as const;
    return [
      shortcut("j", "Next span", () => step(state, 1)),
      shortcut("k", "Previous span", () => step(state, -1)),
      shortcut("Enter", "Show the span's details", () => openDetails(state)),
      shortcut("Escape", "Close the details, then deselect the span", () => close(state)),
      shortcut("[", "Fold the span", () => fold(state, true)),
      shortcut("]", "Unfold the span", () => fold(state, false)),
      shortcut("f", "Show the whole trace", () => state.zoomTo(undefined)),
      shortcut("n", "Next match", () => nextMatch(state, 1)),
      shortcut("N", "Previous match", () => nextMatch(state, -1)),
      shortcut("/", "Search in the trace", focusSearch),
    ];
  }, [state]);
}

/** Selects the next or previous span that is not hidden; the details stay open or closed. */
function step(state: TraceState, direction: -1 | 1): void {
  const rows = state.rows.peek();
  const selected = state.selected.peek();
  const at = selected === undefined ? -1 : rowOf(rows, selected.index);
  const row = selected === undefined ? 0 : Math.max(0, Math.min(rows.length - 1, at + direction));
  selectRow(state, row);
}

function selectRow(state: TraceState, row: number): void {
  const span = state.model.peek().spans[state.rows.peek()[row] ?? -1];
  if (span !== undefined) state.select(span, { details: state.detailsOpen.peek() });
}

/** The row of a span; of a hidden one, the row of the ancestor that hides it. */
function rowOf(rows: readonly number[], index: number): number {
  const found = rows.findLastIndex((each) => each <= index);
  return Math.max(0, found);
}

function openDetails(state: TraceState): boolean {
  const span = state.selected.peek();
  // Enter belongs to the control that has the focus.
  if (span === undefined || document.activeElement?.matches("button, a, summary") === true) return false;
  state.select(span);
  return true;
}

function close(state: TraceState): boolean {
  if (state.selected.peek() === undefined) return false;
  if (state.detailsOpen.peek()) state.closeDetails();
  else state.select(undefined);
  return true;
}

/** Folds the selected span, or if it is folded already its parent. Without a selection, everything. */
function fold(state: TraceState, folded: boolean): void {
  const span = state.selected.peek();
  if (span === undefined) return folded ? foldAll(state) : state.setFolded([]);
  const isFolded = state.folded.peek().has(span.key);
  if (span.children.length > 0 && isFolded !== folded) return state.toggleFold(span);
  const parent = state.model.peek().spans[span.parent];
  if (folded && parent !== undefined) state.select(parent, { details: state.detailsOpen.peek() });
}

/** Leaves the roots and their children in sight. */
export function foldAll(state: TraceState): void {
  const { spans } = state.model.peek();
  const inner = spans.filter(({ depth, children }) => depth > 0 && children.length > 0);
  state.setFolded(inner.map(({ key }) => key));
}

/** Folds everything below a span, which stays unfolded itself. */
export function foldBelow(state: TraceState, span: TraceSpan): void {
  const { spans } = state.model.peek();
  const below = spans.slice(span.index + 1, span.next).filter(({ children }) => children.length > 0);
  const folded = new Set([...state.folded.peek(), ...below.map(({ key }) => key)]);
  folded.delete(span.key);
  state.setFolded(folded);
}

/** Selects the next or previous match, and begins again after the last. */
export function nextMatch(state: TraceState, direction: -1 | 1): boolean {
  const matches = state.matches.peek() ?? [];
  if (matches.length === 0) return false;
  const at = state.selected.peek()?.index ?? -1;
  const found = direction === 1 ? matches.find((each) => each > at) : matches.findLast((each) => each < at);
  const index = found ?? (direction === 1 ? matches[0]! : matches.at(-1)!);
  state.select(state.model.peek().spans[index], { details: state.detailsOpen.peek() });
  return true;
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>(".trace-search input")?.focus();
}

/** The keys of a tree. @returns whether the key was one of them */
export function moveSelection(key: string, state: TraceState): boolean {
  switch (key) {
    case "ArrowDown":
      step(state, 1);
      return true;
    case "ArrowUp":
      step(state, -1);
      return true;
    case "ArrowLeft":
      fold(state, true);
      return true;
    case "ArrowRight":
      unfoldOrEnter(state);
      return true;
    case "Home":
      selectRow(state, 0);
      return true;
    case "End":
      selectRow(state, state.rows.peek().length - 1);
      return true;
    default:
      return false;
  }
}

function unfoldOrEnter(state: TraceState): void {
  const span = state.selected.peek();
  if (span !== undefined && !state.folded.peek().has(span.key) && span.children.length > 0) step(state, 1);
  else fold(state, false);
}

/** Search, folding, zoom and the critical path. */
import { Icon } from "../../design/icons.tsx";
import { formatCount } from "../../design/format.ts";
import { Menu } from "../../design/menu.tsx";
import type { TraceState } from "./trace-state.ts";
import { foldAll, foldBelow, nextMatch } from "./waterfall-keys.ts";

export function Toolbar({ state }: { readonly state: TraceState }) {
  const selected = state.selected.value;
  return (
    <div class="trace-toolbar">
      <Search state={state} />
      <Menu button="Fold">
        {(close) => {
          const item = (title: string, run: () => void) => (
            <button
              type="button"
              class="menu-item"
              onClick={() => {
                run();
                close();
              }}
            >
              {title}
            </button>
          );
          return (
            <>
              {item("Fold all", () => foldAll(state))}
              {item("Unfold all", () => state.setFolded([]))}
              {selected !== undefined &&
                selected.children.length > 0 &&
                item("Fold below the selected span", () => foldBelow(state, selected))}
            </>
          );
        }}
      </Menu>
      <button
        type="button"
        class="button"
        aria-pressed={state.criticalPath.value !== undefined}
        title="The spans that the end of the trace waits for"
        onClick={() => state.setCriticalPath(state.criticalPath.value === undefined)}
      >
        Critical path
      </button>
      <div class="row spread trace-zoom" role="group" aria-label="Zoom">
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Zoom out"
          title="Zoom out"
          disabled={!state.zoomed.value}
          onClick={() => state.zoomBy(2)}
        >
          <Icon name="minus" />
        </button>
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Zoom in"
          title="Zoom in"
          onClick={() => state.zoomBy(0.5, zoomCenter(state))}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          class="button quiet"
          disabled={!state.zoomed.value}
          title="Show the whole trace (f)"
          onClick={() => state.zoomTo(undefined)}
        >
          Fit
        </button>
      </div>
    </div>
  );
}

/** The middle of the selected span, if the axis shows it. */
function zoomCenter(state: TraceState): number | undefined {
  const { startNs, endNs } = state.zoom.peek();
  const span = state.selected.peek();
  const middle = span && (span.startNs + span.endNs) / 2;
  return middle !== undefined && middle >= startNs && middle <= endNs ? middle : undefined;
}

function Search({ state }: { readonly state: TraceState }) {
  const matches = state.matches.value;
  const selected = state.selected.value;
  const at = matches === undefined || selected === undefined ? -1 : matches.indexOf(selected.index);
  return (
    <div class="trace-search" role="search">
      <div class="trace-search-field">
        <input
          class="input"
          type="search"
          aria-label="Search spans"
          placeholder="Name, service or ID"
          value={state.search.value}
          onInput={(event) => state.setSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") nextMatch(state, event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") event.currentTarget.blur();
            else return;
            event.preventDefault();
          }}
        />
        <span class="small muted trace-count" role="status">
          {matches !== undefined &&
            (at === -1 ? formatMatches(matches.length) : `${formatCount(at + 1)} of ${formatCount(matches.length)}`)}
        </span>
      </div>
      <button
        type="button"
        class="button quiet icon-only"
        aria-label="Previous match"
        title="Previous match (N)"
        disabled={matches === undefined || matches.length === 0}
        onClick={() => nextMatch(state, -1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="button quiet icon-only"
        aria-label="Next match"
        title="Next match (n)"
        disabled={matches === undefined || matches.length === 0}
        onClick={() => nextMatch(state, 1)}
      >
        <Icon name="down" />
      </button>
    </div>
  );
}

function formatMatches(count: number): string {
  return count === 0 ? "No match" : count === 1 ? "1 match" : `${formatCount(count)} matches`;
}

/** A list of any length that renders only the rows in sight. https://tanstack.com/virtual */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import type { AriaRole, ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";

/** Scrolls the list from outside. */
export interface VirtualListHandle {
  scrollToIndex(index: number, align?: "auto" | "start" | "center" | "end"): void;
  readonly element: HTMLElement | null;
}

interface VirtualListProps {
  readonly count: number;
  /** Height of a row in pixels until it is measured. */
  readonly rowHeight: number;
  /** Whether rows have different heights and are measured. */
  readonly measured?: boolean;
  /** Keeps a row's measurement when rows are added above it. A new function places all rows again: memoize it for long lists. */
  readonly keyOf?: (index: number) => string | number;
  readonly renderRow: (index: number) => ComponentChildren;
  readonly label: string;
  /** Called with the last row in sight, to load what follows. */
  readonly onReach?: ((index: number) => void) | undefined;
  readonly onScroll?: ((element: HTMLElement) => void) | undefined;
  readonly handle?: RefObject<VirtualListHandle>;
  /** ARIA role of the list; its rows then need the fitting role. */
  readonly role?: AriaRole;
}

type Options = VirtualizerOptions<HTMLElement, HTMLElement>;

export function VirtualList(props: VirtualListProps) {
  const {
    count,
    rowHeight,
    measured = false,
    keyOf,
    renderRow,
    label,
    onReach,
    onScroll,
    handle,
    role = "list",
  } = props;
  const element = useRef<HTMLDivElement>(null);
  const [, render] = useReducer<number, void>((turn) => turn + 1, 0);
  const options = (): Options => ({
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowHeight,
    ...(keyOf === undefined || !measured ? {} : { getItemKey: keyOf }),
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(),
  });
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options()), []);
  virtualizer.setOptions({ ...virtualizer.options, ...options() });
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  // The height of rows follows the density; measured heights do not apply to rows of one height.
  useLayoutEffect(() => virtualizer.measure(), [rowHeight, measured]);
  const rows = virtualizer.getVirtualItems();
  // Rows of one height take turns in the same elements: a new row changes text instead of the document.
  const slots = useRef(1);
  slots.current = Math.max(slots.current, rows.length);
  const last = rows.at(-1)?.index ?? -1;
  useLayoutEffect(() => {
    if (last >= 0) onReach?.(last);
  }, [last, count]);
  if (handle !== undefined) {
    handle.current = {
      scrollToIndex: (index, align = "auto") => virtualizer.scrollToIndex(index, { align }),
      get element() {
        return element.current;
      },
    };
  }
  return (
    <div
      ref={element}
      class="virtual-list"
      role={role}
      aria-label={label}
      tabIndex={0}
      onScroll={onScroll && ((event) => onScroll(event.currentTarget))}
    >
      <div class="virtual-list-content" role="presentation" style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {rows.map(({ key, index, start }) => (
          <div
            key={measured ? key : index % slots.current}
            class="virtual-list-row"
            role="presentation"
            data-index={index}
            ref={measured ? virtualizer.measureElement : null}
            style={{ transform: `translateY(${start}px)`, ...(measured ? {} : { height: `${rowHeight}px` }) }}
          >
            {renderRow(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

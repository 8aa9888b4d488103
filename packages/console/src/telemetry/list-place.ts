/** Where someone is in a list that changes: the selected item, and what is in sight while items are added above. */
import { signal, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RefObject } from "preact";
import type { VirtualListHandle } from "../design/virtual-list.tsx";
import { preferences } from "../state/preferences.ts";
import { useShortcuts } from "../shell/shortcuts.ts";

interface ListPlaceOptions<Item> {
  readonly items: ReadonlySignal<readonly Item[] | undefined>;
  readonly idOf: (item: Item) => string;
  readonly handle: RefObject<VirtualListHandle>;
  readonly rowHeight: number;
  /** The ID of the selected item. */
  readonly selected: Signal<string | undefined>;
  readonly open: (item: Item) => void;
  /** What the items are: `trace`. */
  readonly noun: string;
}

/** As in the style sheets. */
const narrow = matchMedia("(width <= 760px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => void (isNarrow.value = narrow.matches));

/** The height of a row in pixels: on small screens a row has two lines. */
export function useRowHeight(): number {
  if (isNarrow.value) return 64;
  return preferences.value.density === "compact" ? 28 : 36;
}

/** Selects with `j` and `k`, and opens with Enter. */
export function useListKeys<Item>({ items, idOf, handle, selected, open, noun }: ListPlaceOptions<Item>): void {
  const indexOfSelected = (): number => items.peek()?.findIndex((item) => idOf(item) === selected.peek()) ?? -1;
  const move = (step: 1 | -1): void => {
    const list = items.peek() ?? [];
    const index = Math.max(0, Math.min(list.length - 1, indexOfSelected() + step));
    const item = list[index];
    if (item === undefined) return;
    selected.value = idOf(item);
    handle.current?.scrollToIndex(index);
  };
  useShortcuts(() => [
    { keys: "j", description: `Next ${noun}`, group: "This view", run: () => move(1) },
    { keys: "k", description: `Previous ${noun}`, group: "This view", run: () => move(-1) },
    {
      keys: "Enter",
      description: `Open the selected ${noun}`,
      group: "This view",
      run: () => {
        // A link or button with the focus handles the key itself.
        if (document.activeElement?.closest("a, button, summary") != null) return false;
        const item = items.peek()?.[indexOfSelected()];
        if (item === undefined) return false;
        open(item);
        return true;
      },
    },
  ]);
}

/** Keeps what is in sight where it is while items are added above it, and counts them. */
export function useUnmovedRows<Item>({
  items,
  idOf,
  handle,
  rowHeight,
}: Pick<ListPlaceOptions<Item>, "items" | "idOf" | "handle" | "rowHeight">) {
  const unseen = useSignal(0);
  const first = useRef<string>(undefined);
  const list = items.value;
  useLayoutEffect(() => {
    const element = handle.current?.element;
    const index = list?.findIndex((item) => idOf(item) === first.current) ?? -1;
    first.current = list?.[0] === undefined ? undefined : idOf(list[0]);
    if (element == null || index <= 0 || element.scrollTop < rowHeight) {
      unseen.value = 0;
      return;
    }
    element.scrollTop += index * rowHeight;
    unseen.value += index;
  }, [list]);
  return {
    unseen,
    onScroll: (element: HTMLElement) => {
      if (element.scrollTop < rowHeight) unseen.value = 0;
    },
    toTop: () => handle.current?.element?.scrollTo({ top: 0 }),
  };
}

/** Connects a paged list to what its view asks for: loads it when the question changes, updates it while the view is live. */
import { effect, signal, type Signal } from "@preact/signals";
import { session } from "../state/session.ts";
import { live, moments, timeRange } from "../state/time-range.ts";
import type { PagedList, PagedListOptions } from "./paged-list.ts";

/** What is kept while another view is shown, so that one comes back to the same place. */
export interface ListMemory {
  /** The question that the list answers. */
  key: string;
  scrollTop: number;
  /** The ID of the selected item. */
  readonly selected: Signal<string | undefined>;
}

export function createListMemory(): ListMemory {
  return { key: "", scrollTop: 0, selected: signal<string | undefined>(undefined) };
}

/** @param ask what is asked for now; signals that it reads may change the question */
export function followQuestion<Item>(
  list: PagedList<Item>,
  memory: ListMemory,
  ask: () => { readonly filters: object; readonly options: PagedListOptions<Item> },
): () => void {
  let lastMoments = moments.peek();
  let returned = true;
  const stop = effect(() => {
    const { filters, options } = ask();
    const range = moments.value;
    const isLive = live.value;
    const key = JSON.stringify([session.value?.key_id, filters, timeRange.value.from, timeRange.value.to]);
    const isSame = key === memory.key && list.items.peek() !== undefined;
    const hasMoved = range.startMs !== lastMoments.startMs || range.endMs !== lastMoments.endMs;
    if (isSame && isLive) list.update();
    else if (!isSame || (hasMoved && !returned)) {
      if (key !== memory.key) memory.selected.value = undefined;
      memory.key = key;
      memory.scrollTop = 0;
      list.load(options);
    }
    lastMoments = range;
    returned = false;
  });
  return () => {
    stop();
    list.cancel();
  };
}

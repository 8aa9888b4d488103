/** A list that is loaded page by page while one scrolls, and that new items are added to while it is live. */
import { batch, computed, signal, type ReadonlySignal } from "@preact/signals";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly next: string | undefined;
  /** What the items do not include although they should. */
  readonly warning?: string | undefined;
}

export interface PagedListOptions<Item> {
  /** @param cursor "" for the first page */
  readonly fetchPage: (cursor: string, signal: AbortSignal) => Promise<Page<Item>>;
  readonly idOf: (item: Item) => string;
}

export interface PagedList<Item> {
  /** Undefined until the first page has arrived. */
  readonly items: ReadonlySignal<readonly Item[] | undefined>;
  /** Whether the first page is loading; the items of the last question stay until it arrives. */
  readonly loading: ReadonlySignal<boolean>;
  /** Whether the next page is loading. */
  readonly loadingMore: ReadonlySignal<boolean>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly error: ReadonlySignal<Error | undefined>;
  readonly warning: ReadonlySignal<string | undefined>;
  /** Loads the first page of another question, and cancels what is running. */
  load(options: PagedListOptions<Item>): void;
  /** Loads the next page, if there is one. After a failure, only if asked `again`. */
  more(options?: { readonly again?: boolean }): void;
  /** Adds the items that are new, and replaces those that changed. */
  update(): void;
  cancel(): void;
}

/** A live list does not grow beyond this. Older items are then loaded again by a refresh. */
const mostLiveItems = 2_000;

export function createPagedList<Item>(): PagedList<Item> {
  const items = signal<readonly Item[] | undefined>(undefined);
  const loading = signal(true);
  const loadingMore = signal(false);
  const error = signal<Error | undefined>(undefined);
  const warning = signal<string | undefined>(undefined);
  const next = signal<string | undefined>(undefined);
  let options: PagedListOptions<Item> | undefined;
  let controller = new AbortController();
  let updating = false;

  const run = async (cursor: string, apply: (page: Page<Item>) => void, busy: (on: boolean) => void): Promise<void> => {
    const { signal: running } = controller;
    busy(true);
    let outcome: () => void;
    try {
      const page = await options!.fetchPage(cursor, running);
      outcome = () => {
        apply(page);
        error.value = undefined;
        warning.value = page.warning;
      };
    } catch (thrown) {
      outcome = () => {
        error.value = thrown as Error;
        // What an earlier question found would look like an answer to this one.
        if (loading.peek()) items.value = undefined;
      };
    }
    if (running.aborted) return;
    batch(() => {
      outcome();
      busy(false);
    });
  };
  const unknown = (found: readonly Item[], known: readonly Item[]): Item[] => {
    const ids = new Set(known.map(options!.idOf));
    return found.filter((item) => !ids.has(options!.idOf(item)));
  };
  return {
    items,
    loading,
    loadingMore,
    error,
    warning,
    hasMore: computed(() => next.value !== undefined),
    load(question) {
      controller.abort();
      controller = new AbortController();
      options = question;
      updating = false;
      loadingMore.value = false;
      void run(
        "",
        (page) => {
          items.value = page.items;
          next.value = page.next;
        },
        (on) => void (loading.value = on),
      );
    },
    more({ again = false } = {}) {
      const cursor = next.peek();
      if (cursor === undefined || loadingMore.peek() || loading.peek()) return;
      if (error.peek() !== undefined && !again) return;
      void run(
        cursor,
        (page) => {
          const known = items.peek() ?? [];
          items.value = [...known, ...unknown(page.items, known)];
          next.value = page.next;
        },
        (on) => void (loadingMore.value = on),
      );
    },
    update() {
      const known = items.peek();
      if (known === undefined || updating || loading.peek()) return;
      void run(
        "",
        (page) => {
          const current = items.peek() ?? [];
          const latest = new Map(page.items.map((item) => [options!.idOf(item), item]));
          const fresh = unknown(page.items, current);
          const merged = [...fresh, ...current.map((item) => latest.get(options!.idOf(item)) ?? item)];
          items.value = merged.slice(0, mostLiveItems);
          if (merged.length > mostLiveItems) next.value = undefined;
        },
        (on) => void (updating = on),
      );
    },
    cancel() {
      controller.abort();
      batch(() => {
        loading.value = false;
        loadingMore.value = false;
      });
    },
  };
}

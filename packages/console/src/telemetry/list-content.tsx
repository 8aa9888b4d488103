/** What a paged list shows around its items: loading, a failure, a cancelled query, and how much has been loaded. */
import type { ComponentChildren } from "preact";
import { ApiError } from "../api/request.ts";
import { formatCount } from "../design/format.ts";
import type { IconName } from "../design/icons.tsx";
import { EmptyState, ErrorState, Loading, Notice } from "../design/states.tsx";
import type { PagedList } from "./paged-list.ts";

export function ListContent<Item>({
  list,
  nouns: [one, many],
  icon,
  empty,
  reload,
  children,
}: {
  readonly list: PagedList<Item>;
  /** `trace` and `traces`. */
  readonly nouns: readonly [one: string, many: string];
  readonly icon: IconName;
  /** Shown if nothing matches. */
  readonly empty: ComponentChildren;
  readonly reload: () => void;
  /** The items. */
  readonly children: ComponentChildren;
}) {
  const { error, hasMore, items, loading, loadingMore } = list;
  const warning = list.warning.value !== undefined && <Notice kind="warning">{list.warning.value}</Notice>;
  if (items.value === undefined) {
    if (error.value !== undefined) return <Failure error={error.value} onRetry={reload} />;
    if (loading.value) return <Loading what={many} onCancel={() => list.cancel()} />;
    return (
      <EmptyState title="The query was cancelled" icon={icon}>
        <button type="button" class="button" onClick={reload}>
          Load again
        </button>
      </EmptyState>
    );
  }
  if (items.value.length === 0)
    return (
      <>
        {warning}
        {empty}
      </>
    );
  return (
    <>
      {warning}
      {children}
      <footer class="list-foot small muted">
        {error.value === undefined ? (
          <>
            {formatCount(items.value.length)} {items.value.length === 1 ? one : many}
            {loadingMore.value ? ", loading more…" : hasMore.value ? ", more follow below" : ""}
          </>
        ) : (
          <Notice kind="error">
            <span class="foreign">{error.value.message}</span>{" "}
            <button type="button" class="button" onClick={() => list.more({ again: true })}>
              Try again
            </button>
          </Notice>
        )}
      </footer>
    </>
  );
}

function Failure({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  const tooMuch = error instanceof ApiError && (error.status === 504 || error.code === "payload_too_large");
  return (
    <div class="list-state">
      <ErrorState error={error} onRetry={onRetry} />
      {tooMuch && (
        <p class="muted">This time range has too much data for this query. Choose a shorter one, or add a filter.</p>
      )}
    </div>
  );
}

/** The frame of the lists: search, ended objects on request, the table, and more pages. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { Icon } from "../../design/icons.tsx";
import { useRowShortcuts } from "../../shell/use-row-shortcuts.ts";
import { parameter, setParameters } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import type { PagedList } from "./admin-lists.ts";
import { showDialog } from "./dialogs.ts";

const search = parameter("search");
const ended = parameter("ended");

/** The search of the address, for the admin API. */
export const listSearch = search;
/** Whether archived or revoked objects are listed too. */
export const listsEnded = ended;

export interface Column<Item> {
  readonly title: string;
  readonly render: (item: Item) => ComponentChildren;
  /** Whether it is left out on small screens. */
  readonly wide?: boolean;
}

export function ObjectTable<Item extends { readonly id: string }>({
  list: { query, more },
  columns,
  what,
  endedLabel,
  createLabel,
  children,
}: {
  readonly list: PagedList<Item>;
  /** The first column names the row. */
  readonly columns: readonly Column<Item>[];
  /** Such as `keys`. */
  readonly what: string;
  /** Absent: such objects do not end. */
  readonly endedLabel?: string | undefined;
  /** Absent: nobody may create one here. */
  readonly createLabel?: string | undefined;
  /** More filters. */
  readonly children?: ComponentChildren;
}) {
  const page = query.data.value;
  return (
    <>
      <div class="row">
        <input
          class="input"
          type="search"
          aria-label={`Search ${what}`}
          placeholder={`Search ${what}`}
          value={search.value ?? ""}
          onInput={(event) => setParameters({ search: event.currentTarget.value || undefined }, { replace: true })}
        />
        {children}
        {endedLabel !== undefined && (
          <label class="administration-check">
            <input
              type="checkbox"
              checked={ended.value === "1"}
              onChange={(event) => setParameters({ ended: event.currentTarget.checked ? "1" : undefined })}
            />
            {endedLabel}
          </label>
        )}
        {createLabel !== undefined && may("admin") && (
          <button type="button" class="button primary spread" onClick={() => showDialog("create")}>
            <Icon name="plus" />
            {createLabel}
          </button>
        )}
      </div>
      {query.error.value !== undefined ? (
        <ErrorState error={query.error.value} onRetry={query.reload} />
      ) : page === undefined ? (
        <Loading what={what} />
      ) : page.data.length === 0 ? (
        <NothingFound what={what} />
      ) : (
        <>
          <Rows items={page.data} columns={columns} />
          {page.has_more && (
            <div class="row">
              <Notice>
                These are the newest {page.data.length} {what}.
              </Notice>
              <button type="button" class="button" disabled={query.loading.value} onClick={more}>
                Show more
              </button>
            </div>
          )}
        </>
      )}
    </>
  );
}

function NothingFound({ what }: { readonly what: string }) {
  if (search.value === undefined) return <EmptyState title={`No ${what} yet`} icon="administration" />;
  return (
    <EmptyState title={`No ${what} match`}>
      <p>
        Nothing has <strong class="foreign">{search.value}</strong> in its name or ID.
      </p>
      <button type="button" class="button" onClick={() => setParameters({ search: undefined })}>
        Clear the search
      </button>
    </EmptyState>
  );
}

function Rows<Item extends { readonly id: string }>({
  items,
  columns,
}: {
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
}) {
  const table = useRef<HTMLTableElement>(null);
  useRowShortcuts(table);
  const width = ({ wide = false }: Column<Item>): string => (wide ? "administration-wide" : "");
  return (
    <div class="administration-frame">
      <table ref={table} class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={width(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.title} scope="row">
                    {column.render(item)}
                  </th>
                ) : (
                  <td key={column.title} class={width(column)}>
                    {column.render(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

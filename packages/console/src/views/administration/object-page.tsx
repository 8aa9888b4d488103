/** The frame of a page about one organization, project, person, key, budget or deletion: back, name, actions, facts. */
import type { ComponentChildren } from "preact";
import { useQuery, type Query } from "../../api/use-query.ts";
import { requestJson } from "../../api/request.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Icon } from "../../design/icons.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { href } from "../../state/address.ts";
import { may } from "../../state/session.ts";

/** @param path such as `keys/key_…` */
export function useObject<Item>(path: string): Query<Item> {
  return useQuery((signal) => requestJson<Item>(`admin/v1/${path}`, { signal }), [path]);
}

export function ObjectPage<Item extends { readonly name: string; readonly id: string }>({
  query,
  kind,
  actions,
  children,
}: {
  readonly query: Query<Item>;
  /** `organizations`, `projects`, `people`, `keys`, `budgets` or `deletions`. */
  readonly kind: string;
  readonly actions: (item: Item) => ComponentChildren;
  readonly children: (item: Item) => ComponentChildren;
}) {
  const item = query.data.value;
  return (
    <>
      <a class="administration-back" href={href(`administration/${kind}`)}>
        <Icon name="left" size={12} />
        All {kind}
      </a>
      {item === undefined ? (
        query.error.value === undefined ? (
          <Loading what="it" />
        ) : (
          <>
            <ViewHeader title="Administration" />
            <ErrorState error={query.error.value} onRetry={query.reload} />
          </>
        )
      ) : (
        <>
          <ViewHeader title={<span class="foreign">{item.name}</span>}>{may("admin") && actions(item)}</ViewHeader>
          {children(item)}
        </>
      )}
    </>
  );
}

export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="card administration-facts">{children}</dl>;
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The identifier, for configuration and support. */
export function IdFact({ id }: { readonly id: string }) {
  return (
    <Fact name="ID">
      <span class="administration-id">
        <code>{id}</code>
        <CopyButton text={id} label="Copy the ID" iconOnly />
      </span>
    </Fact>
  );
}

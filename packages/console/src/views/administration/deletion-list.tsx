/** Deletions of data, the newest first: of one organization, or of all that the caller may see. */
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { href } from "../../state/address.ts";
import { useNames, usePagedList, type Names } from "./admin-lists.ts";
import { rowsText, stateText, whatOf } from "./deletion-text.ts";

const shown = 20;

type Listed = Deletion & { readonly id: string };

/** @param version changes when the list has to be loaded again */
export function DeletionsOfOrganization({
  organizationId,
  version,
}: {
  readonly organizationId: string;
  readonly version: number;
}) {
  const query = useQuery(
    (signal) =>
      requestJson<{ readonly data: readonly Listed[] }>(
        `admin/v1/deletions?order=desc&limit=${shown}&organization_id=${encodeURIComponent(organizationId)}`,
        { signal },
      ),
    [organizationId, version],
  );
  const deletions = query.data.value?.data ?? [];
  if (deletions.length === 0) return null;
  return (
    <>
      <div class="row">
        <h2>Deletions</h2>
        <button type="button" class="button" onClick={query.reload}>
          Refresh
        </button>
      </div>
      <DeletionTable deletions={deletions} />
    </>
  );
}

/** Also those of organizations that no longer exist. */
export function DeletionList() {
  const { query, more } = usePagedList<Listed>("deletions", {});
  const names = useNames().data.value;
  const page = query.data.value;
  if (query.error.value !== undefined) return <ErrorState error={query.error.value} onRetry={query.reload} />;
  if (page === undefined) return <Loading what="deletions" />;
  if (page.data.length === 0) {
    return (
      <EmptyState title="Nothing was deleted yet" icon="administration">
        <p>Organizations, projects and conversations have a button to delete them. Receipts are kept here.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <DeletionTable deletions={page.data} names={names} withOrganization />
      {page.has_more && (
        <div class="row">
          <button type="button" class="button" disabled={query.loading.value} onClick={more}>
            Show more
          </button>
        </div>
      )}
    </>
  );
}

function DeletionTable({
  deletions,
  names,
  withOrganization = false,
}: {
  readonly deletions: readonly Listed[];
  readonly names?: Names | undefined;
  readonly withOrganization?: boolean;
}) {
  // The page of each has the others.
  const onNarrow = new Set(["What", "Requested", "Gone from the disk"]);
  const titles = ["What", "Requested", "Rows", "Gone from queries", "Gone from the disk"];
  if (withOrganization) titles.splice(1, 0, "Organization");
  return (
    <div class="administration-frame">
      <table class="table">
        <thead>
          <tr>
            {titles.map((title) => (
              <th key={title} scope="col" class={onNarrow.has(title) ? "" : "administration-wide"}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deletions.map((each) => (
            <tr key={each.id}>
              <th scope="row">
                <a data-row class="foreign" href={href(`administration/deletions/${each.id}`)}>
                  {whatOf(each)}
                </a>
              </th>
              {withOrganization && (
                <td class="foreign administration-wide">
                  {names?.organizations.get(each.organization_id)?.name ?? each.organization_id}
                </td>
              )}
              <td>{formatTime(each.created_at * 1000)}</td>
              <td class="administration-wide">{rowsText(each.rows)}</td>
              <td class="administration-wide">{stateText(each, each.hidden_at)}</td>
              <td>{stateText(each, each.erased_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

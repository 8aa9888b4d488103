/** The list of organizations. */
import type { Organization } from "../../api/admin-types.ts";
import { formatTime } from "../../design/format.ts";
import { href, navigate } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { usePagedList } from "./admin-lists.ts";
import { closeDialog, isDialogOpen } from "./dialogs.ts";
import { limitTexts, limitTitles, type LimitName } from "./limit-fields.tsx";
import { listsEnded, listSearch, ObjectTable, type Column } from "./object-table.tsx";
import { OrganizationDialog } from "./organization-dialog.tsx";

const columns: readonly Column<Organization>[] = [
  {
    title: "Name",
    render: ({ id, name, archived_at }) => (
      <>
        <a data-row class="foreign" href={href(`administration/organizations/${id}`)}>
          {name}
        </a>{" "}
        {archived_at !== null && <span class="badge">archived</span>}
      </>
    ),
  },
  {
    title: "Limits",
    render: ({ limits }) => {
      const texts = limitTexts(limits);
      const set = (Object.keys(limitTitles) as LimitName[]).filter((name) => texts[name] !== "");
      if (set.length === 0) return <span class="muted">None of its own</span>;
      return set
        .map((name) => `${Number(texts[name]).toLocaleString("en")} ${limitTitles[name].toLowerCase()}`)
        .join(", ");
    },
  },
  {
    title: "Models",
    wide: true,
    render: ({ allowed_models }) =>
      allowed_models === null ? (
        <span class="muted">All</span>
      ) : (
        <span class="foreign">{allowed_models.slice(0, 4).join(", ") + (allowed_models.length > 4 ? ", …" : "")}</span>
      ),
  },
  { title: "Created", wide: true, render: ({ created_at }) => formatTime(created_at * 1000).slice(0, 10) },
];

export function OrganizationList() {
  const list = usePagedList<Organization>("organizations", {
    search: listSearch.value,
    include_archived: listsEnded.value === "1" ? "true" : undefined,
  });
  const operator = session.value?.operator === true;
  return (
    <>
      <ObjectTable
        list={list}
        columns={columns}
        what="organizations"
        endedLabel="Archived too"
        createLabel={operator ? "New organization" : undefined}
      />
      {operator && isDialogOpen("create") && (
        <OrganizationDialog
          onClose={closeDialog}
          onDone={({ id }) => navigate(href(`administration/organizations/${id}`), { replace: true })}
        />
      )}
    </>
  );
}

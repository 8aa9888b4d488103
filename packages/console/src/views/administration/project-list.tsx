/** The list of projects. */
import type { Project } from "../../api/admin-types.ts";
import { formatTime } from "../../design/format.ts";
import { href, navigate, parameter } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useNames, usePagedList } from "./admin-lists.ts";
import { closeDialog, isDialogOpen } from "./dialogs.ts";
import { listsEnded, listSearch, ObjectTable, type Column } from "./object-table.tsx";
import { OrganizationFilter, OrganizationLink } from "./organization-link.tsx";
import { ProjectDialog } from "./project-dialog.tsx";

const organizationId = parameter("organization");

export function ProjectList() {
  const operator = session.value?.operator === true;
  const names = useNames().data.value;
  const list = usePagedList<Project>("projects", {
    search: listSearch.value,
    organization_id: organizationId.value,
    include_archived: listsEnded.value === "1" ? "true" : undefined,
  });
  const columns: readonly Column<Project>[] = [
    {
      title: "Name",
      render: ({ id, name, archived_at }) => (
        <>
          <a data-row class="foreign" href={href(`administration/projects/${id}`)}>
            {name}
          </a>{" "}
          {archived_at !== null && <span class="badge">archived</span>}
        </>
      ),
    },
    ...(operator
      ? [
          {
            title: "Organization",
            render: (project: Project) => <OrganizationLink id={project.organization_id} names={names} />,
          },
        ]
      : []),
    { title: "Retention", render: ({ settings }) => `${settings.retention_days} days` },
    {
      title: "Content",
      wide: true,
      render: ({ settings }) =>
        settings.record_content ? <span class="badge warning">recorded</span> : <span class="muted">Not recorded</span>,
    },
    { title: "Created", wide: true, render: ({ created_at }) => formatTime(created_at * 1000).slice(0, 10) },
  ];
  return (
    <>
      <ObjectTable list={list} columns={columns} what="projects" endedLabel="Archived too" createLabel="New project">
        <OrganizationFilter names={names} />
      </ObjectTable>
      {isDialogOpen("create") && (
        <ProjectDialog
          names={names}
          organizationId={organizationId.value}
          onClose={closeDialog}
          onDone={({ id }) => navigate(href(`administration/projects/${id}`), { replace: true })}
        />
      )}
    </>
  );
}

/** The list of people. */
import type { Person, Role } from "../../api/people-types.ts";
import { formatAge } from "../../design/format.ts";
import { href, navigate, parameter } from "../../state/address.ts";
import { useNames, usePagedList, type Names } from "./admin-lists.ts";
import { closeDialog, isDialogOpen } from "./dialogs.ts";
import { listsEnded, listSearch, ObjectTable, type Column } from "./object-table.tsx";
import { OrganizationFilter } from "./organization-link.tsx";
import { roleName, useRoles } from "./people-roles.ts";
import { PersonDialog } from "./person-dialog.tsx";

const organizationId = parameter("organization");

export function PeopleList() {
  const names = useNames().data.value;
  const roles = useRoles().data.value;
  const list = usePagedList<Person>("people", {
    search: listSearch.value,
    organization_id: organizationId.value,
    include_disabled: listsEnded.value === "1" ? "true" : undefined,
  });
  return (
    <>
      <ObjectTable
        list={list}
        columns={columnsOf(names, roles)}
        what="people"
        endedLabel="Disabled too"
        createLabel="Add a person"
      >
        <OrganizationFilter names={names} />
      </ObjectTable>
      {isDialogOpen("create") && (
        <PersonDialog
          names={names}
          organizationId={organizationId.value}
          onClose={closeDialog}
          onDone={({ id }) => navigate(href(`administration/people/${id}`), { replace: true })}
        />
      )}
    </>
  );
}

function columnsOf(names: Names | undefined, roles: readonly Role[] | undefined): readonly Column<Person>[] {
  return [
    {
      title: "Person",
      render: ({ disabled_at, email, id, name }) => (
        <>
          <a data-row class="foreign" href={href(`administration/people/${id}`)}>
            {email}
          </a>{" "}
          <span class="small muted foreign">{name}</span>{" "}
          {disabled_at !== null && <span class="badge error">disabled</span>}
        </>
      ),
    },
    {
      title: "Roles",
      render: ({ memberships, operator }) => (
        <span class="row administration-permissions">
          {operator && <span class="badge warning">operator</span>}
          {memberships.map(({ id, project_id: project, role }) => (
            <span key={id} class="badge">
              <span class="foreign">{roleName(roles, role)}</span>
              {project !== null && <span class="foreign"> in {names?.projects.get(project)?.name ?? project}</span>}
            </span>
          ))}
        </span>
      ),
    },
    {
      title: "Last used",
      wide: true,
      render: ({ last_used_at: used }) => (used === null ? "Never" : formatAge(used * 1000)),
    },
  ];
}

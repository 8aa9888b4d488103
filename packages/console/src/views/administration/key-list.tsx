/** The list of API keys. */
import { useSignal } from "@preact/signals";
import type { Key, KeyWithSecret } from "../../api/key-types.ts";
import { href, navigate, parameter, setParameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useNames, usePagedList, type Names } from "./admin-lists.ts";
import { closeDialog, isDialogOpen } from "./dialogs.ts";
import { KeyDialog } from "./key-dialog.tsx";
import { KeyState, lastUse, Permissions } from "./key-state.tsx";
import { listsEnded, listSearch, ObjectTable, type Column } from "./object-table.tsx";
import { OrganizationFilter, OrganizationLink } from "./organization-link.tsx";
import { SecretDialog } from "./secret-dialog.tsx";

const organizationId = parameter("organization");
const projectId = parameter("project_id");

export function KeyList() {
  const created = useSignal<KeyWithSecret | undefined>(undefined);
  const names = useNames().data.value;
  const list = usePagedList<Key>("keys", {
    search: listSearch.value,
    organization_id: organizationId.value,
    project_id: projectId.value,
    include_revoked: listsEnded.value === "1" ? "true" : undefined,
  });
  return (
    <>
      <ObjectTable list={list} columns={columnsOf(names)} what="keys" endedLabel="Revoked too" createLabel="New key">
        <OrganizationFilter names={names} />
        {projectId.value !== undefined && (
          <button type="button" class="button" onClick={() => setParameters({ project_id: undefined })}>
            Bound to <span class="foreign">{names?.projects.get(projectId.value)?.name ?? projectId.value}</span> ✕
          </button>
        )}
      </ObjectTable>
      {isDialogOpen("create") && (
        <KeyDialog
          names={names}
          organizationId={organizationId.value}
          projectId={projectId.value}
          onClose={closeDialog}
          onDone={(key) => {
            created.value = key;
            closeDialog();
            list.query.reload();
          }}
        />
      )}
      {created.value !== undefined && (
        <SecretDialog
          created={created.value}
          onClose={() => {
            const { id } = created.value!;
            created.value = undefined;
            navigate(href(`administration/keys/${id}`));
          }}
        />
      )}
    </>
  );
}

function columnsOf(names: Names | undefined): readonly Column<Key>[] {
  const organization: Column<Key> = {
    title: "Organization",
    wide: true,
    render: (key) => <OrganizationLink id={key.organization_id} names={names} />,
  };
  return [
    {
      title: "Name",
      render: ({ id, name, redacted_secret }) => (
        <>
          <a data-row class="foreign" href={href(`administration/keys/${id}`)}>
            {name}
          </a>{" "}
          <code class="small muted administration-redacted">{redacted_secret}</code>
        </>
      ),
    },
    { title: "State", render: (key) => <KeyState item={key} /> },
    ...(session.value?.operator === true ? [organization] : []),
    {
      title: "Project",
      wide: true,
      render: ({ project_id }) =>
        project_id === null ? (
          <span class="muted">Any</span>
        ) : (
          <a class="foreign" href={href(`administration/projects/${project_id}`)}>
            {names?.projects.get(project_id)?.name ?? project_id}
          </a>
        ),
    },
    { title: "Permissions", wide: true, render: (key) => <Permissions item={key} /> },
    { title: "Last used", wide: true, render: (key) => <span class="administration-nowrap">{lastUse(key)}</span> },
  ];
}

/** One person: the roles, and whether the person may sign in. */
import { useSignal } from "@preact/signals";
import type { Membership, Person } from "../../api/people-types.ts";
import { request, requestJson } from "../../api/request.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { may, session } from "../../state/session.ts";
import { useNames } from "./admin-lists.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { closeDialog, isDialogOpen, showDialog } from "./dialogs.ts";
import { Fact, Facts, IdFact, ObjectPage, useObject } from "./object-page.tsx";
import { OrganizationLink } from "./organization-link.tsx";
import { roleName, useRoles } from "./people-roles.ts";
import { LinkDialog } from "./link-dialog.tsx";
import { AddRoleDialog } from "./person-dialog.tsx";

export function PersonPage({ id }: { readonly id: string }) {
  const query = useObject<Person>(`people/${id}`);
  const names = useNames().data.value;
  const problem = useSignal<Error | undefined>(undefined);
  const isLinkOpen = useSignal(false);
  const finish = () => {
    closeDialog();
    query.reload();
  };
  const change = async (work: () => Promise<unknown>) => {
    problem.value = undefined;
    await work().catch((error: unknown) => (problem.value = error as Error));
    query.reload();
  };
  const setDisabled = (disabled: boolean) =>
    requestJson<Person>(`admin/v1/people/${id}`, { method: "PATCH", json: { disabled } });
  return (
    <ObjectPage
      query={query}
      kind="people"
      actions={({ disabled_at }) => (
        <>
          {session.value!.operator && disabled_at === null && (
            <button type="button" class="button" onClick={() => (isLinkOpen.value = true)}>
              Link to choose a password
            </button>
          )}
          <button type="button" class="button" onClick={() => showDialog("add_role")}>
            Give a role
          </button>
          {disabled_at === null ? (
            <button type="button" class="button danger" onClick={() => showDialog("revoke")}>
              Disable
            </button>
          ) : (
            <button type="button" class="button" onClick={() => void change(() => setDisabled(false))}>
              Enable
            </button>
          )}
        </>
      )}
    >
      {(person) => (
        <>
          <Facts>
            <Fact name="State">
              {person.disabled_at === null ? (
                <span class="badge success">Active</span>
              ) : (
                <span class="badge error">Disabled {formatTime(person.disabled_at * 1000)}</span>
              )}
              {person.operator && <span class="badge warning">operator</span>}
            </Fact>
            <Fact name="Mail address">
              <span class="foreign">{person.email}</span>
            </Fact>
            <IdFact id={person.id} />
            <Fact name="Added">{formatTime(person.created_at * 1000)}</Fact>
            <Fact name="Last used">
              {person.last_used_at === null ? "Never" : formatTime(person.last_used_at * 1000)}
            </Fact>
          </Facts>
          <h2>Roles</h2>
          {problem.value !== undefined && (
            <Notice kind="error">
              <span class="foreign">{problem.value.message}</span>
            </Notice>
          )}
          <div class="administration-frame">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Role</th>
                  <th scope="col">Organization</th>
                  <th scope="col">Project</th>
                  <th scope="col">
                    <span class="visually-hidden">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {person.memberships.map((membership) => (
                  <tr key={membership.id}>
                    <th scope="row">
                      <RoleChoice membership={membership} change={change} />
                    </th>
                    <td>
                      <OrganizationLink id={membership.organization_id} names={names} />
                    </td>
                    <td class="foreign">
                      {membership.project_id === null
                        ? "All"
                        : (names?.projects.get(membership.project_id)?.name ?? membership.project_id)}
                    </td>
                    <td>
                      {may("admin") && (
                        <button
                          type="button"
                          class="button small"
                          onClick={() =>
                            void change(() => request(`admin/v1/memberships/${membership.id}`, { method: "DELETE" }))
                          }
                        >
                          Remove
                        </button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {isDialogOpen("add_role") && (
            <AddRoleDialog
              names={names}
              personId={id}
              organizationId={person.memberships[0]?.organization_id}
              onClose={closeDialog}
              onDone={finish}
            />
          )}
          {isLinkOpen.value && <LinkDialog personId={id} onClose={() => (isLinkOpen.value = false)} />}
          {isDialogOpen("revoke") && (
            <ConfirmDialog
              title="Disable the person"
              name={person.email}
              action="Disable"
              onClose={closeDialog}
              onConfirm={async () => {
                await setDisabled(true);
                finish();
              }}
            >
              The sessions of <strong class="foreign">{person.name}</strong> end, and personal keys are revoked for
              good.
            </ConfirmDialog>
          )}
        </>
      )}
    </ObjectPage>
  );
}

/** The role, which administrators change in place. */
function RoleChoice({
  membership: { id, organization_id: organizationId, role, source },
  change,
}: {
  readonly membership: Membership;
  readonly change: (work: () => Promise<unknown>) => Promise<void>;
}) {
  const roles = useRoles(organizationId).data.value;
  const shown = <span class="foreign">{roleName(roles, role)}</span>;
  if (source !== "admin")
    return (
      <>
        {shown} <span class="small muted foreign">kept by {source}</span>
      </>
    );
  if (!may("admin") || roles === undefined) return shown;
  return (
    <select
      class="select"
      aria-label="Role"
      value={role}
      onChange={(event) => {
        const json = { role: event.currentTarget.value };
        void change(() => requestJson(`admin/v1/memberships/${id}`, { method: "PATCH", json }));
      }}
    >
      {roles.map((each) => (
        <option key={each.id} value={each.id}>
          {each.name}
        </option>
      ))}
    </select>
  );
}

/** Where a role applies, and which one it is. */
import type { Signal } from "@preact/signals";
import { session } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";
import { Field } from "./form-dialog.tsx";
import { OrganizationOptions } from "./organization-link.tsx";
import { useRoles } from "./people-roles.ts";

export interface ChosenRole {
  readonly organization: Signal<string>;
  /** Empty: the whole organization. */
  readonly project: Signal<string>;
  readonly role: Signal<string>;
}

export function RoleFields({
  names,
  chosen: { organization, project, role },
}: {
  readonly names: Names | undefined;
  readonly chosen: ChosenRole;
}) {
  const roles = useRoles(organization.value).data.value ?? [];
  const projects = [...(names?.projects.values() ?? [])].filter(
    ({ organization_id: of, archived_at: archived }) => of === organization.value && archived === null,
  );
  return (
    <>
      {session.value?.operator === true && (
        <Field name="organization_id" label="Organization">
          {(props) => (
            <select
              {...props}
              class="select"
              value={organization.value}
              onChange={(event) => {
                organization.value = event.currentTarget.value;
                project.value = "";
                role.value = "member";
              }}
            >
              <OrganizationOptions names={names} kept={organization.value} />
            </select>
          )}
        </Field>
      )}
      <Field name="project_id" label="Project">
        {(props) => (
          <select
            {...props}
            class="select"
            value={project.value}
            onChange={(event) => (project.value = event.currentTarget.value)}
          >
            <option value="">The whole organization</option>
            {projects.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <RoleField roles={roles} role={role} />
    </>
  );
}

/** The choice of a role, with what it grants. */
export function RoleField({
  roles,
  role,
}: {
  readonly roles: readonly { readonly id: string; readonly name: string; readonly permissions: readonly string[] }[];
  readonly role: Signal<string>;
}) {
  const granted = roles.find(({ id }) => id === role.value)?.permissions.join(", ");
  return (
    <Field name="role" label="Role" hint={granted}>
      {(props) => (
        <select
          {...props}
          class="select"
          value={role.value}
          onChange={(event) => (role.value = event.currentTarget.value)}
        >
          {roles.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Adds a person with a first role, or gives a person one more role. */
import { useSignal } from "@preact/signals";
import type { Membership, Person } from "../../api/people-types.ts";
import { requestJson } from "../../api/request.ts";
import { session } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";
import { Field, FormDialog } from "./form-dialog.tsx";
import { RoleFields, type ChosenRole } from "./role-fields.tsx";

interface DialogProps<Done> {
  readonly names: Names | undefined;
  readonly organizationId?: string | undefined;
  readonly onClose: () => void;
  readonly onDone: (done: Done) => void;
}

function useChosenRole(organizationId: string | undefined): ChosenRole {
  return {
    organization: useSignal(organizationId ?? session.value!.organization_id),
    project: useSignal(""),
    role: useSignal("member"),
  };
}

function placeOf({ organization, project, role }: ChosenRole) {
  return {
    organization_id: organization.value,
    project_id: project.value === "" ? null : project.value,
    role: role.value,
  };
}

export function PersonDialog({ names, organizationId, onClose, onDone }: DialogProps<Person>) {
  const email = useSignal("");
  const name = useSignal("");
  const chosen = useChosenRole(organizationId);
  const add = async () => {
    const json = { email: email.value.trim(), name: name.value.trim() || undefined, ...placeOf(chosen) };
    onDone(await requestJson<Person>("admin/v1/people", { json }));
  };
  return (
    <FormDialog title="Add a person" action="Add" onClose={onClose} onSubmit={add}>
      <Field name="email" label="Mail address" hint="It identifies the person at sign-in.">
        {(props) => (
          <input
            {...props}
            class="input"
            type="email"
            required
            autocomplete="off"
            value={email.value}
            onInput={(event) => (email.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <Field name="name" label="Name" hint="Empty: the address before the @.">
        {(props) => (
          <input
            {...props}
            class="input"
            autocomplete="off"
            value={name.value}
            onInput={(event) => (name.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <RoleFields names={names} chosen={chosen} />
    </FormDialog>
  );
}

export function AddRoleDialog({
  names,
  personId,
  organizationId,
  onClose,
  onDone,
}: DialogProps<Membership> & { readonly personId: string }) {
  const chosen = useChosenRole(organizationId);
  const add = async () => {
    const json = { person_id: personId, ...placeOf(chosen) };
    onDone(await requestJson<Membership>("admin/v1/memberships", { json }));
  };
  return (
    <FormDialog title="Give a role" action="Give" onClose={onClose} onSubmit={add}>
      <RoleFields names={names} chosen={chosen} />
    </FormDialog>
  );
}

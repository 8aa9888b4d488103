/** Creates an API key, or changes its name, expiry and limits. */
import { useSignal } from "@preact/signals";
import type { Key, KeyWithSecret } from "../../api/key-types.ts";
import { requestJson } from "../../api/request.ts";
import { session, type Permission } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";
import { ExpiryField } from "./expiry-field.tsx";
import { Field, FormDialog } from "./form-dialog.tsx";
import { limitChanges, LimitFields, limitTexts } from "./limit-fields.tsx";
import { OrganizationOptions } from "./organization-link.tsx";
import { PermissionFields } from "./permission-fields.tsx";

interface KeyDialogProps {
  readonly names: Names | undefined;
  /** Of the list, to begin with. */
  readonly organizationId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly onClose: () => void;
  readonly onDone: (key: KeyWithSecret) => void;
}

export function KeyDialog({ names, organizationId, projectId, onClose, onDone }: KeyDialogProps) {
  const name = useSignal("");
  const organization = useSignal(organizationId ?? session.value!.organization_id);
  const project = useSignal(projectId ?? "");
  const permissions = useSignal<readonly Permission[]>(["inference", "telemetry_write", "telemetry_read"]);
  const operator = useSignal(false);
  const expiresAt = useSignal<number | null>(null);
  const limits = useSignal(limitTexts());
  const administers = permissions.value.includes("admin");
  const create = async () => {
    const json = {
      name: name.value.trim(),
      organization_id: organization.value,
      project_id: project.value === "" || administers ? null : project.value,
      permissions: permissions.value,
      operator: (operator.value && administers) || undefined,
      expires_at: expiresAt.value,
      limits: limitChanges(limitTexts(), limits.value),
    };
    onDone(await requestJson<KeyWithSecret>("admin/v1/keys", { json }));
  };
  return (
    <FormDialog title="New key" action="Create" onClose={onClose} onSubmit={create}>
      <NameField name={name} />
      {session.value!.operator && (
        <Field name="organization_id" label="Organization">
          {(props) => (
            <select
              {...props}
              class="select"
              value={organization.value}
              onChange={(event) => {
                organization.value = event.currentTarget.value;
                project.value = "";
              }}
            >
              <OrganizationOptions names={names} kept={organization.value} />
            </select>
          )}
        </Field>
      )}
      <Field
        name="project_id"
        label="Bound to project"
        hint={
          administers
            ? 'A key with the permission "admin" cannot be bound to a project.'
            : "A bound key may call for, and read, this project only."
        }
      >
        {(props) => (
          <select
            {...props}
            class="select"
            disabled={administers}
            value={administers ? "" : project.value}
            onChange={(event) => (project.value = event.currentTarget.value)}
          >
            <option value="">Any project</option>
            {projectsOf(names, organization.value).map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <PermissionFields permissions={permissions} operator={operator} />
      <ExpiryField expiresAt={expiresAt} />
      <LimitFields texts={limits} open={false} />
    </FormDialog>
  );
}

/** The projects of an organization that are in use, by name. */
function projectsOf(names: Names | undefined, organizationId: string) {
  return [...(names?.projects.values() ?? [])]
    .filter(({ organization_id, archived_at }) => organization_id === organizationId && archived_at === null)
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

export function KeyEditDialog({
  item,
  onClose,
  onDone,
}: {
  readonly item: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const before = limitTexts(item.limits);
  const name = useSignal(item.name);
  const expiresAt = useSignal(item.expires_at);
  const limits = useSignal(before);
  const save = async () => {
    const json = {
      name: name.value.trim(),
      // An expiry in the past may stay, but could not be set.
      expires_at: expiresAt.value === item.expires_at ? undefined : expiresAt.value,
      limits: limitChanges(before, limits.value),
    };
    await requestJson<Key>(`admin/v1/keys/${item.id}`, { method: "PATCH", json });
    onDone();
  };
  return (
    <FormDialog title="Edit the key" action="Save" onClose={onClose} onSubmit={save}>
      <NameField name={name} />
      <ExpiryField expiresAt={expiresAt} />
      <LimitFields texts={limits} open />
    </FormDialog>
  );
}

function NameField({ name }: { readonly name: { value: string } }) {
  return (
    <Field name="name" label="Name" hint="Who or what uses the key.">
      {(props) => (
        <input
          {...props}
          class="input"
          required
          autocomplete="off"
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Creates a project, or changes how its telemetry is stored. */
import { useSignal } from "@preact/signals";
import type { Project } from "../../api/admin-types.ts";
import { requestJson } from "../../api/request.ts";
import { session } from "../../state/session.ts";
import type { Names } from "./admin-lists.ts";
import { Field, FormDialog } from "./form-dialog.tsx";
import { OrganizationOptions } from "./organization-link.tsx";

const defaultRetentionDays = 30;

export function ProjectDialog({
  project,
  names,
  organizationId,
  onClose,
  onDone,
}: {
  /** Absent: a new one. */
  readonly project?: Project;
  readonly names: Names | undefined;
  /** The organization of a new project, if it is already chosen. */
  readonly organizationId?: string | undefined;
  readonly onClose: () => void;
  readonly onDone: (project: Project) => void;
}) {
  const own = session.value!.organization_id;
  const name = useSignal("");
  const organization = useSignal(organizationId ?? own);
  const retention = useSignal(String(project?.settings.retention_days ?? defaultRetentionDays));
  const content = useSignal(project?.settings.record_content ?? false);
  const save = async () => {
    const settings = { retention_days: Number(retention.value), record_content: content.value };
    const created = { organization_id: organization.value, name: name.value.trim(), settings };
    onDone(
      project === undefined
        ? await requestJson<Project>("admin/v1/projects", { json: created })
        : await requestJson<Project>(`admin/v1/projects/${project.id}`, { method: "PATCH", json: { settings } }),
    );
  };
  return (
    <FormDialog
      title={project === undefined ? "New project" : "Edit the project"}
      action={project === undefined ? "Create" : "Save"}
      onClose={onClose}
      onSubmit={save}
    >
      {project === undefined && (
        <>
          {session.value!.operator && (
            <Field name="organization_id" label="Organization">
              {(props) => (
                <select
                  {...props}
                  class="select"
                  value={organization.value}
                  onChange={(event) => (organization.value = event.currentTarget.value)}
                >
                  <OrganizationOptions names={names} kept={organization.value} />
                </select>
              )}
            </Field>
          )}
          <Field name="name" label="Name" hint="It cannot change later, because telemetry refers to it.">
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
        </>
      )}
      <Field
        name="settings.retention_days"
        label="Retention in days"
        hint="Of telemetry that arrives from now on. Stored telemetry keeps the retention with which it arrived."
      >
        {(props) => (
          <input
            {...props}
            class="input"
            type="number"
            required
            step="1"
            inputMode="numeric"
            value={retention.value}
            onInput={(event) => (retention.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <label class="administration-check">
        <input
          type="checkbox"
          checked={content.value}
          onChange={(event) => (content.value = event.currentTarget.checked)}
        />
        Record prompts and answers in telemetry
      </label>
      <p class="small muted">
        Everyone who may read the project's telemetry can then read the content of its calls. It can contain personal
        data.
      </p>
    </FormDialog>
  );
}

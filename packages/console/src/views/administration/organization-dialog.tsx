/** Creates an organization, or changes its name, models and limits. */
import { useSignal } from "@preact/signals";
import type { Organization } from "../../api/admin-types.ts";
import { requestJson } from "../../api/request.ts";
import { Field, FormDialog } from "./form-dialog.tsx";
import { limitChanges, LimitFields, limitTexts } from "./limit-fields.tsx";

export function OrganizationDialog({
  organization,
  onClose,
  onDone,
}: {
  /** Absent: a new one. */
  readonly organization?: Organization;
  readonly onClose: () => void;
  readonly onDone: (organization: Organization) => void;
}) {
  const before = limitTexts(organization?.limits);
  const name = useSignal(organization?.name ?? "");
  const models = useSignal(organization?.allowed_models?.join("\n") ?? "");
  const limits = useSignal(before);
  const save = async () => {
    const patterns = models.value
      .split("\n")
      .map((pattern) => pattern.trim())
      .filter((pattern) => pattern !== "");
    const json = {
      name: name.value.trim(),
      allowed_models: patterns.length === 0 ? null : patterns,
      limits: limitChanges(before, limits.value),
    };
    const path = organization === undefined ? "" : `/${organization.id}`;
    const method = organization === undefined ? "POST" : "PATCH";
    onDone(await requestJson<Organization>(`admin/v1/organizations${path}`, { method, json }));
  };
  return (
    <FormDialog
      title={organization === undefined ? "New organization" : "Edit the organization"}
      action={organization === undefined ? "Create" : "Save"}
      onClose={onClose}
      onSubmit={save}
    >
      <Field name="name" label="Name">
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
      <Field
        name="allowed_models"
        label="Models that it may call"
        hint="One ID on each line; * matches any text. Empty: all models."
      >
        {(props) => (
          <textarea
            {...props}
            class="textarea mono"
            rows={3}
            spellcheck={false}
            placeholder={"gpt-*\nassistant"}
            value={models.value}
            onInput={(event) => (models.value = event.currentTarget.value)}
          />
        )}
      </Field>
      <LimitFields texts={limits} open={organization !== undefined} />
    </FormDialog>
  );
}

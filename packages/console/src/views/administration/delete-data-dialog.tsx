/** Deletes telemetry of an organization: counts what is selected first, and wants the organization's name typed. */
import { useSignal } from "@preact/signals";
import type { Organization } from "../../api/admin-types.ts";
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { rowsText } from "./deletion-text.ts";
import { Field, FormDialog } from "./form-dialog.tsx";

const fields = [
  ["project_name", "Project", "Empty: all projects."],
  ["conversation_id", "Conversation", "Its ID. Whole traces are deleted."],
  ["end_user_id", "End user", "The user's ID in the telemetry. Whole traces are deleted."],
  ["start", "From", "Such as 2026-01-31T09:30:00Z."],
  ["end", "Until", "Exclusive."],
] as const;

export function DeleteDataDialog({
  organization,
  onClose,
  onDone,
}: {
  readonly organization: Organization;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const preview = useSignal<Deletion | undefined>(undefined);
  const send = (dryRun: boolean) => {
    const selected = Object.entries(texts.value).flatMap(([name, text]) =>
      text.trim() === "" ? [] : [[name, text.trim()]],
    );
    const json = { ...Object.fromEntries(selected), organization_id: organization.id, dry_run: dryRun };
    return requestJson<Deletion>("admin/v1/deletions", { method: "POST", json });
  };
  if (preview.value !== undefined) {
    return (
      <ConfirmDialog
        title="Delete data"
        name={organization.name}
        action="Delete"
        onClose={onClose}
        onConfirm={async () => {
          await send(false);
          onDone();
        }}
      >
        {rowsText(preview.value.rows)} of <strong class="foreign">{organization.name}</strong> are deleted. This cannot
        be undone.
      </ConfirmDialog>
    );
  }
  return (
    <FormDialog
      title="Delete data"
      action="Count"
      onClose={onClose}
      onSubmit={async () => {
        preview.value = await send(true);
      }}
    >
      <p class="muted">Without any condition, all telemetry of the organization is deleted.</p>
      {fields.map(([name, label, hint]) => (
        <Field key={name} name={name} label={label} hint={hint}>
          {(props) => (
            <input
              {...props}
              class="input"
              autocomplete="off"
              spellcheck={false}
              value={texts.value[name] ?? ""}
              onInput={(event) => (texts.value = { ...texts.value, [name]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
    </FormDialog>
  );
}

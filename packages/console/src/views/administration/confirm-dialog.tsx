/** Asks before something that cannot be undone: names what is lost, and wants its name typed. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Notice } from "../../design/states.tsx";
import { Field, FormDialog } from "./form-dialog.tsx";

export function ConfirmDialog({
  title,
  name,
  action,
  onClose,
  onConfirm,
  children,
}: {
  readonly title: string;
  /** What has to be typed. */
  readonly name: string;
  readonly action: string;
  readonly onClose: () => void;
  readonly onConfirm: () => Promise<void>;
  /** What is lost. */
  readonly children: ComponentChildren;
}) {
  const typed = useSignal("");
  return (
    <FormDialog
      title={title}
      action={action}
      danger
      disabled={typed.value.trim() !== name}
      onClose={onClose}
      onSubmit={onConfirm}
    >
      <Notice kind="warning">{children}</Notice>
      <Field name="confirmation" label={`Type ${name} to confirm`}>
        {(props) => (
          <input
            {...props}
            class="input"
            autocomplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => (typed.value = event.currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}

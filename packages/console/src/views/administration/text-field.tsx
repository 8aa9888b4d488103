/** A field of a dialog for one line of text. */
import type { Signal } from "@preact/signals";
import { Field } from "./form-dialog.tsx";

export function TextField({
  name,
  label,
  text,
  hint,
  required = false,
  type = "text",
  autocomplete = "off",
}: {
  readonly name: string;
  readonly label: string;
  readonly text: Signal<string>;
  readonly hint?: string;
  readonly required?: boolean;
  readonly type?: "text" | "password" | "email";
  readonly autocomplete?: string;
}) {
  return (
    <Field name={name} label={label} hint={hint}>
      {(props) => (
        <input
          {...props}
          class="input"
          // The types of Preact know each kind of input only alone.
          // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
          type={type as "text"}
          name={name}
          required={required}
          autocomplete={autocomplete}
          spellcheck={false}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

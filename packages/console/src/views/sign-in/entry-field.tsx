/** A field of a form for people who are not signed in. */
import { useSignal } from "@preact/signals";

export function EntryField({
  name,
  label,
  hint,
  problem,
  type = "text",
  autocomplete,
  value,
  focused = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  /** What the server says about it. */
  readonly problem?: string | undefined;
  readonly type?: "text" | "email" | "password";
  readonly autocomplete: string;
  /** A value that cannot be changed. */
  readonly value?: string | undefined;
  readonly focused?: boolean;
}) {
  const isShown = useSignal(false);
  const help = problem ?? hint;
  return (
    <div class="field">
      <label for={`sign-in-${name}`}>{label}</label>
      <input
        id={`sign-in-${name}`}
        class="input"
        // The types of Preact know each kind of input only alone.
        // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
        type={(isShown.value ? "text" : type) as "text"}
        name={name}
        required
        autocomplete={autocomplete}
        spellcheck={false}
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autofocus={focused}
        aria-invalid={problem !== undefined}
        aria-describedby={help === undefined ? undefined : `sign-in-${name}-help`}
        {...(value === undefined ? {} : { value, readOnly: true })}
      />
      {help !== undefined && (
        <span
          id={`sign-in-${name}-help`}
          class={problem === undefined ? "hint" : "problem foreign"}
          role={problem === undefined ? undefined : "alert"}
        >
          {help}
        </span>
      )}
      {type === "password" && (
        <label class="small muted">
          <input
            type="checkbox"
            checked={isShown.value}
            onChange={(event) => (isShown.value = event.currentTarget.checked)}
          />{" "}
          Show it
        </label>
      )}
    </div>
  );
}

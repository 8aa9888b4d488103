/** The kinds of fields in the settings: each has its name, a hint and what is wrong with its value. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { ParameterName } from "./chat-parameters.ts";
import type { ChatStore } from "./chat-store.ts";

interface FieldProps {
  readonly chat: ChatStore;
  readonly name: ParameterName;
  readonly label: string;
  readonly hint?: string;
}

interface FieldState {
  readonly id: string;
  readonly value: string;
  readonly problem: string | undefined;
  /** Attributes of the control. */
  readonly control: {
    readonly id: string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string;
  };
  onChange(value: string): void;
}

function useField({ chat, name }: FieldProps): FieldState {
  const id = useId();
  const problem = chat.problems.value[name];
  return {
    id,
    value: chat.settings.value.parameters[name],
    problem,
    control: { id, "aria-invalid": problem !== undefined, "aria-describedby": `${id}-about` },
    onChange: (value) => chat.changeParameters({ [name]: value }),
  };
}

function Field({ label, hint, state, children }: FieldBody) {
  return (
    <div class="field">
      <label for={state.id}>{label}</label>
      {children}
      <div id={`${state.id}-about`} class={state.problem === undefined ? "hint" : "problem"}>
        <span class="foreign">{state.problem ?? hint}</span>
      </div>
    </div>
  );
}

interface FieldBody {
  readonly label: string;
  readonly hint: string | undefined;
  readonly state: FieldState;
  readonly children: ComponentChildren;
}

export function TextField({
  placeholder,
  numeric = false,
  ...props
}: FieldProps & { readonly placeholder?: string; readonly numeric?: boolean }) {
  const state = useField(props);
  return (
    <Field label={props.label} hint={props.hint} state={state}>
      <input
        {...state.control}
        class="input"
        inputMode={numeric ? "decimal" : "text"}
        autocomplete="off"
        placeholder={placeholder}
        value={state.value}
        onInput={(event) => state.onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

export function AreaField({
  rows,
  code = false,
  placeholder,
  ...props
}: FieldProps & { readonly rows: number; readonly code?: boolean; readonly placeholder?: string }) {
  const state = useField(props);
  return (
    <Field label={props.label} hint={props.hint} state={state}>
      <textarea
        {...state.control}
        class={`textarea ${code ? "mono" : ""}`}
        rows={rows}
        spellcheck={!code}
        placeholder={placeholder}
        value={state.value}
        onInput={(event) => state.onChange(event.currentTarget.value)}
      />
    </Field>
  );
}

export interface Choice {
  readonly value: string;
  readonly title: string;
}

export function SelectField({ choices, ...props }: FieldProps & { readonly choices: readonly Choice[] }) {
  const state = useField(props);
  const unknown = !choices.some(({ value }) => value === state.value);
  return (
    <Field label={props.label} hint={props.hint} state={state}>
      <select
        {...state.control}
        class="select"
        value={state.value}
        onChange={(event) => state.onChange(event.currentTarget.value)}
      >
        {unknown && <option value={state.value}>{state.value}</option>}
        {choices.map(({ value, title }) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </Field>
  );
}

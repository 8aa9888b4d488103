/** A form in a dialog: sends what was entered, and shows the server's error at the field that it names. */
import { useSignal } from "@preact/signals";
import { createContext, type ComponentChildren, type JSX } from "preact";
import { useContext, useEffect, useId, useRef } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/states.tsx";

interface Form {
  readonly problem: Error | undefined;
  /** The API's names of the fields that are shown. */
  readonly fields: Set<string>;
}

const FormContext = createContext<Form>({ problem: undefined, fields: new Set() });

export function FormDialog({
  title,
  action,
  danger = false,
  disabled = false,
  onClose,
  onSubmit,
  children,
}: {
  readonly title: string;
  /** The label of the button that sends the form. */
  readonly action: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onClose: () => void;
  /** Rejects if the server refuses the input; the form then stays open. */
  readonly onSubmit: () => Promise<void>;
  readonly children: ComponentChildren;
}) {
  const problem = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const fields = useRef(new Set<string>());
  const element = useRef<HTMLFormElement>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    problem.value = undefined;
    try {
      await onSubmit();
    } catch (error) {
      problem.value = error as Error;
    } finally {
      busy.value = false;
    }
  };
  useEffect(() => element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem.value]);
  // The dialog itself would focus its button to close.
  useEffect(() => element.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), []);
  const shownAtField = fieldOf(problem.value, fields.current) !== undefined;
  return (
    <Dialog title={title} onClose={onClose}>
      <form ref={element} class="stack" onSubmit={(event) => void submit(event)}>
        <FormContext.Provider value={{ problem: problem.value, fields: fields.current }}>
          {children}
        </FormContext.Provider>
        {problem.value !== undefined && !shownAtField && (
          <Notice kind="error">
            <span class="foreign">{problem.value.message}</span>
          </Notice>
        )}
        <div class="row administration-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={`button ${danger ? "danger" : "primary"}`} disabled={disabled || busy.value}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The shown field that an error names: of `permissions[0]` the field `permissions`. */
function fieldOf(problem: Error | undefined, fields: ReadonlySet<string>): string | undefined {
  const param = problem instanceof ApiError ? problem.param : undefined;
  if (param === undefined) return undefined;
  return [param, param.replace(/\[\d+\].*$/, "")].find((name) => fields.has(name));
}

/** What a control of a field needs. */
interface ControlProps {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

/** @param name the field's name in the API, as in the `param` of errors */
export function Field({
  name,
  label,
  hint,
  children,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly children: (props: ControlProps) => JSX.Element;
}) {
  const id = useId();
  const { problem, fields } = useContext(FormContext);
  useEffect(() => {
    fields.add(name);
    return () => void fields.delete(name);
  }, [name]);
  const message = fieldOf(problem, fields) === name ? problem!.message : undefined;
  const described = [hint !== undefined && `${id}-hint`, message !== undefined && `${id}-problem`].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": message === undefined ? undefined : "true",
      })}
      {message !== undefined && (
        <span class="problem foreign" id={`${id}-problem`} role="alert">
          {message}
        </span>
      )}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

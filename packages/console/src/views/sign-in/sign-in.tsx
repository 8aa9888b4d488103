/** The page for those who are not signed in: a form for keys, and how to get a link. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Notice } from "../../design/states.tsx";
import { href, navigate, viewId } from "../../state/address.ts";
import { failureText } from "./failure-text.ts";
import { WaysForPeople } from "./ways-for-people.tsx";
import { endReason, loadSession, signIn } from "../../state/session.ts";

const command = "npx sounding console";

export function SignIn() {
  useEffect(() => {
    document.title = "Sign in · Sounding";
    // Someone may have signed in in another tab, which shares the cookie.
    const look = () => void (document.visibilityState === "visible" && loadSession().catch(() => {}));
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card card stack">
        <header class="sign-in-header">
          <img src="icon.svg" alt="" width={32} height={32} />
          <h1>Sign in to Sounding</h1>
        </header>
        {endReason.value !== undefined && (
          <Notice kind="warning">
            <span class="foreign">{endReason.value}</span>
          </Notice>
        )}
        <WaysForPeople />
        <KeyForm />
        <div class="sign-in-link stack">
          <p class="small muted">Or sign in from a terminal where the server's keys are stored:</p>
          <div class="sign-in-command">
            <code>{command}</code>
            <CopyButton text={command} label="Copy the command" iconOnly />
          </div>
        </div>
      </div>
    </main>
  );
}

function KeyForm() {
  const failure = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const submit = async (form: HTMLFormElement) => {
    const [key, operatorKey] = ["key", "operator_key"].map((name) => inputOf(form, name).value.trim());
    busy.value = true;
    failure.value = undefined;
    try {
      await signIn({ key: key!, ...(operatorKey ? { operator_key: operatorKey } : {}) });
      if (viewId.value === "sign-in") navigate(href(""), { replace: true });
    } catch (error) {
      failure.value = error as Error;
      busy.value = false;
      const field = (error as ApiError).param === "operator_key" ? "operator_key" : "key";
      inputOf(form, field).focus();
    }
  };
  const { param } = failure.value instanceof ApiError ? failure.value : { param: undefined };
  const problemOf = (name: string) => (param === name ? failure.value!.message : undefined);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy.value) void submit(event.currentTarget);
      }}
    >
      {failure.value !== undefined && problemOf("key") === undefined && problemOf("operator_key") === undefined && (
        <Notice kind="error">{failureText(failure.value)}</Notice>
      )}
      <KeyField name="key" label="API key" hint="It begins with sk-." problem={problemOf("key")} required />
      <KeyField
        name="operator_key"
        label="Operator key (optional)"
        hint="For administration, if you have one."
        problem={problemOf("operator_key")}
      />
      <button type="submit" class="button primary" aria-disabled={busy.value}>
        {busy.value ? "Signing in…" : "Sign in"}
      </button>
    </form>
  );
}

function inputOf(form: HTMLFormElement, name: string): HTMLInputElement {
  return form.elements.namedItem(name) as HTMLInputElement;
}

function KeyField({
  name,
  label,
  hint,
  problem,
  required = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly problem: string | undefined;
  readonly required?: boolean;
}) {
  return (
    <div class="field">
      <label for={`sign-in-${name}`}>{label}</label>
      <input
        id={`sign-in-${name}`}
        class="input mono"
        type="password"
        name={name}
        required={required}
        autocomplete="off"
        spellcheck={false}
        // oxlint-disable-next-line jsx-a11y/no-autofocus
        autofocus={required}
        aria-invalid={problem !== undefined}
        aria-describedby={`sign-in-${name}-help`}
      />
      <span
        id={`sign-in-${name}-help`}
        class={problem === undefined ? "hint" : "problem"}
        role={problem === undefined ? undefined : "alert"}
      >
        {problem ?? hint}
      </span>
    </div>
  );
}

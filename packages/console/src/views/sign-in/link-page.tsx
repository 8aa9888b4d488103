/** The page of an operator's link: the person chooses a password, and is signed in. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import { Notice } from "../../design/states.tsx";
import { href, navigate } from "../../state/address.ts";
import { signIn } from "../../state/session.ts";
import { accountLink, type AccountLink } from "../../state/sign-in-link.ts";
import { EntryField } from "./entry-field.tsx";
import { failureText } from "./failure-text.ts";

export function LinkPage({ link: { email, token } }: { readonly link: AccountLink }) {
  const failure = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  useEffect(() => {
    document.title = "Choose a password · Sounding";
  }, []);
  const leave = () => {
    accountLink.value = undefined;
    navigate(href(""), { replace: true });
  };
  const submit = async (form: HTMLFormElement) => {
    busy.value = true;
    failure.value = undefined;
    try {
      const { password = "" } = Object.fromEntries(new FormData(form)) as Record<string, string>;
      await signIn({ token, password }, "authentication/account_links");
      leave();
    } catch (error) {
      failure.value = error as Error;
      busy.value = false;
    }
  };
  const isAtField = failure.value instanceof ApiError && failure.value.param === "password";
  return (
    <main class="sign-in">
      <form
        class="sign-in-card card stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy.value) void submit(event.currentTarget);
        }}
      >
        <header class="sign-in-header">
          <img src="icon.svg" alt="" width={32} height={32} />
          <h1>Choose a password</h1>
        </header>
        {failure.value !== undefined && !isAtField && <Notice kind="error">{failureText(failure.value)}</Notice>}
        <EntryField name="email" label="Mail address" type="email" autocomplete="username" value={email} />
        <EntryField
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          focused
          hint="12 to 128 characters, such as several words."
          problem={isAtField ? failure.value!.message : undefined}
        />
        <button type="submit" class="button primary" aria-disabled={busy.value}>
          {busy.value ? "Signing in…" : "Save and sign in"}
        </button>
        <button type="button" class="button" onClick={leave}>
          Cancel
        </button>
      </form>
    </main>
  );
}

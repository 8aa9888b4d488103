/** Signing in with a passkey, or with a mail address, a password, and a one-time code if the account needs one. */
import { useSignal } from "@preact/signals";
import { ApiError } from "../../api/request.ts";
import { Notice } from "../../design/states.tsx";
import { href, navigate, viewId } from "../../state/address.ts";
import { signInWithPasskey } from "../../state/passkeys.ts";
import { signIn } from "../../state/session.ts";
import { EntryField } from "./entry-field.tsx";
import { failureText } from "./failure-text.ts";

/** @param passkeys whether somebody has one */
export function AccountForm({ passkeys }: { readonly passkeys: boolean }) {
  const failure = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const needsCode = useSignal(false);
  const begin = async (prove: () => Promise<void>) => {
    if (busy.value) return;
    busy.value = true;
    failure.value = undefined;
    try {
      await prove();
      if (viewId.value === "sign-in") navigate(href(""), { replace: true });
    } catch (error) {
      const isCodeMissing = error instanceof ApiError && error.code === "second_factor_required";
      if (isCodeMissing) needsCode.value = true;
      else failure.value = error as Error;
      busy.value = false;
    }
  };
  const { param } = failure.value instanceof ApiError ? failure.value : { param: undefined };
  const problemOf = (name: string) => (param === name ? failure.value!.message : undefined);
  const isAtField = ["email", "password", "code"].some((name) => problemOf(name) !== undefined);
  return (
    <form
      class="stack"
      aria-label="Account"
      onSubmit={(event) => {
        event.preventDefault();
        const entered = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
        void begin(() => signIn(entered, "authentication/account_sessions"));
      }}
    >
      {failure.value !== undefined && !isAtField && <Notice kind="error">{failureText(failure.value)}</Notice>}
      <EntryField name="email" label="Mail address" type="email" autocomplete="username" problem={problemOf("email")} />
      <EntryField
        name="password"
        label="Password"
        type="password"
        autocomplete="current-password"
        problem={problemOf("password")}
      />
      {needsCode.value && (
        <EntryField
          name="code"
          label="One-time code"
          hint="Of your authenticator app, or a recovery code."
          autocomplete="one-time-code"
          focused
          problem={problemOf("code")}
        />
      )}
      <button type="submit" class="button primary" aria-disabled={busy.value}>
        {busy.value ? "Signing in…" : "Sign in with the password"}
      </button>
      {passkeys && (
        <button type="button" class="button" aria-disabled={busy.value} onClick={() => void begin(signInWithPasskey)}>
          Sign in with a passkey
        </button>
      )}
    </form>
  );
}

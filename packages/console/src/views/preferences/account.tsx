/** The password and the one-time codes of the person who is signed in; for an operator's key, how to get an account. */
import { useSignal } from "@preact/signals";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { ErrorState, Loading } from "../../design/states.tsx";
import type { Session } from "../../state/session.ts";
import {
  CodesDialog,
  CreateAccountDialog,
  PasswordDialog,
  ProofDialog,
  RecoveryCodes,
  type Codes,
} from "./account-dialogs.tsx";
import { Passkeys } from "./passkeys.tsx";

interface AccountState {
  readonly email: string;
  /** Whether there is one. */
  readonly password: boolean;
  readonly one_time_codes: boolean;
  /** Those that are left. */
  readonly recovery_codes: number;
}

export function Account({ session }: { readonly session: Session }) {
  return session.person === null ? <WithoutPerson isOperator={session.operator} /> : <OwnAccount />;
}

function WithoutPerson({ isOperator }: { readonly isOperator: boolean }) {
  const isOpen = useSignal(false);
  if (!isOperator) return <p class="muted">You are signed in with a key. Ask an operator to invite you as a person.</p>;
  return (
    <>
      <p class="muted">
        You are signed in with a key. With an account, you sign in with a password, and the audit log has your name.
      </p>
      <div class="row">
        <button type="button" class="button primary" onClick={() => (isOpen.value = true)}>
          Create your account
        </button>
      </div>
      {isOpen.value && <CreateAccountDialog onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function OwnAccount() {
  const { data, error, reload } = useQuery((signal) => requestJson<AccountState>("authentication/account", { signal }));
  const open = useSignal<"password" | "codes" | "remove" | "recovery" | undefined>(undefined);
  const codes = useSignal<Codes | undefined>(undefined);
  const close = () => (open.value = undefined);
  const done = (created?: Codes) => {
    codes.value = created;
    close();
    reload();
  };
  const account = data.value;
  if (error.value !== undefined) return <ErrorState error={error.value} onRetry={reload} />;
  if (account === undefined) return <Loading what="your account" />;
  if (!account.password)
    return (
      <p class="muted">You sign in at an identity provider. To have a password as well, ask an operator for a link.</p>
    );
  const own = "authentication/account";
  return (
    <>
      <dl class="preferences-facts">
        <div>
          <dt>Mail address</dt>
          <dd class="foreign">{account.email}</dd>
        </div>
        <div>
          <dt>One-time codes</dt>
          <dd>
            {account.one_time_codes ? `Required; ${account.recovery_codes} recovery codes are left` : "Not required"}
          </dd>
        </div>
      </dl>
      <div class="row">
        <button type="button" class="button" onClick={() => (open.value = "password")}>
          Change the password
        </button>
        <button type="button" class="button" onClick={() => (open.value = "codes")}>
          {account.one_time_codes ? "Use another app" : "Require one-time codes"}
        </button>
        {account.one_time_codes && (
          <>
            <button type="button" class="button" onClick={() => (open.value = "recovery")}>
              New recovery codes
            </button>
            <button type="button" class="button danger" onClick={() => (open.value = "remove")}>
              Remove one-time codes
            </button>
          </>
        )}
      </div>
      {codes.value !== undefined && <RecoveryCodes codes={codes.value} />}
      <Passkeys />
      {open.value === "password" && <PasswordDialog email={account.email} onClose={close} onDone={() => done()} />}
      {open.value === "codes" && <CodesDialog email={account.email} onClose={close} onDone={done} />}
      {open.value === "recovery" && (
        <ProofDialog
          title="New recovery codes"
          action="Create"
          onClose={close}
          onProof={async (json) => done(await requestJson<Codes>(`${own}/recovery_codes`, { json }))}
        />
      )}
      {open.value === "remove" && (
        <ProofDialog
          title="Remove one-time codes"
          action="Remove"
          onClose={close}
          onProof={async (json) => {
            await requestJson(`${own}/one_time_codes/remove`, { json });
            done();
          }}
        />
      )}
    </>
  );
}

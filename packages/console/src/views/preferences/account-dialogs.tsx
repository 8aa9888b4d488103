/** Dialogs that change the own account. Each asks for the current password. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Notice } from "../../design/states.tsx";
import { signIn } from "../../state/session.ts";
import { FormDialog } from "../administration/form-dialog.tsx";
import { TextField } from "../administration/text-field.tsx";

export interface Codes {
  readonly codes: readonly string[];
}

interface DialogProps {
  readonly onClose: () => void;
}

const newPassword = {
  name: "password",
  label: "New password",
  hint: "12 to 128 characters, such as several words.",
  type: "password",
  autocomplete: "new-password",
} as const;
export const currentPassword = {
  name: "current_password",
  label: "Current password",
  type: "password",
  autocomplete: "current-password",
} as const;

/** With an operator's key, a person becomes an owner with an account, and is signed in as such. */
export function CreateAccountDialog({ onClose }: DialogProps) {
  const [email, password] = [useSignal(""), useSignal("")];
  const create = async () => {
    const json = { email: email.value.trim(), role: "owner", operator: true };
    const { id } = await requestJson<{ readonly id: string }>("admin/v1/people", { json });
    const { token } = await requestJson<{ readonly token: string }>(`admin/v1/people/${id}/account_link`, {
      method: "POST",
    });
    await signIn({ token, password: password.value }, "authentication/account_links");
    onClose();
  };
  return (
    <FormDialog title="Create your account" action="Create and sign in" onClose={onClose} onSubmit={create}>
      <p>You become an owner of the organization, and an operator of this server.</p>
      <TextField required text={email} name="email" label="Mail address" type="email" autocomplete="username" />
      <TextField required text={password} {...newPassword} />
    </FormDialog>
  );
}

export function PasswordDialog({
  email,
  onClose,
  onDone,
}: DialogProps & { readonly email: string; readonly onDone: () => void }) {
  const [current, password] = [useSignal(""), useSignal("")];
  const change = async () => {
    const json = { current_password: current.value, password: password.value };
    await requestJson("authentication/account/password", { json });
    onDone();
  };
  return (
    <FormDialog title="Change the password" action="Change" onClose={onClose} onSubmit={change}>
      <p>Your other sessions end.</p>
      <input type="email" autocomplete="username" value={email} readOnly hidden />
      <TextField required text={current} {...currentPassword} />
      <TextField required text={password} {...newPassword} />
    </FormDialog>
  );
}

export function ProofDialog({
  title,
  action,
  onClose,
  onProof,
}: DialogProps & {
  readonly title: string;
  readonly action: string;
  readonly onProof: (json: { readonly current_password: string }) => Promise<void>;
}) {
  const current = useSignal("");
  return (
    <FormDialog
      title={title}
      action={action}
      onClose={onClose}
      onSubmit={() => onProof({ current_password: current.value })}
    >
      <TextField required text={current} {...currentPassword} />
    </FormDialog>
  );
}

export function CodesDialog({
  email,
  onClose,
  onDone,
}: DialogProps & { readonly email: string; readonly onDone: (codes: Codes) => void }) {
  const [current, code] = [useSignal(""), useSignal("")];
  const secret = useMemo(newSecret, []);
  const address = `otpauth://totp/${encodeURIComponent(`Sounding:${email}`)}?secret=${secret}&issuer=Sounding`;
  const add = async () => {
    const json = { current_password: current.value, secret, code: code.value.replaceAll(/\s/g, "") };
    onDone(await requestJson<Codes>("authentication/account/one_time_codes", { json }));
  };
  return (
    <FormDialog title="Require one-time codes" action="Require" onClose={onClose} onSubmit={add}>
      <p>
        Enter this secret in your authenticator app, or <a href={address}>open the app</a> on this device. Then enter
        the code that the app shows.
      </p>
      <div class="administration-secret">
        <code>{secret.replaceAll(/.{4}(?=.)/g, "$& ")}</code>
        <CopyButton text={secret} label="Copy the secret" iconOnly />
      </div>
      <TextField required text={code} name="code" label="Code of the app" autocomplete="one-time-code" />
      <TextField required text={current} {...currentPassword} />
    </FormDialog>
  );
}

export function RecoveryCodes({ codes: { codes } }: { readonly codes: Codes }) {
  return (
    <>
      <Notice kind="warning">
        Save these recovery codes. Each replaces a one-time code once, if you lose the app. They are not shown again.
      </Notice>
      <div class="administration-secret">
        <code>{codes.join(" ")}</code>
        <CopyButton text={codes.join("\n")} label="Copy the recovery codes" iconOnly />
      </div>
    </>
  );
}

/** 160 random bits in base32. */
function newSecret(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => alphabet[byte % alphabet.length]).join("");
}

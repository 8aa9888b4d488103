/** The passkeys of the person who is signed in: adding, renaming and removing them. */
import { useSignal } from "@preact/signals";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { createPasskey } from "../../state/passkeys.ts";
import { FormDialog } from "../administration/form-dialog.tsx";
import { TextField } from "../administration/text-field.tsx";
import { currentPassword, ProofDialog } from "./account-dialogs.tsx";

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly rp_id: string;
  readonly backed_up: boolean;
  readonly created_at: number;
  readonly last_used_at: number | null;
}

const path = "authentication/account/passkeys";
const longestName = 128;

export function Passkeys() {
  const { data, error, reload } = useQuery((signal) =>
    requestJson<{ readonly data: readonly Passkey[] }>(path, { signal }),
  );
  const open = useSignal<{ readonly what: "add" | "rename" | "remove"; readonly of?: Passkey } | undefined>(undefined);
  const close = () => (open.value = undefined);
  const done = () => {
    close();
    reload();
  };
  const { of, what } = open.value ?? {};
  const passkeys = data.value?.data ?? [];
  return (
    <>
      <h3>Passkeys</h3>
      <p class="muted">
        A passkey signs you in without the password and the code. Your device or password manager keeps it.
      </p>
      {error.value !== undefined && <Notice kind="error">{error.value.message}</Notice>}
      {passkeys.length > 0 && (
        <ul class="preferences-list stack" aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <li key={passkey.id} class="row">
              <span>
                <span class="foreign">{passkey.name}</span>
                <span class="small muted foreign"> {factsOf(passkey)}</span>
              </span>
              <button type="button" class="button" onClick={() => (open.value = { what: "rename", of: passkey })}>
                Rename<span class="visually-hidden"> {passkey.name}</span>
              </button>
              <button
                type="button"
                class="button danger"
                onClick={() => (open.value = { what: "remove", of: passkey })}
              >
                Remove<span class="visually-hidden"> {passkey.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        <button type="button" class="button" onClick={() => (open.value = { what: "add" })}>
          Add a passkey
        </button>
      </div>
      {what === "add" && <AddDialog onClose={close} onDone={done} />}
      {what === "rename" && <RenameDialog passkey={of!} onClose={close} onDone={done} />}
      {what === "remove" && (
        <ProofDialog
          title={`Remove the passkey ${of!.name}`}
          action="Remove"
          onClose={close}
          onProof={async (json) => {
            await requestJson(`${path}/${of!.id}/remove`, { json });
            done();
          }}
        />
      )}
    </>
  );
}

function factsOf({ backed_up: isBackedUp, created_at: createdAt, last_used_at: usedAt, rp_id: host }: Passkey): string {
  return [
    `added ${formatTime(createdAt * 1000)}`,
    usedAt === null ? "never used" : `used ${formatTime(usedAt * 1000)}`,
    isBackedUp ? "synchronized" : "on one device",
    // Another one does not work with this page.
    host === location.hostname ? "" : `for ${host}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function AddDialog({ onClose, onDone }: DialogProps) {
  const [name, password] = [useSignal(""), useSignal("")];
  const add = async () => {
    const credential = await createPasskey(password.value);
    // Once the device has it, nothing else is refused.
    await requestJson(path, { json: { name: name.value.trim().slice(0, longestName) || "Passkey", credential } });
    onDone();
  };
  return (
    <FormDialog title="Add a passkey" action="Add" onClose={onClose} onSubmit={add}>
      <TextField required text={name} name="name" label="Name" hint="Such as the name of the device." />
      <TextField required text={password} {...currentPassword} />
    </FormDialog>
  );
}

function RenameDialog({ passkey, onClose, onDone }: DialogProps & { readonly passkey: Passkey }) {
  const name = useSignal(passkey.name);
  const rename = async () => {
    await requestJson(`${path}/${passkey.id}`, { method: "PATCH", json: { name: name.value.trim() } });
    onDone();
  };
  return (
    <FormDialog title="Rename the passkey" action="Rename" onClose={onClose} onSubmit={rename}>
      <TextField required text={name} name="name" label="Name" />
    </FormDialog>
  );
}

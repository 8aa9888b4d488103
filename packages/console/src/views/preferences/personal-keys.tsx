/** The API keys of the person who is signed in: listing, creating and revoking them. */
import { useSignal } from "@preact/signals";
import type { Key, KeyWithSecret } from "../../api/key-types.ts";
import { request, requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { ErrorState, Loading, Notice } from "../../design/states.tsx";
import { may, session, type Permission, type Session } from "../../state/session.ts";
import { ExpiryField } from "../administration/expiry-field.tsx";
import { FormDialog } from "../administration/form-dialog.tsx";
import { KeyState, lastUse } from "../administration/key-state.tsx";
import { permissionNames, PermissionFields } from "../administration/permission-fields.tsx";
import { SecretDialog } from "../administration/secret-dialog.tsx";
import { TextField } from "../administration/text-field.tsx";

const path = "authentication/keys";
const mostShown = 100;
/** Those of new keys, of which the person may lack some. */
const ordinary: ReadonlySet<Permission> = new Set(["inference", "telemetry_write", "telemetry_read"]);

interface KeyPage {
  readonly data: readonly Key[];
  readonly has_more: boolean;
}

export function PersonalKeys({ of: { organization, permissions } }: { readonly of: Session }) {
  if (permissions.includes("personal_keys")) return <KeyList />;
  return (
    <p class="muted">
      Your role in <span class="foreign">{organization}</span> does not include keys of your own (
      <code>personal_keys</code>). Ask an administrator for another role, or for a key.
    </p>
  );
}

function KeyList() {
  const { data, error, reload } = useQuery(
    (signal) =>
      // Another organization has other keys.
      requestJson<KeyPage>(path, { query: { limit: mostShown }, signal }),
    [session.value?.organization_id],
  );
  const isCreating = useSignal(false);
  const created = useSignal<KeyWithSecret | undefined>(undefined);
  const revoking = useSignal<Key | undefined>(undefined);
  const page = data.value;
  if (error.value !== undefined) return <ErrorState error={error.value} onRetry={reload} />;
  if (page === undefined) return <Loading what="your keys" />;
  return (
    <>
      <p class="muted">
        With a key, your programs call the API as you: never with more permissions than you have, and not after you
        leave.
      </p>
      {page.data.length > 0 && (
        <ul class="preferences-list stack" aria-label="Your keys">
          {page.data.map((key) => (
            <li key={key.id} class="row">
              <span>
                <span class="foreign">{key.name}</span> <code class="small muted">{key.redacted_secret}</code>{" "}
                <KeyState item={key} />
                <span class="small muted"> {`${key.permissions.join(", ")} · last used: ${lastUse(key)}`}</span>
              </span>
              <button type="button" class="button danger" onClick={() => (revoking.value = key)}>
                Revoke<span class="visually-hidden"> {key.name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {page.has_more && <Notice>These are the newest {mostShown} keys.</Notice>}
      <div class="row">
        <button type="button" class="button" onClick={() => (isCreating.value = true)}>
          New key
        </button>
      </div>
      {isCreating.value && (
        <CreateDialog
          onClose={() => (isCreating.value = false)}
          onDone={(key) => {
            created.value = key;
            isCreating.value = false;
            reload();
          }}
        />
      )}
      {created.value !== undefined && (
        <SecretDialog created={created.value} onClose={() => (created.value = undefined)} />
      )}
      {revoking.value !== undefined && (
        <RevokeDialog
          of={revoking.value}
          onClose={() => (revoking.value = undefined)}
          onDone={() => {
            revoking.value = undefined;
            reload();
          }}
        />
      )}
    </>
  );
}

function CreateDialog({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: (key: KeyWithSecret) => void;
}) {
  const offered = permissionNames.filter(may);
  const name = useSignal("");
  const permissions = useSignal<readonly Permission[]>(offered.filter((each) => ordinary.has(each)));
  const expiresAt = useSignal<number | null>(null);
  const create = async () => {
    const json = { name: name.value.trim(), permissions: permissions.value, expires_at: expiresAt.value };
    onDone(await requestJson<KeyWithSecret>(path, { json }));
  };
  return (
    <FormDialog title="New key of your own" action="Create" onClose={onClose} onSubmit={create}>
      <TextField required text={name} name="name" label="Name" hint="What uses the key." />
      <PermissionFields permissions={permissions} offered={offered} />
      <ExpiryField expiresAt={expiresAt} />
    </FormDialog>
  );
}

function RevokeDialog({
  of: { id, name },
  onClose,
  onDone,
}: {
  readonly of: Key;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const revoke = async () => {
    await request(`${path}/${id}/revoke`, { method: "POST" });
    onDone();
  };
  return (
    <FormDialog title={`Revoke the key ${name}`} action="Revoke" danger onClose={onClose} onSubmit={revoke}>
      <p>What uses the key is refused from now on. This cannot be undone.</p>
    </FormDialog>
  );
}

/** One API key: what it may do, its limits with their usage, and how to edit, rotate or revoke it. */
import { useSignal } from "@preact/signals";
import type { Key, KeyWithSecret } from "../../api/key-types.ts";
import { request } from "../../api/request.ts";
import { formatTime } from "../../design/format.ts";
import { href, navigate } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { useNames } from "./admin-lists.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { closeDialog, isDialogOpen, showDialog } from "./dialogs.ts";
import { KeyEditDialog } from "./key-dialog.tsx";
import { KeyState, lastUse, Permissions } from "./key-state.tsx";
import { Fact, Facts, IdFact, ObjectPage, useObject } from "./object-page.tsx";
import { OrganizationLink } from "./organization-link.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { UsageBars } from "./usage-bars.tsx";

export function KeyPage({ id }: { readonly id: string }) {
  const query = useObject<Key>(`keys/${id}`);
  const names = useNames().data.value;
  const created = useSignal<KeyWithSecret | undefined>(undefined);
  const finish = () => {
    closeDialog();
    query.reload();
  };
  /** Whether this session may change it: only operators change operators' keys. */
  const changes = ({ revoked_at, operator }: Key): boolean =>
    revoked_at === null && (!operator || session.value?.operator === true);
  return (
    <ObjectPage
      query={query}
      kind="keys"
      actions={(key) => changes(key) && <Actions rotates={key.person_id === null} />}
    >
      {(key) => (
        <>
          <Facts>
            <Fact name="State">
              <KeyState item={key} />
            </Fact>
            <Fact name="Secret">
              <code>{key.redacted_secret}</code>
            </Fact>
            <IdFact id={key.id} />
            <Fact name="Organization">
              <OrganizationLink id={key.organization_id} names={names} />
            </Fact>
            <Fact name="Project">
              {key.project_id === null ? (
                "Any"
              ) : (
                <a class="foreign" href={href(`administration/projects/${key.project_id}`)}>
                  {names?.projects.get(key.project_id)?.name ?? key.project_id}
                </a>
              )}
            </Fact>
            <Fact name="Permissions">
              <Permissions item={key} />
            </Fact>
            {key.allowed_models !== null && (
              <Fact name="Models">
                <span class="foreign">{key.allowed_models.join(", ")}</span>
              </Fact>
            )}
            {!key.record_content && <Fact name="Prompts and answers">Not recorded</Fact>}
            {key.person_id !== null && (
              <Fact name="Person">
                <a href={href(`administration/people/${key.person_id}`)}>{key.person_id}</a>
              </Fact>
            )}
            <Fact name="Created">{formatTime(key.created_at * 1000)}</Fact>
            <Fact name="Last used">{lastUse(key)}</Fact>
            <Fact name="Expires">{key.expires_at === null ? "Never" : formatTime(key.expires_at * 1000)}</Fact>
          </Facts>
          <h2>Limits and current usage</h2>
          <UsageBars path={`keys/${id}`} />
          {changes(key) && (
            <Dialogs item={key} onFinish={finish} onCreate={(rotated) => void (created.value = rotated)} />
          )}
          {created.value !== undefined && (
            <SecretDialog
              created={created.value}
              onClose={() => {
                const rotated = created.value!;
                created.value = undefined;
                navigate(href(`administration/keys/${rotated.id}`));
              }}
            />
          )}
        </>
      )}
    </ObjectPage>
  );
}

/** @param rotates personal keys are replaced by their person */
function Actions({ rotates }: { readonly rotates: boolean }) {
  return (
    <>
      <button type="button" class="button" onClick={() => showDialog("edit")}>
        Edit
      </button>
      {rotates && (
        <button type="button" class="button" onClick={() => showDialog("rotate")}>
          Rotate
        </button>
      )}
      <button type="button" class="button danger" onClick={() => showDialog("revoke")}>
        Revoke
      </button>
    </>
  );
}

function Dialogs({
  item,
  onFinish,
  onCreate,
}: {
  readonly item: Key;
  readonly onFinish: () => void;
  readonly onCreate: (key: KeyWithSecret) => void;
}) {
  const isOwn = [session.value?.key_id, session.value?.operator_key_id].includes(item.id);
  if (isDialogOpen("edit")) return <KeyEditDialog item={item} onClose={closeDialog} onDone={onFinish} />;
  if (isDialogOpen("rotate"))
    return (
      <RotateDialog
        item={item}
        onClose={closeDialog}
        onDone={(rotated) => {
          onCreate(rotated);
          closeDialog();
        }}
      />
    );
  if (!isDialogOpen("revoke")) return null;
  return (
    <ConfirmDialog
      title="Revoke the key"
      name={item.name}
      action="Revoke"
      onClose={closeDialog}
      onConfirm={async () => {
        await request(`admin/v1/keys/${item.id}/revoke`, { method: "POST" });
        onFinish();
      }}
    >
      Everything that uses <strong class="foreign">{item.name}</strong> (<code>{item.redacted_secret}</code>) stops
      working at once. This cannot be undone.{isOwn && " You are signed in with this key, and will be signed out."}
    </ConfirmDialog>
  );
}

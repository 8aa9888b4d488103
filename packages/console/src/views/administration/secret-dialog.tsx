/** Shows the secret of a new key, once: closing without having copied it takes a second decision. */
import { useSignal } from "@preact/signals";
import type { KeyWithSecret } from "../../api/key-types.ts";
import { CopyButton } from "../../design/copy-button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/states.tsx";

export function SecretDialog({ created, onClose }: { readonly created: KeyWithSecret; readonly onClose: () => void }) {
  const copied = useSignal(false);
  const leaving = useSignal(false);
  const close = () => {
    if (copied.value || leaving.value) onClose();
    else leaving.value = true;
  };
  return (
    <Dialog title="Save the secret" onClose={close}>
      <p>
        This is the secret of the key <strong class="foreign">{created.name}</strong>. The server stores only its hash:
        the secret is shown now, and never again.
      </p>
      <div
        class="administration-secret"
        onCopy={() => (copied.value = true)}
        onClick={(event) => {
          if ((event.target as Element).closest("button") !== null) copied.value = true;
        }}
      >
        <code>{created.secret}</code>
        <CopyButton text={created.secret} label="Copy the secret" iconOnly />
      </div>
      {leaving.value && (
        <Notice kind="warning">You have not copied the secret. If you close this, nobody can read it again.</Notice>
      )}
      <div class="row administration-buttons">
        {leaving.value && (
          <button type="button" class="button danger" onClick={onClose}>
            Close without copying
          </button>
        )}
        <button type="button" class="button primary" onClick={leaving.value ? () => (leaving.value = false) : close}>
          {leaving.value ? "Go back" : "Done"}
        </button>
      </div>
    </Dialog>
  );
}

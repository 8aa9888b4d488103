/** Deletes a conversation for good: names it, counts what is deleted, and opens the receipt. */
import { useMemo } from "preact/hooks";
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { Notice } from "../../design/states.tsx";
import { session } from "../../state/session.ts";
import { showReceipt } from "../administration/delete-object-dialog.tsx";
import { DeletionCount } from "../administration/deletion-count.tsx";
import { FormDialog } from "../administration/form-dialog.tsx";

export function DeleteConversationDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const selection = useMemo(() => {
    const { organization_id = "", project = null } = session.peek() ?? {};
    // A key of one project shows the part of the conversation that is in it.
    return { organization_id, conversation_id: id, ...(project === null ? {} : { project_name: project }) };
  }, [id]);
  return (
    <FormDialog
      title="Delete the conversation"
      action="Delete"
      danger
      onClose={onClose}
      onSubmit={async () => {
        showReceipt(await requestJson<Deletion>("admin/v1/deletions", { method: "POST", json: selection }));
      }}
    >
      <Notice kind="warning">
        The conversation <strong class="foreign">{id.slice(0, 300)}</strong> is deleted with every trace that has a span
        of it, and with log records and metrics that name it. <DeletionCount selection={selection} /> This cannot be
        undone.
      </Notice>
    </FormDialog>
  );
}

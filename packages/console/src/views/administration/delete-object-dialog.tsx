/** Deletes an organization or a project with its telemetry: counts it, wants the name typed, and opens the receipt. */
import type { ComponentChildren } from "preact";
import type { Deletion } from "../../api/deletion-types.ts";
import { requestJson } from "../../api/request.ts";
import { href, navigate } from "../../state/address.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DeletionCount } from "./deletion-count.tsx";

export function DeleteObjectDialog({
  title,
  name,
  path,
  selection,
  onClose,
  children,
}: {
  readonly title: string;
  /** What has to be typed. */
  readonly name: string;
  /** Such as `projects/proj_…`. */
  readonly path: string;
  /** Its telemetry. */
  readonly selection: Readonly<Record<string, string>>;
  readonly onClose: () => void;
  /** What is deleted besides telemetry. */
  readonly children: ComponentChildren;
}) {
  return (
    <ConfirmDialog
      title={title}
      name={name}
      action="Delete"
      onClose={onClose}
      onConfirm={async () => showReceipt(await requestJson<Deletion>(`admin/v1/${path}`, { method: "DELETE" }))}
    >
      {children} <DeletionCount selection={selection} /> This cannot be undone.
    </ConfirmDialog>
  );
}

/** Opens the page of a deletion that has begun. */
export function showReceipt({ id }: Deletion): void {
  navigate(href(`administration/deletions/${id}`));
}

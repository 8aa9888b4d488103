/** Which dialog is open, in the parameter `dialog` of the address. */
import { parameter, setParameters } from "../../state/address.ts";
import { may } from "../../state/session.ts";

const openDialog = parameter("dialog");

export type DialogName = "create" | "edit" | "add_role" | "rotate" | "revoke" | "archive" | "delete" | "delete_data";

/** Dialogs change something, so a link opens none for those who may only look. */
export function isDialogOpen(name: DialogName): boolean {
  return openDialog.value === name && may("admin");
}

export function showDialog(name: DialogName): void {
  setParameters({ dialog: name });
}

export function closeDialog(): void {
  setParameters({ dialog: undefined }, { replace: true });
}

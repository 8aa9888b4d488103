/** Which dialog is open, in the parameter `dialog` of the address. */
import { parameter, setParameters } from "../../state/address.ts";

const openDialog = parameter("dialog");

export type DialogName = "create" | "edit" | "rotate" | "revoke" | "archive" | "delete" | "delete_data";

export function isDialogOpen(name: DialogName): boolean {
  return openDialog.value === name;
}

export function showDialog(name: DialogName): void {
  setParameters({ dialog: name });
}

export function closeDialog(): void {
  setParameters({ dialog: undefined }, { replace: true });
}

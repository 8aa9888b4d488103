/** The addresses of views. */
import { href, parameters } from "../state/address.ts";

/** Parameters that stay when one goes to another view. */
const sharedParameters = ["from", "to", "project"];

/** The address of a view, with the time range and the project that are selected now. */
export function viewAddress(id: string): string {
  const kept = sharedParameters.map((name) => [name, parameters.value.get(name) ?? undefined] as const);
  return href(id, Object.fromEntries(kept));
}

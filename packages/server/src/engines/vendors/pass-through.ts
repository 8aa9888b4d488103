/** Merges unknown members of a request into the vendor's body. */
import { unsupported } from "./parameter-support.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** Merges `members` into `body`, object by object; throws where a member already exists. */
export function mergeMembers(body: JsonObject, members: JsonObject, label: string, path = ""): void {
  for (const [name, value] of Object.entries(members)) {
    const known = Object.hasOwn(body, name) ? body[name] : undefined;
    if (known === undefined) {
      Object.defineProperty(body, name, { value, enumerable: true, configurable: true, writable: true });
    } else if (isObject(known) && isObject(value)) {
      mergeMembers(known, value, label, `${path}${name}.`);
    } else {
      throw unsupported(label, path + name, "other parameters of the request already set it.");
    }
  }
}

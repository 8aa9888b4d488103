/** Reads the members of a group from a request. */
import { inputLimit } from "../input-limits.ts";
import { isObject } from "../json-object.ts";
import { scimError } from "./scim-error.ts";
import { invalid, requiredText } from "./user-attributes.ts";

const mostChanged = inputLimit({
  area: "Administration",
  bounds: "Members of a group in one request of SCIM",
  value: 1000,
  error: "invalid_request",
});

/** The identifiers of the users. @throws AppError invalid_request (invalidValue) */
export function readMembers(value: unknown): readonly string[] {
  if (value == null) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > mostChanged) {
    throw scimError(
      "invalidValue",
      `members has ${list.length} items; expected at most ${mostChanged}. Add the others with PATCH.`,
      "members",
    );
  }
  const ids = list.map((each) => {
    if (isObject(each)) return requiredText("members.value", each["value"]);
    throw invalid("members", each, 'objects with "value"');
  });
  return [...new Set(ids)];
}

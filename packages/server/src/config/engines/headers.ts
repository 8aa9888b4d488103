/** Further headers of every request to an engine. Their values may be credentials, so all of them are secrets. */
import { Type } from "typebox";
import { secret } from "../secret.ts";

/** A token and a value of visible ASCII: https://www.rfc-editor.org/rfc/rfc9110#section-5.5 */
export const headers = Type.Record(Type.String(), secret("The header's value.", { pattern: "^[\\x20-\\x7e]*$" }), {
  default: {},
  propertyNames: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }),
  description: "Further headers of every request to the engine.",
});

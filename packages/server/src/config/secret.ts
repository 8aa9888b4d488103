/**
 * A setting whose value is never printed: not by `sounding config show`, not in a problem, not in the log.
 * The mark is a keyword in the schema, so whoever walks the schema sees it.
 */
import { Type, type TSchema } from "typebox";

export function secret(description: string, options: { env?: string; pattern?: string } = {}) {
  return Type.String({ minLength: 1, description, secret: true, ...options });
}

export function isSecret(schema: TSchema): boolean {
  return "secret" in schema && schema.secret === true;
}

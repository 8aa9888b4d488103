/** Checks a value against a schema; an error names the field, the value seen and what is allowed. */
import { AppError } from "../errors.ts";
import { check, firstViolation } from "./first-violation.ts";
import type { Schema } from "./schema.ts";

export { showValue } from "./first-violation.ts";

/** Whether the value satisfies the schema. */
export function satisfies<T>(schema: Schema<T>, value: unknown): value is T {
  return check(schema.json, value);
}

/**
 * Returns the value, typed.
 * @throws AppError invalid_request with the first violation
 */
export function validate<T>(schema: Schema<T>, value: unknown): T {
  if (satisfies(schema, value)) return value;
  const { param, message } = firstViolation(schema.json, value);
  throw new AppError("invalid_request", message, { param: param === "" ? undefined : param });
}

/** Reads the parameters of a request for embeddings that a vendor knows, and refuses all others by name. */
import { shown, unsupported } from "./parameter-support.ts";
import type { EmbeddingParameters } from "./vendor.ts";

/** What a parameter may be: one of these values, or whatever the function accepts. */
type Allowed = readonly unknown[] | ((value: unknown) => boolean);

/**
 * @param known the parameters beyond OpenAI's, by name
 * @throws AppError unsupported_parameter
 */
export function refuseUnknownParameters(
  label: string,
  { others }: EmbeddingParameters,
  known: Readonly<Record<string, Allowed>>,
): void {
  for (const [name, value] of Object.entries(others)) {
    const allowed = Object.hasOwn(known, name) ? known[name] : undefined;
    if (allowed === undefined) throw unsupported(label, name, "the model does not have this parameter.");
    if (typeof allowed === "function" ? allowed(value) : allowed.includes(value)) continue;
    const values = typeof allowed === "function" ? "" : ` Allowed are ${allowed.join(", ")}.`;
    throw unsupported(label, name, `its value is ${shown(value)}.${values}`);
  }
}

/**
 * @param allowed lengths of vectors that the model has; undefined if it cannot shorten them
 * @throws AppError unsupported_parameter
 */
export function refuseDimensions(
  label: string,
  { dimensions }: EmbeddingParameters,
  allowed: readonly number[] | undefined,
): void {
  if (dimensions === undefined || allowed?.includes(dimensions) === true) return;
  const reason =
    allowed === undefined
      ? "the model cannot shorten vectors. Omit it."
      : `it is ${dimensions}. Allowed are ${allowed.join(", ")}.`;
  throw unsupported(label, "dimensions", reason);
}

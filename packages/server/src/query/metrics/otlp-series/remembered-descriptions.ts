/**
 * Remembers the metrics and series that a query looked up, until any description of the organization's is written, so that
 * the next query reads only points.
 */
import type { TenantReader } from "../../../store/store.ts";

interface Remembered<Value> {
  readonly version: number;
  readonly value: Value;
}

interface Lookup<Value> {
  /** Identifies the lookup within the organization. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly read: () => Promise<Value>;
  /** Approximate memory of the value. */
  readonly bytesOf: (value: Value) => number;
}

/** The value as it was read, or as it would be read now. */
export async function remembered<Value>(
  { cache, descriptionVersion }: Pick<TenantReader, "cache" | "descriptionVersion">,
  { bytesOf, key, read, signal }: Lookup<Value>,
): Promise<Value> {
  // The version of before the statement: rows that are written meanwhile may be missing in its result.
  const version = await descriptionVersion(signal);
  if (version === undefined) return read();
  const known = cache.get(key) as Remembered<Value> | undefined;
  if (known?.version === version) return known.value;
  const value = await read();
  cache.set(key, { version, value }, bytesOf(value));
  return value;
}

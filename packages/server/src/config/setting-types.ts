/** Types that many settings share: URLs, keys, secrets, durations and sizes. */
import { Type, type TSchema } from "typebox";
import type { SettingLimit } from "../input-limits.ts";

export { httpUrl, sendableKey } from "./setting-patterns.ts";

/** A duration in milliseconds, 1 to one day. */
export function milliseconds(defaultMs: number, description: string, limit?: SettingLimit) {
  return Type.Integer({ minimum: 1, maximum: 86_400_000, default: defaultMs, description, ...limit });
}

/** A size in bytes, 1 KiB to 4 GiB. */
export function bytes(defaultBytes: number, description: string, limit?: SettingLimit) {
  return Type.Integer({ minimum: 1024, maximum: 4_294_967_296, default: defaultBytes, description, ...limit });
}

/**
 * A value that is never printed: not by `sounding config show`, in a problem, or in the log. The mark is a keyword of the
 * schema, so that everything that walks the schema sees it.
 */
export function secret(description: string, options: { env?: string; pattern?: string } = {}) {
  return Type.String({ minLength: 1, description, secret: true, ...options });
}

export function isSecret(schema: TSchema): boolean {
  return "secret" in schema && schema.secret === true;
}

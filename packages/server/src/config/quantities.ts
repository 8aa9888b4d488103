/** Settings that are amounts. A setting with a default is never absent once the configuration is loaded. */
import { Type } from "typebox";
import type { SettingLimit } from "../input-limits.ts";

/** A time in milliseconds, 1 to one day. */
export function milliseconds(defaultMs: number, description: string, limit?: SettingLimit) {
  return Type.Integer({ minimum: 1, maximum: 86_400_000, default: defaultMs, description, ...limit });
}

/** A size in bytes, 1 KiB to 4 GiB. */
export function bytes(defaultBytes: number, description: string, limit?: SettingLimit) {
  return Type.Integer({ minimum: 1024, maximum: 4_294_967_296, default: defaultBytes, description, ...limit });
}

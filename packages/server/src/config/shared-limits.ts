/** Checks that the backend of `limits.shared` has an address. */
import { isObject } from "../json-object.ts";
import type { SettingPath } from "./problem.ts";

export function checkSharedLimits(
  shared: unknown,
  storage: Readonly<Record<string, unknown>>,
  report: (path: SettingPath, message: string) => void,
): void {
  if (!isObject(shared)) return;
  const path = ["limits", "shared", "backend"];
  if (shared["backend"] === "postgres" && storage["database_url"] === undefined) {
    report(
      path,
      'limits.shared.backend is "postgres", but storage.database_url (DATABASE_URL) is not set; set it, or use "valkey" or "none".',
    );
  }
  if (shared["backend"] === "valkey" && shared["valkey_url"] === undefined) {
    report(
      path,
      'limits.shared.backend is "valkey", but limits.shared.valkey_url (SOUNDING_VALKEY_URL) is not set; set it, or use "postgres" or "none".',
    );
  }
}

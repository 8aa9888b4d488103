/** Identifiers of organizations, projects and keys: a word for the kind, the time, and 80 random bits. They sort by age. */
import { randomBytes } from "node:crypto";

export type IdentifierKind = "org" | "proj" | "key";

/** A new identifier such as `org_0193…`: 12 hex digits of UNIX milliseconds, then 20 random ones. */
export function newIdentifier(kind: IdentifierKind): string {
  return `${kind}_${Date.now().toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`;
}

export function isIdentifier(kind: IdentifierKind, text: string): boolean {
  return text.startsWith(`${kind}_`) && /^[0-9a-f]{32}$/.test(text.slice(kind.length + 1));
}

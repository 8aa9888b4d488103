/**
 * What the rows of organizations, projects and keys have in common: identifiers, times, limits, permissions, and the check
 * that a row is not archived.
 */
import { randomBytes } from "node:crypto";
import type { LimitChanges } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import type { Permission } from "../permissions.ts";
import type { Limits } from "../tenant.ts";
import type { Reader } from "./database-access.ts";

export type IdentifierKind =
  | "org"
  | "proj"
  | "key"
  | "sess"
  | "agrp"
  | "del"
  | "pers"
  | "role"
  | "memb"
  | "aud"
  | "bgt"
  | "pkey"
  | "suser"
  | "sgroup";

/**
 * A new identifier such as `org_0193…`: 12 hex digits of UNIX milliseconds and 20 random ones. Identifiers sort by
 * creation time.
 */
export function newIdentifier(kind: IdentifierKind): string {
  return `${kind}_${Date.now().toString(16).padStart(12, "0")}${randomBytes(10).toString("hex")}`;
}

export function isIdentifier(kind: IdentifierKind, text: string): boolean {
  return text.startsWith(`${kind}_`) && /^[0-9a-f]{32}$/.test(text.slice(kind.length + 1));
}

/** The current time in UNIX seconds, the unit of the control database and the admin API. */
export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}

export function parseLimits(text: string): Limits {
  return JSON.parse(text) as Limits;
}

export function parsePermissions(text: string): Permission[] {
  return JSON.parse(text) as Permission[];
}

/** Patterns of model IDs; null: all. */
export function parseAllowedModels(text: string | null): string[] | null {
  return text === null ? null : (JSON.parse(text) as string[]);
}

export function formatAllowedModels(patterns: readonly string[] | null | undefined): string | null {
  return patterns == null ? null : JSON.stringify(patterns);
}

/** The limits after a change: a number sets a limit, null removes it. */
export function changeLimits(limits: Limits, changes: LimitChanges | undefined): Limits {
  const merged = Object.entries({ ...limits, ...changes }).filter(([, limit]) => limit != null);
  return Object.fromEntries(merged) as Limits;
}

/** @throws AppError conflict when the row is archived */
export function requireNotArchived(row: { readonly id: string; readonly archived_at: number | null }): void {
  if (row.archived_at !== null) {
    throw new AppError("conflict", `${row.id} is archived and can no longer be changed or used.`);
  }
}

/** @throws AppError not_found, or conflict when the organization is archived */
export async function requireActiveOrganization(database: Reader, id: string): Promise<void> {
  const row = await database
    .selectFrom("organizations")
    .select(["id", "archived_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", `The organization ${JSON.stringify(id)} does not exist.`, {
      param: "organization_id",
    });
  }
  requireNotArchived(row);
}

interface OwnedRows {
  readonly table:
    | "keys"
    | "projects"
    | "alert_groups"
    | "roles"
    | "memberships"
    | "budgets"
    | "scim_users"
    | "scim_groups";
  /** The column of rows that do not count because they are not in use any more. */
  readonly endedAt?: "revoked_at" | "archived_at";
  readonly organizationId: string;
  readonly maximum: number;
  /** What the rows are, and what makes room, for the error. */
  readonly what: string;
  readonly remedy: string;
}

/** @throws AppError conflict when the organization has as many rows as it may have */
export async function requireRoom(database: Reader, rows: OwnedRows): Promise<void> {
  const { ref } = database.dynamic;
  let query = database
    .selectFrom(rows.table)
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .where("organization_id", "=", rows.organizationId);
  if (rows.endedAt !== undefined) query = query.where(ref(rows.endedAt), "is", null);
  const { count } = await query.executeTakeFirstOrThrow();
  if (Number(count) < rows.maximum) return;
  throw new AppError(
    "conflict",
    `The organization has ${count} ${rows.what}, which is the limit. ${rows.remedy} one first.`,
  );
}

/** Users and groups as SCIM shows them (RFC 7643). */
import type { Reader } from "../tenancy/control-database.ts";
import type { ScimGroupRow } from "./groups.ts";
import { mostMembers } from "./groups.ts";
import type { ScimPage } from "./lists.ts";
import { attributesOf, type ScimUserRow } from "./users.ts";

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";
const listSchema = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

export type Resource = Readonly<Record<string, unknown>>;

interface Shown {
  readonly isShown: (attribute: string) => boolean;
  /** The address of the API, such as `https://sounding.example.com/scim/v2`. */
  readonly base: string;
}

/** Which attributes a request wants (RFC 7644, section 3.9). */
export function shownAttributes(query: URLSearchParams): Shown["isShown"] {
  const [wanted, unwanted] = [namesIn(query, "attributes"), namesIn(query, "excludedAttributes")];
  return (attribute) => {
    const name = attribute.toLowerCase();
    if (name === "id" || name === "schemas") return true;
    return wanted.size > 0 ? wanted.has(name) : !unwanted.has(name);
  };
}

/** Parts of attributes count as the whole. */
function namesIn(query: URLSearchParams, name: string): ReadonlySet<string> {
  const names = (query.get(name) ?? "").slice(0, 2000).split(",");
  return new Set(
    names
      .map((each) =>
        each
          .trim()
          .toLowerCase()
          .replace(/^urn:[a-z0-9:.]*:(?:user|group):/, "")
          .replace(/\..*$/, ""),
      )
      .filter((each) => each !== ""),
  );
}

export async function showUsers(
  database: Reader,
  rows: readonly ScimUserRow[],
  { base, isShown }: Shown,
): Promise<readonly Resource[]> {
  const groups = isShown("groups") ? await groupsOf(database, rows) : undefined;
  return rows.map((row) => {
    const { active, displayName, emails, externalId, name, userName } = attributesOf(row);
    return pick(isShown, {
      schemas: [userSchema],
      id: row.id,
      externalId,
      userName,
      name: Object.keys(name).length === 0 ? undefined : name,
      displayName,
      emails: emails.length === 0 ? undefined : emails,
      active,
      groups: groups?.get(row.id) ?? [],
      meta: metaOf("User", row, base),
    });
  });
}

/** Fewer groups than given if they have too many members for one response, but at least one. */
export async function showGroups(
  database: Reader,
  rows: readonly ScimGroupRow[],
  { base, isShown }: Shown,
): Promise<readonly Resource[]> {
  const shown: Resource[] = [];
  let count = 0;
  for (const row of rows) {
    const members = isShown("members") ? await membersOf(database, row, base) : [];
    count += members.length;
    if (shown.length > 0 && count > mostMembers) break;
    shown.push(
      pick(isShown, {
        schemas: [groupSchema],
        id: row.id,
        externalId: row.external_id ?? undefined,
        displayName: row.display_name,
        members,
        meta: metaOf("Group", row, base),
      }),
    );
  }
  return shown;
}

export function toList(resources: readonly Resource[], { startIndex, total }: Omit<ScimPage<never>, "rows">): Resource {
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function pick(isShown: Shown["isShown"], resource: Resource): Resource {
  return Object.fromEntries(Object.entries(resource).filter(([name, value]) => value !== undefined && isShown(name)));
}

function metaOf(type: "User" | "Group", row: ScimUserRow | ScimGroupRow, base: string): Resource {
  return {
    resourceType: type,
    created: new Date(row.created_at * 1000).toISOString(),
    lastModified: new Date(row.updated_at * 1000).toISOString(),
    location: `${base}/${type}s/${row.id}`,
  };
}

async function groupsOf(database: Reader, users: readonly ScimUserRow[]): Promise<ReadonlyMap<string, Resource[]>> {
  if (users.length === 0) return new Map();
  const rows = await database
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .select(["scim_members.user_id as userId", "scim_groups.id as value", "scim_groups.display_name as display"])
    .where(
      "scim_members.user_id",
      "in",
      users.map(({ id }) => id),
    )
    .orderBy("scim_groups.id")
    .limit(mostMembers)
    .execute();
  const found = new Map<string, Resource[]>();
  for (const { display, userId, value } of rows) {
    const groups = found.get(userId) ?? [];
    groups.push({ value, display });
    found.set(userId, groups);
  }
  return found;
}

async function membersOf(database: Reader, { id }: ScimGroupRow, base: string): Promise<readonly Resource[]> {
  const rows = await database
    .selectFrom("scim_members")
    .innerJoin("scim_users", "scim_users.id", "scim_members.user_id")
    .select(["scim_users.id as value", "scim_users.user_name as display"])
    .where("scim_members.group_id", "=", id)
    .orderBy("scim_users.id")
    .execute();
  return rows.map(({ display, value }) => ({ value, display, $ref: `${base}/Users/${value}` }));
}

/** Lists of people and their memberships, as a caller may see them. */
import type { Page } from "../api/admin.ts";
import type { Membership, Person } from "../api/people.ts";
import type { ControlDatabase, Reader } from "./control-database.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import type { MembershipRow } from "./memberships.ts";
import type { PersonRow } from "./people.ts";

/** What the caller may see; undefined: everything. */
export interface VisibleMemberships {
  readonly organizationId: string | undefined;
  /** null: those for the whole organization. */
  readonly projectId: string | null | undefined;
}

interface PeopleFilter extends PageRequest {
  readonly visible: VisibleMemberships;
  readonly includeDisabled: boolean;
}

interface MembershipFilter extends PageRequest {
  readonly visible: VisibleMemberships;
  readonly personId: string | undefined;
}

export async function listPeople(control: ControlDatabase, filter: PeopleFilter): Promise<Page<Person>> {
  return control.read(async (database) => {
    const { after, limit, order = "asc", search, visible } = filter;
    let query = database
      .selectFrom("people")
      .selectAll()
      .orderBy("id", order)
      .limit(limit + 1);
    if (after !== undefined) query = query.where("id", order === "desc" ? "<" : ">", after);
    if (search !== undefined) query = query.where(contains(["name", "email", "id"], search));
    if (!filter.includeDisabled) query = query.where("disabled_at", "is", null);
    if (visible.organizationId !== undefined) {
      query = query.where("id", "in", seen(database, visible).select("person_id"));
    }
    const rows = await query.execute();
    const memberships = await membershipsOf(database, rows, visible);
    return toPage(rows, limit, (row) => toPerson(row, memberships.get(row.id) ?? []));
  });
}

/** The person, if the caller sees one of the memberships, or sees everybody; undefined otherwise. */
export async function readPerson(
  database: Reader,
  id: string,
  visible: VisibleMemberships,
): Promise<Person | undefined> {
  const row = await database.selectFrom("people").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) return undefined;
  const memberships = (await membershipsOf(database, [row], visible)).get(id) ?? [];
  return visible.organizationId !== undefined && memberships.length === 0 ? undefined : toPerson(row, memberships);
}

export async function listMemberships(control: ControlDatabase, filter: MembershipFilter): Promise<Page<Membership>> {
  return control.read(async (database) => {
    const { after, limit, order = "asc", personId, visible } = filter;
    let query = seen(database, visible)
      .selectAll()
      .orderBy("id", order)
      .limit(limit + 1);
    if (after !== undefined) query = query.where("id", order === "desc" ? "<" : ">", after);
    if (personId !== undefined) query = query.where("person_id", "=", personId);
    return toPage(await query.execute(), limit, toMembership);
  });
}

function seen(database: Reader, { organizationId, projectId }: VisibleMemberships) {
  let query = database.selectFrom("memberships");
  if (organizationId !== undefined) query = query.where("organization_id", "=", organizationId);
  if (projectId !== undefined) query = query.where("project_id", projectId === null ? "is" : "=", projectId);
  return query;
}

async function membershipsOf(
  database: Reader,
  people: readonly { readonly id: string }[],
  visible: VisibleMemberships,
): Promise<ReadonlyMap<string, readonly MembershipRow[]>> {
  if (people.length === 0) return new Map();
  const ids = people.map(({ id }) => id);
  const rows = await seen(database, visible).selectAll().where("person_id", "in", ids).orderBy("id").execute();
  return Map.groupBy(rows, ({ person_id: id }) => id);
}

export function toMembership(row: MembershipRow): Membership {
  return { object: "membership", ...row };
}

function toPerson(row: PersonRow, memberships: readonly MembershipRow[]): Person {
  return {
    object: "person",
    id: row.id,
    email: row.email,
    name: row.name,
    operator: row.operator === 1,
    memberships: memberships.map(toMembership),
    created_at: row.created_at,
    disabled_at: row.disabled_at,
    last_used_at: row.last_used_at,
  };
}

/** Reads and ends sessions by their identifiers: those of people, and those that were opened with keys. */
import type { SessionEntry } from "../api/session-list.ts";
import { AppError } from "../errors.ts";
import type { SessionLimits } from "../session.ts";
import type { ControlDatabase, Reader } from "../tenancy/control-database.ts";
import { nowSeconds } from "../tenancy/row-values.ts";
import { personIdleSeconds } from "./person-sessions.ts";

/** Whose sessions are meant. Absent members select nothing. */
export interface SessionFilter {
  readonly id?: string | undefined;
  readonly personId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Of a session: the organization of its keys, or the one that a person chose. */
  readonly organizationId?: string | undefined;
  /** Those that are over them are not listed. */
  readonly limits: SessionLimits;
}

type Entry = Omit<SessionEntry, "current">;

/** The sessions that have not ended, the newest first. @param after the identifier that ended the previous page */
export async function listSessions(
  control: ControlDatabase,
  filter: SessionFilter,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly Entry[]> {
  return await control.read(async (database) => {
    const [ofPeople, ofKeys] = [personSessions(database, filter), keySessions(database, filter)];
    const found = await Promise.all([
      (after === undefined ? ofPeople : ofPeople.where("person_sessions.id", "<", after)).limit(limit).execute(),
      (after === undefined ? ofKeys : ofKeys.where("sessions.id", "<", after)).limit(limit).execute(),
    ]);
    return [...found[0].map(ofPerson), ...found[1].map(ofKey)]
      .toSorted((left, right) => (left.id < right.id ? 1 : -1))
      .slice(0, limit);
  });
}

/** @throws AppError not_found if no session of the filter has the identifier */
export async function endSessionById(
  control: ControlDatabase,
  filter: SessionFilter & { readonly id: string },
): Promise<Entry> {
  return await control.change(async (transaction) => {
    const [person] = await personSessions(transaction, filter).execute();
    const [key] = await keySessions(transaction, filter).execute();
    const entry = person === undefined ? key && ofKey(key) : ofPerson(person);
    if (entry === undefined) throw sessionNotFound(filter.id);
    const table = person === undefined ? "sessions" : "person_sessions";
    await transaction.deleteFrom(table).where("id", "=", filter.id).execute();
    return entry;
  });
}

export function sessionNotFound(id: string): AppError {
  return new AppError("not_found", `The session ${JSON.stringify(id)} does not exist, or has ended.`);
}

function personSessions(database: Reader, { id, keyId, limits, organizationId, personId }: SessionFilter) {
  const now = nowSeconds();
  let query = database
    .selectFrom("person_sessions")
    .innerJoin("people", "people.id", "person_sessions.person_id")
    .selectAll("person_sessions")
    .select("people.email")
    .where("person_sessions.expires_at", ">", now)
    .where("person_sessions.last_used_at", ">", now - personIdleSeconds)
    .where((where) =>
      where.or([
        where("person_sessions.kind", "=", "terminal"),
        where.and([
          where("person_sessions.last_used_at", ">", now - limits.idleSeconds),
          where("person_sessions.created_at", ">", now - limits.longestSeconds),
        ]),
      ]),
    )
    .orderBy("person_sessions.id", "desc");
  if (id !== undefined) query = query.where("person_sessions.id", "=", id);
  if (personId !== undefined) query = query.where("person_sessions.person_id", "=", personId);
  if (organizationId !== undefined) query = query.where("person_sessions.organization_id", "=", organizationId);
  return keyId === undefined ? query : query.where("person_sessions.id", "is", null);
}

function keySessions(database: Reader, { id, keyId, limits, organizationId, personId }: SessionFilter) {
  const now = nowSeconds();
  let query = database
    .selectFrom("sessions")
    .innerJoin("keys", "keys.id", "sessions.key_id")
    .selectAll("sessions")
    .select(["keys.name as keyName", "keys.organization_id as organizationId"])
    .where("keys.revoked_at", "is", null)
    .where("sessions.expires_at", ">", now)
    .where("sessions.last_used_at", ">", now - limits.idleSeconds)
    .where("sessions.created_at", ">", now - limits.longestSeconds)
    .orderBy("sessions.id", "desc");
  if (id !== undefined) query = query.where("sessions.id", "=", id);
  if (keyId !== undefined)
    query = query.where((where) =>
      where.or([where("sessions.key_id", "=", keyId), where("sessions.operator_key_id", "=", keyId)]),
    );
  if (organizationId !== undefined) query = query.where("keys.organization_id", "=", organizationId);
  return personId === undefined ? query : query.where("sessions.id", "is", null);
}

type PersonRow = Awaited<ReturnType<ReturnType<typeof personSessions>["execute"]>>[number];
type KeyRow = Awaited<ReturnType<ReturnType<typeof keySessions>["execute"]>>[number];

function ofPerson(row: PersonRow): Entry {
  return {
    object: "session_entry",
    id: row.id,
    kind: row.kind,
    person_id: row.person_id,
    person: row.email,
    key_id: null,
    key_name: null,
    provider: row.provider,
    organization_id: row.organization_id,
    client: row.client,
    address: row.address,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    expires_at: row.expires_at,
  };
}

function ofKey(row: KeyRow): Entry {
  return {
    object: "session_entry",
    id: row.id,
    kind: "keys",
    person_id: null,
    person: null,
    key_id: row.key_id,
    key_name: row.keyName,
    provider: null,
    organization_id: row.organizationId,
    client: null,
    address: null,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    expires_at: row.expires_at,
  };
}

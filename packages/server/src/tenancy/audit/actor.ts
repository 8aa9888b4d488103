/** Who acts in a request: a person, also with a key of their own, the owner of a token, or else a key. */
import type { AuditedRequest } from "../../http/request-audit.ts";
import type { Reader } from "../database-access.ts";
import type { Actor } from "./entry.ts";

const anonymous: Actor = { kind: "anonymous", id: null, name: null, organizationId: null };

/** Access to the control database without a server. */
export const localKeyId = "local";

export function actorOf({ scope }: Pick<AuditedRequest, "scope">): Actor {
  if (scope === undefined) return anonymous;
  const { keyId, keyName, organizationId, person } = scope.key;
  if (person !== undefined)
    return { kind: isMachine(person) ? "token" : "person", id: person.id, name: person.email, organizationId };
  if (keyId === localKeyId) return { kind: "local", id: keyId, name: keyName, organizationId: null };
  return { kind: "key", id: keyId, name: keyName, organizationId };
}

/** Owners of tokens without a person in the database. */
function isMachine({ id }: { readonly id: string }): boolean {
  return id.startsWith("jwt:");
}

/** The key of a person with which they act; undefined if they need none. */
export function personalKeyOf({ scope }: Pick<AuditedRequest, "scope">): string | undefined {
  const { keyId, person } = scope?.key ?? {};
  return person === undefined || person.id === keyId ? undefined : keyId;
}

/** The key with which somebody signs in, or the person whose key it is. */
export async function keyActor(database: Reader, keyId: string): Promise<Actor> {
  const row = await database
    .selectFrom("keys")
    .leftJoin("people", "people.id", "keys.person_id")
    .select(["keys.name", "keys.organization_id", "people.id as person_id", "people.email"])
    .where("keys.id", "=", keyId)
    .executeTakeFirst();
  if (row?.person_id != null)
    return { kind: "person", id: row.person_id, name: row.email, organizationId: row.organization_id };
  return { kind: "key", id: keyId, name: row?.name ?? null, organizationId: row?.organization_id ?? null };
}

/** Who acts in a request: today a key, or the key of a session. */
import type { AuditedRequest } from "../../http/request-audit.ts";
import type { Reader } from "../database-access.ts";
import type { Actor } from "./entry.ts";

const anonymous: Actor = { kind: "anonymous", id: null, name: null, organizationId: null };

/** Access to the control database without a server. */
export const localKeyId = "local";

export function actorOf({ scope }: Pick<AuditedRequest, "scope">): Actor {
  if (scope === undefined) return anonymous;
  const { keyId, keyName, organizationId } = scope.key;
  if (keyId === localKeyId) return { kind: "local", id: keyId, name: keyName, organizationId: null };
  return { kind: "key", id: keyId, name: keyName, organizationId };
}

/** The key with which somebody signs in. */
export async function keyActor(database: Reader, keyId: string): Promise<Actor> {
  const row = await database
    .selectFrom("keys")
    .select(["name", "organization_id"])
    .where("id", "=", keyId)
    .executeTakeFirst();
  return { kind: "key", id: keyId, name: row?.name ?? null, organizationId: row?.organization_id ?? null };
}

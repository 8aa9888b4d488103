/** Adds to the audit log what the server did about a person who signs in. */
import { inputLimit } from "../input-limits.ts";
import { appendEntries, systemEntry } from "../tenancy/audit/chain.ts";
import { systemActor } from "../tenancy/audit/entry.ts";
import type { Writer } from "../tenancy/control-database.ts";
import { isActiveMembership } from "../tenancy/deactivation.ts";
import type { PersonRow } from "../tenancy/people.ts";

const mostTold = inputLimit({
  area: "Administration",
  bounds: "Organizations of a person whose audit log says that sign-ins are delayed or a passkey was copied",
  value: 10,
  error: { instead: "the others have no entry" },
});

interface PersonEntry {
  readonly action: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** From where, as `clientNetwork` yields it. */
  readonly network: string;
}

/** One entry for each organization of the person, whose administrators see it; one for operators if there is none. */
export async function appendPersonEntry(
  transaction: Writer,
  person: PersonRow,
  { action, details, network }: PersonEntry,
): Promise<void> {
  const organizations = await transaction
    .selectFrom("memberships")
    .innerJoin("organizations", "organizations.id", "memberships.organization_id")
    .select("organization_id as organizationId")
    .distinct()
    .where("person_id", "=", person.id)
    .where("organizations.archived_at", "is", null)
    .where(isActiveMembership())
    .orderBy("organization_id")
    .limit(mostTold)
    .execute();
  const concerned = organizations.length === 0 ? [{ organizationId: null }] : organizations;
  await appendEntries(
    transaction,
    concerned.map(({ organizationId }) => ({
      ...systemEntry(action, details),
      actor: { ...systemActor, organizationId },
      organizationId,
      address: network,
      object: { kind: "person", id: person.id, name: person.email },
    })),
  );
}

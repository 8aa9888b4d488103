/**
 * Which person a user of SCIM is. A person's address decides who signs in as them, so a provider changes it only for somebody who has
 * never signed in and belongs to no other organization.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { findPerson, insertPerson, normalEmail, requirePerson, type PersonRow } from "../tenancy/people.ts";
import { updatePerson } from "../tenancy/person-changes.ts";
import type { ScimOrganization } from "./memberships.ts";
import { addressOf, nameOf, type UserAttributes } from "./user-attributes.ts";

/** The person with the user's address, who may belong to other organizations already. */
export async function findOrAddPerson(transaction: Writer, user: UserAttributes): Promise<PersonRow> {
  const email = addressOf(user);
  return (await findPerson(transaction, { email })) ?? (await insertPerson(transaction, { email, name: nameOf(user) }));
}

/**
 * The person of a user that changed: the same, or another one for another address. A person who has signed in stays, and
 * their address follows at the next sign-in.
 */
export async function followChanges(
  transaction: Writer,
  organization: ScimOrganization,
  personId: string,
  user: UserAttributes,
): Promise<PersonRow> {
  const person = await requirePerson(transaction, personId);
  const email = normalEmail(addressOf(user));
  const isOwn = person.operator === 0 && !(await isMemberElsewhere(transaction, personId, organization.id));
  const isSettled = email === person.email || (await hasSignedIn(transaction, person));
  if (!isSettled && (!isOwn || (await findPerson(transaction, { email })) !== undefined)) {
    return await findOrAddPerson(transaction, user);
  }
  if (!isOwn) return person;
  const name = nameOf(user) ?? person.name;
  if (isSettled && name === person.name) return person;
  return await updatePerson(transaction, personId, { name, email: isSettled ? undefined : email });
}

/** Or can sign in already: with an identity, a password, or a link that sets one. */
async function hasSignedIn(database: Reader, person: PersonRow): Promise<boolean> {
  if (person.last_used_at !== null) return true;
  for (const table of ["identities", "accounts", "account_links"] as const) {
    const found = await database
      .selectFrom(table)
      .select("person_id")
      .where("person_id", "=", person.id)
      .limit(1)
      .executeTakeFirst();
    if (found !== undefined) return true;
  }
  return false;
}

/** Also by a provider of another organization, which has deactivated the person. */
async function isMemberElsewhere(database: Reader, personId: string, organizationId: string): Promise<boolean> {
  for (const table of ["memberships", "scim_users"] as const) {
    const row = await database
      .selectFrom(table)
      .select("id")
      .where("person_id", "=", personId)
      .where("organization_id", "!=", organizationId)
      .limit(1)
      .executeTakeFirst();
    if (row !== undefined) return true;
  }
  return false;
}

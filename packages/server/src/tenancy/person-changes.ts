/** Changes to a person, and what follows from them. Callers check permissions. */
import type { Reader, Writer } from "./control-database.ts";
import { requireRemainingOwner } from "./memberships.ts";
import { normalEmail, rejectEmailConflict, requirePerson, revokePersonalKeys, type PersonRow } from "./people.ts";
import { nowSeconds } from "./row-values.ts";

export interface PersonChanges {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly operator?: boolean | undefined;
  readonly disabled?: boolean | undefined;
}

/**
 * Changes a person. Disabling revokes the personal keys, for good, and ends every other access of the person at the next check.
 * @throws AppError not_found, or conflict if another person has the address or an organization would be left without an owner
 */
export async function updatePerson(transaction: Writer, id: string, changes: PersonChanges): Promise<PersonRow> {
  const row = await requirePerson(transaction, id);
  const disabledAt = changes.disabled === true ? (row.disabled_at ?? nowSeconds()) : null;
  const values = {
    email: changes.email === undefined ? row.email : normalEmail(changes.email),
    name: changes.name ?? row.name,
    operator: changes.operator === undefined ? row.operator : Number(changes.operator),
    disabled_at: changes.disabled === undefined ? row.disabled_at : disabledAt,
  };
  const update = () =>
    rejectEmailConflict(values.email, () =>
      transaction.updateTable("people").set(values).where("id", "=", id).execute(),
    );
  const owned =
    row.disabled_at === null && values.disabled_at !== null ? await ownedOrganizations(transaction, id) : [];
  const run = owned.reduce<() => Promise<void>>(
    (change, organizationId) => () => requireRemainingOwner(transaction, organizationId, change),
    update,
  );
  await run();
  if (values.disabled_at !== null) await revokePersonalKeys(transaction, id);
  return { ...row, ...values };
}

/** The organizations of which the person is an owner. */
async function ownedOrganizations(database: Reader, personId: string): Promise<readonly string[]> {
  const rows = await database
    .selectFrom("memberships")
    .select("organization_id")
    .distinct()
    .where("person_id", "=", personId)
    .where("project_id", "is", null)
    .where("role", "=", "owner")
    .execute();
  return rows.map(({ organization_id: id }) => id);
}

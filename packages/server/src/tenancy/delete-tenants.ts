/** Deletes organizations and projects: archives them at once, and removes their rows once their telemetry is gone. */
import type { Deletion } from "../api/deletions.ts";
import { AppError } from "../errors.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { insertDeletion } from "./deletions.ts";
import { archiveOrganizationIn } from "./organizations.ts";
import { revokePersonalKeys } from "./people.ts";
import { archiveProjectIn } from "./projects.ts";

/**
 * Archives the organization, which revokes its keys, and adds its deletion.
 * @throws AppError not_found, or conflict when no operator's key would be left
 */
export async function beginOrganizationDeletion(
  control: ControlDatabase,
  organizationId: string,
  requestedBy: string,
): Promise<Deletion> {
  return control.change(async (transaction) => {
    await archiveOrganizationIn(transaction, organizationId);
    return await insertDeletion(transaction, { kind: "organization", organizationId, selection: {}, requestedBy });
  });
}

/** @throws AppError not_found, or conflict when another project has the name, and so the same telemetry */
export async function beginProjectDeletion(
  control: ControlDatabase,
  projectId: string,
  requestedBy: string,
): Promise<Deletion> {
  return control.change(async (transaction) => {
    const { name, organization_id: organizationId } = await archiveProjectIn(transaction, projectId);
    const other = await transaction
      .selectFrom("projects")
      .select("id")
      .where("organization_id", "=", organizationId)
      .where("name", "=", name)
      .where("id", "!=", projectId)
      .executeTakeFirst();
    if (other !== undefined) {
      throw new AppError(
        "conflict",
        `The project ${other.id} has the name ${JSON.stringify(name)} too, so their telemetry cannot be told apart. Delete telemetry by time instead.`,
      );
    }
    const selection = { project_id: projectId, project_name: name };
    return await insertDeletion(transaction, { kind: "project", organizationId, selection, requestedBy });
  });
}

/** Idempotent. The numbers of tokens of the project's keys stay: the organization's monthly budget includes them. */
export async function removeProject(control: ControlDatabase, projectId: string): Promise<void> {
  await control.change(async (transaction) => {
    await removeKeys(transaction, (database) =>
      database.selectFrom("keys").select("id").where("project_id", "=", projectId),
    );
    const project = await transaction
      .selectFrom("projects")
      .select(["organization_id", "name"])
      .where("id", "=", projectId)
      .executeTakeFirst();
    if (project === undefined) return;
    await transaction
      .deleteFrom("responses")
      .where("organization_id", "=", project.organization_id)
      .where("project_name", "=", project.name)
      .execute();
    await transaction.deleteFrom("memberships").where("project_id", "=", projectId).execute();
    await transaction.deleteFrom("projects").where("id", "=", projectId).execute();
  });
}

/** Idempotent. */
export async function removeOrganization(control: ControlDatabase, organizationId: string): Promise<void> {
  await control.change(async (transaction) => {
    await removeKeys(transaction, (database) =>
      database.selectFrom("keys").select("id").where("organization_id", "=", organizationId),
    );
    const members = await transaction
      .selectFrom("memberships")
      .select("person_id")
      .distinct()
      .where("organization_id", "=", organizationId)
      .union(transaction.selectFrom("scim_users").select("person_id").where("organization_id", "=", organizationId))
      .execute();
    for (const table of [
      "alert_states",
      "alert_groups",
      "token_usage",
      "budget_usage",
      "budgets",
      "responses",
      "scim_groups",
      "scim_users",
      "memberships",
      "roles",
      "projects",
    ] as const)
      await transaction.deleteFrom(table).where("organization_id", "=", organizationId).execute();
    await removePeople(
      transaction,
      members.map(({ person_id: id }) => id),
    );
    await transaction.deleteFrom("organizations").where("id", "=", organizationId).execute();
  });
}

/** Removes those of the people who belong to no organization any more. */
async function removePeople(transaction: Writer, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const member = transaction.selectFrom("memberships").select("person_id").where("person_id", "=", id);
    const leaving = await transaction
      .selectFrom("people")
      .select("id")
      .where("id", "=", id)
      .where("operator", "=", 0)
      .where("id", "not in", member)
      .executeTakeFirst();
    if (leaving === undefined) continue;
    // Revoked keys stay in other organizations, without the person.
    await revokePersonalKeys(transaction, id);
    await transaction.deleteFrom("people").where("id", "=", id).execute();
  }
}

/** Removes keys with the sessions and sign-in codes that use them. */
async function removeKeys(
  transaction: Writer,
  selected: (database: Reader) => ReturnType<typeof keyIds>,
): Promise<void> {
  const keys = selected(transaction);
  for (const table of ["sessions", "sign_in_codes"] as const) {
    await transaction
      .deleteFrom(table)
      .where((where) => where.or([where("key_id", "in", keys), where("operator_key_id", "in", keys)]))
      .execute();
  }
  await transaction.deleteFrom("keys").where("id", "in", keys).execute();
}

function keyIds(database: Reader) {
  return database.selectFrom("keys").select("id");
}

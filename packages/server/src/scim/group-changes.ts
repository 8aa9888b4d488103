/**
 * Changes of groups, whose members get the roles of the rules. A transaction holds the database, on SQLite also for those who only
 * read, so a change of many members has several.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Writer } from "../tenancy/control-database.ts";
import { noOwnerLeft, ownersOf } from "../tenancy/memberships.ts";
import { newIdentifier, nowSeconds } from "../tenancy/row-values.ts";
import {
  addMembers,
  memberIds,
  removeMembers,
  requireFewMembers,
  requireFreeName,
  requireGroup,
  requireRoomForGroup,
  requireUsers,
  usersOf,
  type ScimGroupRow,
} from "./groups.ts";
import {
  RuledMemberships,
  ruledValues,
  sourceOf,
  type RuledUser,
  type RuleParts,
  type ScimOrganization,
} from "./memberships.ts";
import type { GroupChange } from "./patch.ts";
import { addressOf } from "./user-attributes.ts";
import { attributesOf, comparable, userOfPerson, type ScimUserRow } from "./users.ts";

interface NewGroup {
  readonly displayName: string;
  readonly externalId: string | undefined;
  readonly members: readonly string[];
}

/** Runs a change in a transaction of its own. */
type InTransaction = <T>(run: (transaction: Writer) => Promise<T>) => Promise<T>;

/** What happens to one user: `apply` only applies the rules. */
interface Step {
  readonly userId: string;
  readonly action: "add" | "apply" | "remove";
}

/** Of a group with many users, more transactions follow the first. An error in those leaves what the same request completes later. */
const usersAtOnce = inputLimit({
  area: "Administration",
  bounds: "Users whose roles one transaction of SCIM changes",
  value: 50,
  error: { instead: "others follow in further transactions, between which the database serves others" },
});

/** Changes the groups of one organization. */
export class ScimGroups {
  readonly #inTransaction: InTransaction;
  readonly #organization: ScimOrganization;
  readonly #parts: RuleParts;

  constructor(inTransaction: InTransaction, organization: ScimOrganization, parts: RuleParts) {
    this.#inTransaction = inTransaction;
    this.#organization = organization;
    this.#parts = parts;
  }

  /** @throws AppError invalid_request for users that do not exist; conflict for a name in use, too many, or the last owner */
  async create(group: NewGroup): Promise<ScimGroupRow> {
    const { id: organizationId } = this.#organization;
    return await this.#carryOut(async (transaction) => {
      await requireRoomForGroup(transaction, organizationId);
      await requireFreeName(transaction, organizationId, group.displayName);
      const now = nowSeconds();
      const row: ScimGroupRow = {
        id: newIdentifier("sgroup"),
        organization_id: organizationId,
        display_name: group.displayName,
        display_name_key: comparable(group.displayName),
        external_id: group.externalId ?? null,
        created_at: now,
        updated_at: now,
      };
      await transaction.insertInto("scim_groups").values(row).execute();
      return { row, steps: toSteps("add", group.members) };
    });
  }

  /** @throws AppError not_found, and as `create` */
  async update(id: string, change: GroupChange): Promise<ScimGroupRow> {
    return await this.#carryOut(async (transaction) => {
      const before = await requireGroup(transaction, this.#organization, id);
      const name = change.displayName ?? before.display_name;
      if (comparable(name) !== before.display_name_key) await requireFreeName(transaction, this.#organization.id, name);
      const row = {
        ...before,
        display_name: name,
        display_name_key: comparable(name),
        external_id: "externalId" in change ? (change.externalId ?? null) : before.external_id,
        // Grows with every change, so that one in several transactions notices another.
        updated_at: Math.max(nowSeconds(), before.updated_at + 1),
      };
      await transaction.updateTable("scim_groups").set(row).where("id", "=", id).execute();
      const members = await memberIds(transaction, id);
      const steps = stepsOf(change, members);
      const after = new Set([...members, ...usersOfSteps(steps, "add")]);
      for (const userId of usersOfSteps(steps, "remove")) after.delete(userId);
      requireFewMembers(after.size);
      return { row, steps };
    });
  }

  /** @throws AppError not_found, or conflict if the organization would be left without an owner */
  async delete(id: string): Promise<void> {
    for (let isFirst = true, isDone = false; !isDone; isFirst = false) {
      isDone = await this.#inTransaction(async (transaction) => {
        const row = await requireGroup(transaction, this.#organization, id);
        const members = [...(await memberIds(transaction, id))];
        const isLast = members.length <= usersAtOnce;
        const steps = toSteps("remove", members);
        if (isFirst && !isLast) await this.#requireOwnerAfter(transaction, row, steps);
        // The group goes last: until then, the provider can delete it again.
        if (isLast) await transaction.deleteFrom("scim_groups").where("id", "=", id).execute();
        await this.#takeSteps(transaction, row, steps.slice(0, usersAtOnce));
        return isLast;
      });
      await nextTurn();
    }
  }

  /** Takes the first steps in the transaction that changes the group, and all others in transactions of their own. */
  async #carryOut(
    begin: (transaction: Writer) => Promise<{ readonly row: ScimGroupRow; readonly steps: readonly Step[] }>,
  ): Promise<ScimGroupRow> {
    const { row, steps } = await this.#inTransaction(async (transaction) => {
      const begun = await begin(transaction);
      await requireUsers(transaction, this.#organization.id, usersOfSteps(begun.steps, "add"));
      if (begun.steps.length > usersAtOnce) await this.#requireOwnerAfter(transaction, begun.row, begun.steps);
      await this.#takeSteps(transaction, begun.row, begun.steps.slice(0, usersAtOnce));
      return begun;
    });
    for (let from = usersAtOnce; from < steps.length; from += usersAtOnce) {
      // Who waits for the database is served first.
      await nextTurn();
      await this.#inTransaction(async (transaction) => {
        const current = await requireGroup(transaction, this.#organization, row.id);
        if (current.updated_at !== row.updated_at)
          throw new AppError("conflict", "Another request changed the group meanwhile. Repeat the request.");
        await this.#takeSteps(transaction, row, steps.slice(from, from + usersAtOnce));
      });
    }
    return row;
  }

  async #takeSteps(transaction: Writer, group: ScimGroupRow, steps: readonly Step[]): Promise<void> {
    const all = steps.map(({ userId }) => userId);
    const users = await usersOf(transaction, group.organization_id, all);
    await removeMembers(transaction, group.id, usersOfSteps(steps, "remove"));
    const added = usersOfSteps(steps, "add").filter((id) => users.has(id));
    if (added.length > 0) await addMembers(transaction, group.id, added);
    const memberships = new RuledMemberships(transaction, this.#organization, this.#parts);
    // New owners before those who no longer are.
    for (const action of ["add", "apply", "remove"] as const) {
      for (const id of usersOfSteps(steps, action)) {
        const user = users.get(id);
        if (user !== undefined) await memberships.apply(ruledUser(user));
        // SQLite works in this thread.
        await nextTurn();
      }
    }
  }

  /**
   * Of a change in several transactions, the first one finds out whether an owner will be left.
   * @throws AppError conflict
   */
  async #requireOwnerAfter(transaction: Writer, group: ScimGroupRow, steps: readonly Step[]): Promise<void> {
    const owners = await ownersOf(transaction, this.#organization.id).execute();
    if (owners.length === 0) return;
    const actions = new Map(steps.map(({ action, userId }) => [userId, action]));
    const memberships = new RuledMemberships(transaction, this.#organization, this.#parts);
    for (const { personId, source } of owners) {
      const user = await userOfPerson(transaction, this.#organization, personId);
      const action = user && actions.get(user.id);
      if (user === undefined || action === undefined || source !== sourceOf(this.#organization)) return;
      const values = action === "remove" ? undefined : ruledValues(group.display_name, group.external_id);
      if (await memberships.isOwner(ruledUser(user), { groupId: group.id, values })) return;
      await nextTurn();
    }
    throw noOwnerLeft();
  }
}

/**
 * Removals come first, so that the group never has too many members. A request that names the group's own attributes applies the
 * rules to all members, also if these are the same: the one before may have ended half-way.
 */
function stepsOf(change: GroupChange, members: ReadonlySet<string>): readonly Step[] {
  const added = new Set([...(change.members ?? []), ...change.added]);
  for (const userId of change.removed) added.delete(userId);
  const replaces = change.members !== undefined;
  const isNamed = "displayName" in change || "externalId" in change;
  const [removed, kept]: [string[], string[]] = [[], []];
  for (const userId of members) {
    if (added.has(userId)) continue;
    if (replaces || change.removed.has(userId)) removed.push(userId);
    else if (isNamed) kept.push(userId);
  }
  return [...toSteps("remove", removed), ...toSteps("add", added), ...toSteps("apply", kept)];
}

function toSteps(action: Step["action"], userIds: Iterable<string>): readonly Step[] {
  return [...userIds].map((userId) => ({ userId, action }));
}

function usersOfSteps(steps: readonly Step[], wanted: Step["action"]): readonly string[] {
  return steps.filter(({ action }) => action === wanted).map(({ userId }) => userId);
}

function ruledUser(user: ScimUserRow): RuledUser {
  return { ...user, address: addressOf(attributesOf(user)) };
}

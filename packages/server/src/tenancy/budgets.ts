/** Budgets in the control database, created through the admin API. */
import type { Selectable } from "kysely";
import type { Budget, BudgetCreate, BudgetUpdate } from "../api/budgets.ts";
import type { Page } from "../api/admin.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { isTimeZone } from "../limits/budgets/budget-period.ts";
import type { BudgetDefinition } from "../limits/budgets/budget.ts";
import type { ControlDatabase, Reader } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import { newIdentifier, nowSeconds, requireActiveOrganization, requireRoom } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

export interface StoredBudget extends BudgetDefinition {
  /** Whether only operators may change it. */
  readonly operator: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface BudgetFilter extends PageRequest {
  readonly organizationId?: string | undefined;
  readonly name?: string | undefined;
}

const maximumBudgets = inputLimit({
  area: "Administration",
  bounds: "Budgets of an organization",
  value: 100,
  error: "conflict",
});

const billionths = 1e9;

type Row = Selectable<ControlTables["budgets"]>;
/** What a row has in its JSON. */
type Stored = Omit<StoredBudget, "id" | "organizationId" | "name" | "createdAt" | "updatedAt">;

/** Those of all organizations that are in use. */
export async function loadBudgets(control: ControlDatabase): Promise<readonly BudgetDefinition[]> {
  const rows = await control.read((database) =>
    database
      .selectFrom("budgets")
      .innerJoin("organizations", "organizations.id", "budgets.organization_id")
      .where("organizations.archived_at", "is", null)
      .selectAll("budgets")
      .orderBy("budgets.id")
      .execute(),
  );
  return rows.map(toStored);
}

export async function listBudgets(control: ControlDatabase, filter: BudgetFilter): Promise<Page<StoredBudget>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("budgets")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.search !== undefined) query = query.where(contains(["name", "id"], filter.search));
    if (filter.organizationId !== undefined) query = query.where("organization_id", "=", filter.organizationId);
    if (filter.name !== undefined) query = query.where("name", "=", filter.name);
    return toPage(await query.execute(), filter.limit, toStored);
  });
}

/** @throws AppError not_found */
export async function getBudget(control: ControlDatabase, id: string): Promise<StoredBudget> {
  return control.read(async (database) => toStored(await requireBudget(database, id)));
}

interface NewBudget {
  readonly created: BudgetCreate;
  /** Of the server's prices; undefined: not known. */
  readonly currency: string | undefined;
  readonly operator: boolean;
}

/** @throws AppError invalid_request, not_found, conflict */
export async function createBudget(
  control: ControlDatabase,
  organizationId: string,
  { created, currency, operator }: NewBudget,
): Promise<StoredBudget> {
  const stored = toDefinition(created, currency);
  return control.change(async (transaction) => {
    await requireActiveOrganization(transaction, organizationId);
    const value =
      stored.subject === "key" && stored.value !== undefined
        ? await countedKey(transaction, organizationId, stored.value)
        : stored.value;
    await requireRoom(transaction, {
      table: "budgets",
      organizationId,
      maximum: maximumBudgets,
      what: "budgets",
      remedy: "Delete",
    });
    const now = nowSeconds();
    const row = {
      id: newIdentifier("bgt"),
      organization_id: organizationId,
      name: created.name,
      definition: JSON.stringify({ ...stored, value, operator } satisfies Stored),
      created_at: now,
      updated_at: now,
    };
    await rejectNameConflict("budget", row.name, () => transaction.insertInto("budgets").values(row).execute());
    return toStored(row);
  });
}

/** @throws AppError not_found, conflict */
export async function updateBudget(control: ControlDatabase, id: string, changes: BudgetUpdate): Promise<StoredBudget> {
  return control.change(async (transaction) => {
    const row = await requireBudget(transaction, id);
    const { name = row.name, ...rest } = changes;
    const stored: Stored = { ...(JSON.parse(row.definition) as Stored), ...toMembers(rest) };
    const changed = { name, definition: JSON.stringify(stored), updated_at: nowSeconds() };
    await rejectNameConflict("budget", name, () =>
      transaction.updateTable("budgets").set(changed).where("id", "=", id).execute(),
    );
    return toStored({ ...row, ...changed });
  });
}

/** @throws AppError not_found */
export async function deleteBudget(control: ControlDatabase, id: string): Promise<void> {
  await control.change(async (transaction) => {
    await requireBudget(transaction, id);
    for (const table of ["budget_leases", "budget_usage"] as const)
      await transaction.deleteFrom(table).where("budget_id", "=", id).execute();
    await transaction.deleteFrom("budgets").where("id", "=", id).execute();
  });
}

export function budgetNotFound(id: string): string {
  return `The budget ${JSON.stringify(id)} does not exist.`;
}

/** Without what is used. Amounts of the API are in the currency's unit. */
export function toBudgetObject(
  stored: StoredBudget,
): Omit<Budget, "period_starts_at" | "resets_at" | "used" | "reserved" | "remaining" | "values"> {
  const { amount, createdAt, currency, enforced, id, name, organizationId, period, subject, thresholds } = stored;
  return {
    object: "budget",
    id,
    organization_id: organizationId,
    name,
    amount: amount / billionths,
    enforced,
    thresholds: [...thresholds],
    unpriced: stored.unpriced,
    currency,
    subject,
    value: stored.value ?? null,
    tag: stored.tag ?? null,
    period,
    time_zone: stored.timeZone,
    operator: stored.operator,
    created_at: createdAt,
    updated_at: stored.updatedAt,
  };
}

async function requireBudget(database: Reader, id: string): Promise<Row> {
  const row = await database.selectFrom("budgets").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", budgetNotFound(id));
  return row;
}

/** A key that was rotated goes on under the identifier of the first one. @throws AppError not_found */
async function countedKey(database: Reader, organizationId: string, id: string): Promise<string> {
  const row = await database
    .selectFrom("keys")
    .select(["id", "limits_key_id"])
    .where("id", "=", id)
    .where("organization_id", "=", organizationId)
    .executeTakeFirst();
  if (row !== undefined) return row.limits_key_id ?? row.id;
  throw new AppError("not_found", `The key ${JSON.stringify(id)} does not exist in the organization.`, {
    param: "value",
  });
}

/** @throws AppError invalid_request */
function toDefinition(created: BudgetCreate, serverCurrency: string | undefined): Omit<Stored, "operator"> {
  const {
    currency = serverCurrency,
    period = "month",
    subject = "organization",
    tag,
    time_zone: timeZone = "UTC",
    value,
  } = created;
  if (currency === undefined) refuse("currency", "currency is missing; expected the currency of the server's prices.");
  if (serverCurrency !== undefined && currency !== serverCurrency) {
    refuse(
      "currency",
      `currency is "${currency}"; expected "${serverCurrency}", the currency of the server's prices (telemetry.currency).`,
    );
  }
  if (subject === "organization" && value != null) {
    refuse("value", `value is ${JSON.stringify(value)}, but subject is "organization"; leave value out.`);
  }
  if (subject === "tag" && tag == null)
    refuse("tag", 'tag is missing; with subject "tag" it names a member of metadata.');
  if (subject !== "tag" && tag != null) {
    refuse("tag", `tag is ${JSON.stringify(tag)}, but subject is "${subject}"; leave tag out.`);
  }
  if (!isTimeZone(timeZone)) {
    refuse("time_zone", `time_zone is ${JSON.stringify(timeZone)}; expected an IANA name such as "Europe/Berlin".`);
  }
  const { amount = 0, ...members } = toMembers(created);
  return {
    amount,
    enforced: true,
    thresholds: [],
    unpriced: "refuse",
    ...members,
    currency,
    subject,
    value: value ?? undefined,
    tag: tag ?? undefined,
    period,
    timeZone,
  };
}

/** Those that can change. @throws AppError invalid_request */
function toMembers({ amount, enforced, thresholds, unpriced }: Omit<BudgetUpdate, "name">): Partial<Stored> {
  const rounded = amount === undefined ? undefined : Math.round(amount * billionths);
  if (rounded === 0) refuse("amount", `amount is ${amount}; expected at least 0.000000001.`);
  return {
    ...(rounded === undefined ? {} : { amount: rounded }),
    ...(enforced === undefined ? {} : { enforced }),
    ...(thresholds === undefined ? {} : { thresholds: thresholds.toSorted((left, right) => left - right) }),
    ...(unpriced === undefined ? {} : { unpriced }),
  };
}

function refuse(param: string, message: string): never {
  throw new AppError("invalid_request", message, { param });
}

function toStored(row: Row): StoredBudget {
  const stored = JSON.parse(row.definition) as Stored;
  return {
    ...stored,
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

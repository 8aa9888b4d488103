/**
 * Copies the rows of the control database: out of one state of the database, and into a database of either kind. The audit log is
 * copied with a whole installation only.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { Type, type TSchema } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../errors.ts";
import { auditTables, columns, copiedTables, keys, type CopiedTable } from "./control-columns.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { rejectNameConflict } from "./database-error.ts";

/** People may belong to several organizations, so a copy of one organization has none of them, nor their personal keys. */
const ofPeople: ReadonlySet<CopiedTable> = new Set([
  "people",
  "memberships",
  "identities",
  "accounts",
  "recovery_codes",
  "passkeys",
  "scim_users",
  "scim_groups",
  "scim_members",
]);

function isOfPerson({ table, values }: ControlRow): boolean {
  return ofPeople.has(table) || (table === "keys" && values["person_id"] != null);
}

type Values = Readonly<Record<string, string | number | null>>;

export interface ControlRow {
  readonly table: CopiedTable;
  readonly values: Values;
}

const pageRows = 5000;
/** SQLite binds up to 32,766 values per statement, and no table has more than 18 columns. */
const insertedRows = 1000;

/** The rows of one state of the database, of all organizations or of one. @throws AppError */
export function readControlRows(
  control: ControlDatabase,
  organizationId: string | undefined,
  signal: AbortSignal,
): Promise<ControlRow[]> {
  return control.snapshot(async (database) => {
    const rows: ControlRow[] = [];
    for (const table of copiedTables) {
      if (organizationId !== undefined && ofPeople.has(table)) continue;
      if (organizationId !== undefined && auditTables.has(table)) continue;
      for (let offset = 0; ; offset += pageRows) {
        signal.throwIfAborted();
        const page = await readPage(database, { table, organizationId, offset });
        const copied = page.map((values) => ({ table, values }));
        rows.push(...(organizationId === undefined ? copied : copied.filter((row) => !isOfPerson(row))));
        if (page.length < pageRows) break;
      }
    }
    return rows;
  });
}

interface PageOptions {
  readonly table: CopiedTable;
  readonly organizationId: string | undefined;
  readonly offset: number;
}

async function readPage(database: Reader, { offset, organizationId, table }: PageOptions): Promise<Values[]> {
  const { ref } = database.dynamic;
  const names = Object.keys(columns[table]);
  let query = database.selectFrom(table).select(names.map((name) => ref(name)));
  for (const key of keys[table]) query = query.orderBy(ref(key));
  if (organizationId !== undefined) query = query.where(ref(organizationColumn(table)), "=", organizationId);
  return await query.limit(pageRows).offset(offset).execute();
}

function organizationColumn(table: CopiedTable): string {
  return table === "organizations" ? "id" : "organization_id";
}

/** A row from outside. @throws AppError invalid_request that says what is wrong with it */
export function toControlRow(value: unknown): ControlRow {
  const shape = Type.Object({ table: Type.String(), values: Type.Record(Type.String(), Type.Unknown()) });
  if (!Value.Check(shape, value)) throw invalid("It is not an object with table and values.");
  const { table, values } = value;
  if (!Object.hasOwn(columns, table)) throw invalid(`It has the unknown table ${JSON.stringify(table.slice(0, 100))}.`);
  const known: Readonly<Record<string, TSchema>> = columns[table as CopiedTable];
  for (const [name, each] of Object.entries(values)) {
    if (!Object.hasOwn(known, name))
      throw invalid(`A row of ${table} has the unknown column ${JSON.stringify(name.slice(0, 100))}.`);
    if (!Value.Check(known[name]!, each)) throw invalid(`A row of ${table} has an invalid value for ${name}.`);
  }
  const missing = keys[table as CopiedTable].find((name) => values[name] === undefined);
  if (missing !== undefined) throw invalid(`A row of ${table} lacks ${missing}.`);
  return { table: table as CopiedTable, values: values as Values };
}

function invalid(reason: string): AppError {
  return new AppError("invalid_request", `The copy of the control database is invalid. ${reason}`);
}

/**
 * @param replaces whether the rows of the database go first
 * @throws AppError conflict if the database has organizations, invalid_request if the rows contradict each other
 */
export function writeAllControlRows(
  control: ControlDatabase,
  rows: readonly ControlRow[],
  { replaces = false } = {},
): Promise<void> {
  return control.change(async (transaction) => {
    const removed = ["sessions", "sign_in_codes", "budget_leases", ...copiedTables.toReversed()] as const;
    if (replaces) for (const table of removed) await transaction.deleteFrom(table).execute();
    // A new database has the head of an empty log. Copies of earlier versions have no log.
    if (rows.some(({ table }) => table === "audit_head"))
      for (const table of auditTables) await transaction.deleteFrom(table).execute();
    const any = await transaction.selectFrom("organizations").select("id").limit(1).executeTakeFirst();
    if (any !== undefined) throw new AppError("conflict", notEmpty);
    for (const table of copiedTables) await insertRows(transaction, table, valuesOf(rows, table));
  });
}

export const notEmpty =
  "The control database has organizations already. A whole installation is restored into an empty one.";

/**
 * Adds one organization, or replaces one that is archived. Operators' keys are left out: they are valid for a whole installation.
 * @throws AppError conflict if the organization exists and is not archived, or if its name is taken
 */
export async function writeOrganizationRows(control: ControlDatabase, copied: readonly ControlRow[]): Promise<void> {
  const rows = copied.filter((row) => !isOfPerson(row));
  const [organization, ...others] = valuesOf(rows, "organizations");
  if (organization === undefined || others.length > 0)
    throw invalid("It must have exactly one row for the organization.");
  const id = String(organization["id"]);
  const write = async (transaction: Writer, table: CopiedTable): Promise<void> => {
    const own = valuesOf(rows, table).filter((values) => values["operator"] !== 1);
    if (own.some((values) => values[organizationColumn(table)] !== id))
      throw invalid(`Rows of ${table} belong to another organization.`);
    await insertRows(transaction, table, own, true);
  };
  await control.change(async (transaction) => {
    await requireReplaceable(transaction, id);
    for (const table of ["alert_groups", "alert_states", "budgets", "budget_usage", "roles"] as const)
      await transaction.deleteFrom(table).where("organization_id", "=", id).execute();
    const name = String(organization["name"]);
    await rejectNameConflict("organization", name, () => write(transaction, "organizations"));
    for (const table of copiedTables)
      if (table !== "organizations" && !auditTables.has(table)) await write(transaction, table);
  });
}

/** @throws AppError conflict */
export async function requireReplaceable(database: Reader, organizationId: string): Promise<void> {
  const deletion = await database
    .selectFrom("deletions")
    .select("id")
    .where("organization_id", "=", organizationId)
    .where("status", "!=", "done")
    .executeTakeFirst();
  if (deletion !== undefined) {
    throw new AppError(
      "conflict",
      `The deletion ${deletion.id} of the organization ${organizationId} is not done and would delete what is restored. Wait until it is.`,
    );
  }
  const existing = await database
    .selectFrom("organizations")
    .select(["name", "archived_at"])
    .where("id", "=", organizationId)
    .executeTakeFirst();
  if (existing === undefined || existing.archived_at !== null) return;
  throw new AppError(
    "conflict",
    `The organization ${JSON.stringify(existing.name)} (${organizationId}) exists. To replace it by its backup, archive it first.`,
  );
}

function valuesOf(rows: readonly ControlRow[], table: CopiedTable): Values[] {
  return rows.filter((row) => row.table === table).map(({ values }) => values);
}

async function insertRows(
  transaction: Writer,
  table: CopiedTable,
  rows: readonly Values[],
  replaces = false,
): Promise<void> {
  for (let from = 0; from < rows.length; from += insertedRows) {
    const values = rows.slice(from, from + insertedRows);
    // The rows were checked against the columns of their table, whose type is lost here.
    const insert = transaction.insertInto(table as "organizations").values(values as never);
    const names = Object.keys(columns[table]).filter((name) => values.some((row) => row[name] !== undefined));
    await (
      replaces
        ? insert.onConflict((conflict) =>
            conflict
              .columns([...keys[table]] as never)
              .doUpdateSet((row) =>
                Object.fromEntries(names.map((name) => [name, row.ref(`excluded.${name}` as never)])),
              ),
          )
        : insert
    ).execute();
  }
}

/**
 * The statements of an exchange with the ledger of budgets. Each takes all its rows as one parameter, so that it is short to build,
 * to send and to plan, however many rows there are.
 */
import { sql, type RawBuilder } from "kysely";
import type { LedgerName } from "../limits/budgets/budget-ledger.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";

type Kind = ControlDatabase["kind"];

/** What one value has used of a budget, as it is stored. */
export interface UsageRow {
  readonly budget_id: string;
  readonly period: string;
  readonly value: string;
  readonly used: number;
  readonly notified: number;
}

export interface Charge {
  readonly name: LedgerName;
  readonly charged: number;
  /** Whether it gets a row if it has none. */
  readonly isNew: boolean;
}

/**
 * Adds charges, and locks the rows in the order of the charges until the transaction ends. Servers must agree on the order, or they
 * deadlock. @returns the rows after it
 */
export async function addCharges(transaction: Writer, kind: Kind, charges: readonly Charge[]): Promise<UsageRow[]> {
  if (charges.length === 0) return [];
  const list = charges.map(({ charged, isNew, name: { budgetId, endMs, organizationId, period, value } }, index) => {
    const endsAt = endMs === Infinity ? null : Math.ceil(endMs / 1000);
    return [budgetId, period, value, index, organizationId, charged, endsAt, isNew ? 1 : 0];
  });
  const { rows } = await sql<UsageRow>`
    insert into budget_usage (budget_id, period, value, organization_id, used, notified, ends_at)
    select ${text(0)}, ${text(1)}, ${text(2)}, ${text(4)}, ${integer(5)}, 0, ${integer(6)}
    from ${listed(kind, list)}
    where ${integer(7)} = 1 or exists (
      select 1 from budget_usage
      where budget_id = ${text(0)} and period = ${text(1)} and value = ${text(2)}
    )
    order by ${integer(3)}
    on conflict (budget_id, period, value) do update set used = budget_usage.used + excluded.used
    returning budget_id, period, value, used, notified`.execute(transaction);
  return rows;
}

/** What processes hold of one ledger. */
export interface Leases {
  /** Of all other processes, unless their leases have ended. */
  readonly others: number;
  /** Of the last request of this process; undefined: none is known. */
  readonly sequence: number | undefined;
}

/** In the order of the names. */
export async function readLeases(
  transaction: Writer,
  kind: Kind,
  { holder, names, nowMs }: { readonly holder: string; readonly names: readonly LedgerName[]; readonly nowMs: number },
): Promise<Leases[]> {
  const list = names.map(({ budgetId, period, value }, index) => [budgetId, period, value, index]);
  // Numbers are texts where Postgres has a type for larger ones.
  const { rows } = await sql<{ place: number; others: number | string; sequence: number | string | null }>`
    select ${integer(3)} as place,
      coalesce(sum(case when holder <> ${holder} and expires_at > ${nowMs} then held end), 0) as others,
      max(case when holder = ${holder} then sequence end) as sequence
    from ${listed(kind, list)}
    join budget_leases on budget_id = ${text(0)} and period = ${text(1)} and budget_leases.value = ${text(2)}
    group by ${integer(3)}`.execute(transaction);
  const leases: Leases[] = names.map(() => ({ others: 0, sequence: undefined }));
  for (const { others, place, sequence } of rows) {
    leases[place] = { others: Number(others), sequence: sequence === null ? undefined : Number(sequence) };
  }
  return leases;
}

export interface Lease {
  readonly name: LedgerName;
  readonly sequence: number;
  readonly reserved: number;
  readonly held: number;
}

export async function writeLeases(
  transaction: Writer,
  kind: Kind,
  {
    expiresAt,
    holder,
    leases,
  }: { readonly holder: string; readonly leases: readonly Lease[]; readonly expiresAt: number },
): Promise<void> {
  if (leases.length === 0) return;
  const list = leases.map(({ held, name: { budgetId, period, value }, reserved, sequence }) => {
    return [budgetId, period, value, sequence, reserved, held];
  });
  await sql`
    insert into budget_leases (budget_id, period, value, holder, sequence, reserved, held, expires_at)
    select ${text(0)}, ${text(1)}, ${text(2)}, ${holder}, ${integer(3)}, ${integer(4)}, ${integer(5)}, cast(${expiresAt} as bigint)
    from ${listed(kind, list)}
    where true
    on conflict (budget_id, period, value, holder) do update set
      sequence = excluded.sequence, reserved = excluded.reserved, held = excluded.held, expires_at = excluded.expires_at`.execute(
    transaction,
  );
}

/** @param list rows of the same members, which `text` and `integer` find by their place */
function listed(kind: Kind, list: readonly (readonly unknown[])[]): RawBuilder<unknown> {
  const json = JSON.stringify(list);
  return kind === "sqlite"
    ? sql`json_each(${json}) as listed`
    : sql`json_array_elements(cast(${json} as json)) as listed(value)`;
}

function text(place: number): RawBuilder<string> {
  return sql`(listed.value ->> ${sql.lit(place)})`;
}

function integer(place: number): RawBuilder<number> {
  return sql`cast(listed.value ->> ${sql.lit(place)} as bigint)`;
}

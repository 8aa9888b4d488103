/** Which of a budget's values are counted: a budget has a bounded number of them in a period. */
import { inputLimit } from "../input-limits.ts";
import type { LedgerName, LedgerRequest } from "../limits/budgets/budget-ledger.ts";
import type { Writer } from "./control-database.ts";

const maximumValues = inputLimit({
  area: "Requests, tokens and cost",
  bounds: "Values of a budget for each project, key, end user, model or tag, in one period",
  value: 10_000,
  error: "quota_exceeded",
});

type Counted = "counted" | "deleted" | "full";

/** Leaves out ledgers of budgets that were deleted, or that have too many. */
export async function countedRequests(
  transaction: Writer,
  requests: readonly LedgerRequest[],
): Promise<ReadonlyMap<LedgerRequest, Counted>> {
  if (requests.length === 0) return new Map();
  const ids = [...new Set(requests.map(({ budgetId }) => budgetId))];
  const rows = await transaction.selectFrom("budgets").select("id").where("id", "in", ids).execute();
  const existing = new Set(rows.map(({ id }) => id));
  const known = await knownValues(
    transaction,
    requests.filter(({ value }) => value !== ""),
  );
  const result = new Map<LedgerRequest, Counted>();
  const rooms = new Map<string, number>();
  for (const request of requests) {
    if (!existing.has(request.budgetId)) {
      result.set(request, "deleted");
      continue;
    }
    if (request.value === "" || known.has(keyOf(request))) {
      result.set(request, "counted");
      continue;
    }
    const period = `${request.budgetId}/${request.period}`;
    const room = rooms.get(period) ?? (await roomFor(transaction, request));
    rooms.set(period, room - 1);
    result.set(request, room > 0 ? "counted" : "full");
  }
  return result;
}

/** Values that have a row; asked for all at once, because most have one. */
async function knownValues(transaction: Writer, requests: readonly LedgerRequest[]): Promise<ReadonlySet<string>> {
  if (requests.length === 0) return new Set();
  const rows = await transaction
    .selectFrom("budget_usage")
    .select(["budget_id", "period", "value"])
    .where(({ eb, or }) =>
      or(
        byPeriod(requests).map(({ budgetId, period, values }) =>
          eb("budget_id", "=", budgetId).and("period", "=", period).and("value", "in", values),
        ),
      ),
    )
    .execute();
  return new Set(rows.map(keyOfRow));
}

/** How many more values the budget may have. */
async function roomFor(transaction: Writer, { budgetId, period }: LedgerName): Promise<number> {
  const { count } = await transaction
    .selectFrom("budget_usage")
    .where("budget_id", "=", budgetId)
    .where("period", "=", period)
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return maximumValues - Number(count);
}

/** Far shorter statements than with a condition for each ledger. */
function byPeriod(names: readonly LedgerName[]) {
  return [...Map.groupBy(names, ({ budgetId, period }) => `${budgetId}/${period}`).values()].map((group) => {
    const { budgetId, period } = group[0]!;
    return { budgetId, period, values: group.map(({ value }) => value) };
  });
}

export function keyOf({ budgetId, period, value }: LedgerName): string {
  return `${budgetId}/${period}/${value}`;
}

export function keyOfRow(row: { readonly budget_id: string; readonly period: string; readonly value: string }): string {
  return `${row.budget_id}/${row.period}/${row.value}`;
}

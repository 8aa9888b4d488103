/**
 * The ledger of budgets in the control database: what is used, and what processes hold for themselves. One transaction per
 * exchange; the rows of a ledger are locked by its first statement.
 */
import type { BudgetLedger, LedgerAnswer, LedgerName, LedgerRequest } from "../limits/budgets/budget-ledger.ts";
import { byPeriod, countedRequests, keyOf, keyOfRow } from "./budget-values.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";

/**
 * After this time without a request, what a process held is free. Processes ask every few seconds, so the clocks of servers may
 * differ by most of it.
 */
export const budgetLeaseMs = 60_000;
/** Ended leases remember which requests were applied, for processes that repeat them after an outage. */
const leaseMemoryMs = 3_600_000;
/** Use of periods that ended longer ago is deleted. */
const keptMs = 40 * 86_400_000;
/** The part of what is left that one process may get for later calls. */
const spareShare = 1 / 8;
const cleaningMs = 3_600_000;

interface LedgerOptions {
  readonly control: Pick<ControlDatabase, "read" | "write">;
  /** Unique among all processes that use the database, in the past, too. */
  readonly holder: string;
  /** Whether no other process uses the database. */
  readonly alone: boolean;
  /** UNIX milliseconds. */
  readonly now?: (() => number) | undefined;
}

export function createBudgetLedger({ alone, control, holder, now = Date.now }: LedgerOptions): BudgetLedger {
  let cleanedMs = now();
  return {
    exchange: (requests) =>
      control.write(async (transaction) => {
        const nowMs = now();
        const exchange = new Exchange(transaction, { holder, nowMs, alone });
        const answers = await exchange.run(requests);
        if (nowMs - cleanedMs > cleaningMs) {
          cleanedMs = nowMs;
          await deleteOld(transaction, nowMs);
        }
        return answers;
      }),
    read: (budgetId, period, most) =>
      control.read(async (database) => {
        const reserved = await database
          .selectFrom("budget_leases")
          .select(["value", ({ fn }) => fn.sum<number | string>("reserved").as("reserved")])
          .where("budget_id", "=", budgetId)
          .where("period", "=", period)
          .where("expires_at", ">", now())
          .groupBy("value")
          .execute();
        const byValue = new Map(reserved.map((row) => [row.value, Number(row.reserved)]));
        const usage = database
          .selectFrom("budget_usage")
          .where("budget_id", "=", budgetId)
          .where("period", "=", period);
        const { sum } = await usage
          .select(({ fn }) => fn.sum<number | string | null>("used").as("sum"))
          .executeTakeFirstOrThrow();
        const rows = await usage
          .select(["value", "used"])
          .orderBy("used", "desc")
          .orderBy("value")
          .limit(most)
          .execute();
        return {
          sum: { used: Number(sum ?? 0), reserved: [...byValue.values()].reduce((total, each) => total + each, 0) },
          values: rows.map(({ value, used }) => ({ value, used, reserved: byValue.get(value) ?? 0 })),
        };
      }),
  };
}

interface UsageRow {
  readonly used: number;
  readonly notified: number;
}

interface LeaseRow {
  readonly holder: string;
  readonly sequence: number;
  readonly held: number;
  readonly expires_at: number;
}

interface ExchangeOptions extends Pick<LedgerOptions, "alone" | "holder"> {
  readonly nowMs: number;
}

class Exchange {
  readonly #transaction: Writer;
  readonly #options: ExchangeOptions;

  constructor(transaction: Writer, options: ExchangeOptions) {
    this.#transaction = transaction;
    this.#options = options;
  }

  async run(requests: readonly LedgerRequest[]): Promise<LedgerAnswer[]> {
    const counted = await countedRequests(this.#transaction, requests);
    const usage = await this.#lock(requests.filter((request) => counted.get(request) === "counted"));
    const leases = this.#options.alone ? new Map<string, LeaseRow[]>() : await this.#leases(requests);
    const changed: { request: LedgerRequest; answer: LedgerAnswer }[] = [];
    const answers = requests.map((request): LedgerAnswer => {
      const before = usage.get(keyOf(request));
      if (before === undefined) return notCounted(request, counted.get(request) === "full");
      const answer = this.#settle(request, before, leases.get(keyOf(request)) ?? []);
      changed.push({ request, answer });
      return answer;
    });
    await this.#writeUsage(changed, usage);
    if (!this.#options.alone) await this.#writeLeases(changed);
    return answers;
  }

  /** Creates rows that are missing, and locks all of them in one order, so that servers cannot deadlock. */
  async #lock(requests: readonly LedgerRequest[]): Promise<Map<string, UsageRow>> {
    if (requests.length === 0) return new Map();
    const rows = requests
      .map((request) => rowOf(request, { used: 0, notified: 0 }))
      .toSorted((left, right) => (keyOfRow(left) < keyOfRow(right) ? -1 : 1));
    const locked = await this.#transaction
      .insertInto("budget_usage")
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(["budget_id", "period", "value"])
          .doUpdateSet(({ ref }) => ({ used: ref("budget_usage.used") })),
      )
      .returning(["budget_id", "period", "value", "used", "notified"])
      .execute();
    return new Map(locked.map((row) => [keyOfRow(row), row]));
  }

  async #leases(requests: readonly LedgerRequest[]): Promise<Map<string, LeaseRow[]>> {
    const rows = await this.#transaction
      .selectFrom("budget_leases")
      .select(["budget_id", "period", "value", "holder", "sequence", "held", "expires_at"])
      .where(({ eb, or }) =>
        or(
          byPeriod(requests).map(({ budgetId, period, values }) =>
            eb("budget_id", "=", budgetId).and("period", "=", period).and("value", "in", values),
          ),
        ),
      )
      .execute();
    return Map.groupBy(rows, keyOfRow);
  }

  #settle(request: LedgerRequest, before: UsageRow, leases: readonly LeaseRow[]): LedgerAnswer {
    const own = leases.find(({ holder }) => holder === this.#options.holder);
    const isRepeated = own !== undefined && own.sequence >= request.sequence;
    const used = before.used + (isRepeated ? 0 : request.charged);
    const others = leases
      .filter(({ expires_at, holder }) => holder !== this.#options.holder && expires_at > this.#options.nowMs)
      .reduce((sum, { held }) => sum + held, 0);
    const crossed = request.thresholds.filter(({ percent, amount }) => percent > before.notified && used >= amount);
    const notified = Math.max(before.notified, ...crossed.map(({ percent }) => percent));
    const reached = crossed.map(({ percent }) => percent);
    const left = Math.max(0, request.limit - used - others - request.keeps);
    const needed = Math.min(left, request.demand);
    const extra = Math.min(request.spare, Math.floor((left - needed) * spareShare));
    const held = this.#options.alone ? 0 : request.keeps + needed + extra;
    return { used, others, held, notified, reached, isFull: false };
  }

  async #writeUsage(changed: readonly Changed[], before: ReadonlyMap<string, UsageRow>): Promise<void> {
    const rows = changed
      .filter(({ answer, request }) => {
        const { notified, used } = before.get(keyOf(request))!;
        return answer.used !== used || answer.notified !== notified;
      })
      .map(({ answer, request }) => rowOf(request, answer));
    if (rows.length === 0) return;
    await this.#transaction
      .insertInto("budget_usage")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["budget_id", "period", "value"]).doUpdateSet(({ ref }) => ({
          used: ref("excluded.used"),
          notified: ref("excluded.notified"),
        })),
      )
      .execute();
  }

  async #writeLeases(changed: readonly Changed[]): Promise<void> {
    if (changed.length === 0) return;
    const { holder, nowMs } = this.#options;
    const rows = changed.map(({ answer, request }) => ({
      ...nameIn(request),
      holder,
      sequence: request.sequence,
      reserved: request.reserved,
      held: answer.held,
      expires_at: nowMs + budgetLeaseMs,
    }));
    await this.#transaction
      .insertInto("budget_leases")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["budget_id", "period", "value", "holder"]).doUpdateSet(({ ref }) => ({
          sequence: ref("excluded.sequence"),
          reserved: ref("excluded.reserved"),
          held: ref("excluded.held"),
          expires_at: ref("excluded.expires_at"),
        })),
      )
      .execute();
  }
}

interface Changed {
  readonly request: LedgerRequest;
  readonly answer: LedgerAnswer;
}

async function deleteOld(transaction: Writer, nowMs: number): Promise<void> {
  await transaction
    .deleteFrom("budget_leases")
    .where("expires_at", "<", nowMs - leaseMemoryMs)
    .execute();
  await transaction
    .deleteFrom("budget_usage")
    .where("ends_at", "<", Math.floor((nowMs - keptMs) / 1000))
    .execute();
}

function notCounted({ keeps }: LedgerRequest, isFull: boolean): LedgerAnswer {
  return { used: 0, others: 0, held: keeps, notified: 0, reached: [], isFull };
}

function nameIn({ budgetId, period, value }: LedgerName) {
  return { budget_id: budgetId, period, value };
}

function rowOf(request: LedgerName, { notified, used }: Pick<LedgerAnswer, "notified" | "used">) {
  const { endMs, organizationId } = request;
  const endsAt = endMs === Infinity ? null : Math.ceil(endMs / 1000);
  return { ...nameIn(request), organization_id: organizationId, used, notified, ends_at: endsAt };
}

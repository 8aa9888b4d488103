/**
 * The ledger of budgets in the control database: what is used, and what processes hold for themselves. One transaction per
 * exchange; the rows of a ledger are locked by its first statement.
 */
import type { BudgetLedger, LedgerAnswer, LedgerRequest } from "../limits/budgets/budget-ledger.ts";
import { addCharges, readLeases, writeLeases, type Leases, type UsageRow } from "./budget-statements.ts";
import { countedRequests, keyOf, keyOfRow } from "./budget-values.ts";
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
  readonly control: Pick<ControlDatabase, "kind" | "read" | "write">;
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
        const exchange = new Exchange(transaction, { kind: control.kind, holder, nowMs, alone });
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

interface ExchangeOptions extends Pick<LedgerOptions, "alone" | "holder"> {
  readonly kind: ControlDatabase["kind"];
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
    const counted = await countedRequests(
      this.#transaction,
      requests.filter(({ isKnown }) => !isKnown),
    );
    const usage = await this.#charge(requests, counted);
    const leases = await this.#leases(requests);
    const changed: Changed[] = [];
    const answers = requests.map((request, index): LedgerAnswer => {
      const before = usage.get(keyOf(request));
      if (before === undefined) return notCounted(request, counted.get(request) === "full");
      const answer = this.#settle(request, before, leases[index]);
      changed.push({ request, before, answer });
      return answer;
    });
    await this.#correctUsage(changed);
    if (!this.#options.alone) await this.#writeLeases(changed);
    return answers;
  }

  /** Charges all requests but those that may have been applied. */
  async #charge(
    requests: readonly LedgerRequest[],
    counted: ReadonlyMap<LedgerRequest, string>,
  ): Promise<Map<string, UsageRow>> {
    const charges = requests
      .filter((request) => request.isKnown || counted.get(request) === "counted")
      .map((request) => ({ key: keyOf(request), request }))
      .toSorted((left, right) => (left.key < right.key ? -1 : 1))
      .map(({ request }) => ({
        name: request,
        charged: this.#isUnsure(request) ? 0 : request.charged,
        isNew: !request.isKnown,
      }));
    const rows = await addCharges(this.#transaction, this.#options.kind, charges);
    return new Map(rows.map((row) => [keyOfRow(row), row]));
  }

  /** A transaction of SQLite that failed was not applied. */
  #isUnsure({ isRepeated }: LedgerRequest): boolean {
    return isRepeated && !this.#options.alone;
  }

  /** @throws if this transaction waited for its locks while its request was repeated: what it charged is rolled back */
  async #leases(requests: readonly LedgerRequest[]): Promise<Leases[]> {
    const { alone, holder, kind, nowMs } = this.#options;
    if (alone) return [];
    const leases = await readLeases(this.#transaction, kind, { holder, names: requests, nowMs });
    for (const [index, request] of requests.entries()) {
      const { sequence = -1 } = leases[index]!;
      if (request.isRepeated ? sequence > request.sequence : sequence >= request.sequence) {
        throw new Error("A later request of this process about the budget was applied.");
      }
    }
    return leases;
  }

  #settle(request: LedgerRequest, before: UsageRow, leases: Leases | undefined): LedgerAnswer {
    const { others, sequence } = leases ?? { others: 0, sequence: undefined };
    const isApplied = !this.#isUnsure(request) || (sequence !== undefined && sequence >= request.sequence);
    const used = before.used + (isApplied ? 0 : request.charged);
    const crossed = request.thresholds.filter(({ percent, amount }) => percent > before.notified && used >= amount);
    const notified = Math.max(before.notified, ...crossed.map(({ percent }) => percent));
    const reached = crossed.map(({ percent }) => percent);
    const left = Math.max(0, request.limit - used - others - request.keeps);
    const needed = Math.min(left, request.demand);
    const extra = Math.min(request.spare, Math.floor((left - needed) * spareShare));
    const held = this.#options.alone ? 0 : request.keeps + needed + extra;
    return { used, others, held, notified, reached, isFull: false };
  }

  /** Writes thresholds that were reached, and charges of requests that were repeated. */
  async #correctUsage(changed: readonly Changed[]): Promise<void> {
    for (const { answer, before, request } of changed) {
      if (answer.used === before.used && answer.notified === before.notified) continue;
      await this.#transaction
        .updateTable("budget_usage")
        .set({ used: answer.used, notified: answer.notified })
        .where("budget_id", "=", request.budgetId)
        .where("period", "=", request.period)
        .where("value", "=", request.value)
        .execute();
    }
  }

  async #writeLeases(changed: readonly Changed[]): Promise<void> {
    const { holder, kind, nowMs } = this.#options;
    const leases = changed.map(({ answer: { held }, request }) => {
      return { name: request, sequence: request.sequence, reserved: request.reserved, held };
    });
    await writeLeases(this.#transaction, kind, { holder, leases, expiresAt: nowMs + budgetLeaseMs });
  }
}

interface Changed {
  readonly request: LedgerRequest;
  /** After what was charged at first. */
  readonly before: UsageRow;
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

/** The ledger in Postgres: one short transaction per exchange, at the time of the database. */
import { Pool } from "pg";
import { bucketExpiryMs, settleBucket, type BucketAccount } from "./bucket-account.ts";
import type { LedgerAnswer, LedgerRequest, LimitLedger } from "./limit-ledger.ts";
import { settleSlots, slotExpiryMs, type SlotAccount } from "./slot-account.ts";

interface PostgresLedgerOptions {
  /** `postgres://user:password@host:5432/name`, of a database with the table `limit_leases`. */
  readonly url: string;
  /** How long to wait for an answer. */
  readonly timeoutMs: number;
}

/** Creates the rows that are missing, locks all in one order, and reads them and the time after that. */
const lockAccounts = `
  insert into limit_leases (id, account, expires_at)
  select id, null, 0 from unnest($1::text[]) with ordinality as asked (id, position) order by position
  on conflict (id) do update set id = excluded.id
  returning id, account, extract(epoch from clock_timestamp()) * 1000 as now_ms`;
const writeAccounts = `
  update limit_leases set account = changed.account, expires_at = changed.expires_at
  from unnest($1::text[], $2::text[], $3::bigint[]) as changed (id, account, expires_at)
  where limit_leases.id = changed.id`;
const deleteExpired = `
  delete from limit_leases where id in
  (select id from limit_leases where expires_at < extract(epoch from clock_timestamp()) * 1000 limit 1000
   for update skip locked)`;
const deletionIntervalMs = 60_000;

interface AccountRow {
  readonly id: string;
  readonly account: string | null;
  readonly now_ms: string;
}

export class PostgresLedger implements LimitLedger {
  readonly #pool: Pool;
  #deletedMs = performance.now();

  constructor({ url, timeoutMs }: PostgresLedgerOptions) {
    this.#pool = new Pool({
      connectionString: url,
      application_name: "sounding limits",
      max: 1,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      // An abandoned transaction must not keep its locks.
      idle_in_transaction_session_timeout: 2 * timeoutMs,
      statement_timeout: 2 * timeoutMs,
      keepAlive: true,
      maxLifetimeSeconds: 60,
    });
    // The next exchange replaces a broken idle connection; without a listener it would end the process.
    this.#pool.on("error", () => {});
  }

  async exchange(request: LedgerRequest): Promise<LedgerAnswer> {
    const client = await this.#pool.connect();
    let failed = true;
    try {
      await client.query("begin");
      const ids = [...request.buckets, ...request.slots].map(({ id }) => id).sort();
      const { rows } = await client.query<AccountRow>(lockAccounts, [ids]);
      const { answer, changed } = settle(request, rows);
      await client.query(writeAccounts, [
        changed.map(({ id }) => id),
        changed.map(({ account }) => JSON.stringify(account)),
        changed.map(({ expiresMs }) => Math.ceil(expiresMs)),
      ]);
      await client.query("commit");
      if (performance.now() - this.#deletedMs > deletionIntervalMs) {
        this.#deletedMs = performance.now();
        await client.query(deleteExpired);
      }
      failed = false;
      return answer;
    } finally {
      // A connection that failed may still be in the transaction, or not answer.
      client.release(failed);
    }
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

interface ChangedAccount {
  readonly id: string;
  readonly account: BucketAccount | SlotAccount;
  readonly expiresMs: number;
}

function settle(request: LedgerRequest, rows: readonly AccountRow[]) {
  const accounts = new Map(rows.map(({ id, account }) => [id, account]));
  const nowMs = Math.max(...rows.map(({ now_ms }) => Number(now_ms)));
  const changed: ChangedAccount[] = [];
  const stored = (id: string): unknown => JSON.parse(accounts.get(id) ?? "null") ?? undefined;
  const { leaseMs } = request;
  const buckets = request.buckets.map((each) => {
    const { account, answer } = settleBucket(stored(each.id) as BucketAccount | undefined, each, { nowMs, leaseMs });
    changed.push({ id: each.id, account, expiresMs: bucketExpiryMs(account, each, leaseMs) });
    return answer;
  });
  const slots = request.slots.map((each) => {
    const { account, answer } = settleSlots(stored(each.id) as SlotAccount | undefined, each, { ...request, nowMs });
    changed.push({ id: each.id, account, expiresMs: slotExpiryMs(account) });
    return answer;
  });
  return { answer: { buckets, slots }, changed };
}

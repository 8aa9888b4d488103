/**
 * Delays guesses at the password and the one-time codes of an account, over all servers. Each attempt counts before it is checked, so
 * that attempts at the same time do not get more. Delays grow with the failures and are bounded, and a network from which somebody
 * signed in before is not delayed by the failures of others: nobody can lock a person out.
 * docs/adr/0246-local-accounts.md
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import { findPerson, normalEmail } from "../tenancy/people.ts";
import { hashSecret } from "../tenancy/secret.ts";
import { appendPersonEntry } from "./person-entry.ts";

const ofNetwork = {
  free: inputLimit({
    area: "Administration",
    bounds: "Failed sign-ins at one account from one network before each further one doubles a delay of a second",
    value: 5,
    error: "rate_limited",
  }),
  longestMs: inputLimit({
    area: "Administration",
    bounds: "Delay after failed sign-ins at one account from one network",
    value: 900_000,
    unit: "ms",
    error: "rate_limited",
  }),
};
const ofAll = {
  free: inputLimit({
    area: "Administration",
    bounds: "Failed sign-ins at one account from all networks before each further one doubles a delay of a second",
    value: 20,
    error: "rate_limited",
  }),
  longestMs: inputLimit({
    area: "Administration",
    bounds: "Delay after failed sign-ins at one account from other networks",
    value: 300_000,
    unit: "ms",
    error: "rate_limited",
  }),
};
const mostDelays = inputLimit({
  area: "Administration",
  bounds: "Accounts and networks whose failed sign-ins are remembered",
  value: 20_000,
  error: { instead: "those that failed longest ago are forgotten" },
});
const prunedEvery = 100;
const allNetworks = "*";
const daySeconds = 86_400;
/** How long a network counts as one of the person's. */
const knownSeconds = 90 * daySeconds;

/** Who attempts what. */
export interface AttemptAt {
  readonly email: string;
  /** As `clientNetwork` yields it. */
  readonly network: string;
}

export class AccountDelays {
  readonly #control: ControlDatabase;
  readonly #now: () => number;
  #untilPruning = 0;

  /** @param now UNIX milliseconds */
  constructor(control: ControlDatabase, now: () => number) {
    this.#control = control;
    this.#now = now;
  }

  /** Counts an attempt as failed. Call `undo` or `succeed` if it is not. @throws AppError rate_limited while attempts are delayed */
  async begin({ email, network }: AttemptAt): Promise<void> {
    const account = accountOf(email);
    const isPruning = this.#untilPruning-- <= 0;
    if (isPruning) this.#untilPruning = prunedEvery;
    await this.#control.write(async (transaction) => {
      if (isPruning) await this.#prune(transaction);
      const own = await this.#count(transaction, account, network);
      const all = await this.#count(transaction, account, allNetworks);
      const nowMs = this.#now();
      const isKnown = own.succeeded_at !== null && own.succeeded_at > nowMs / 1000 - knownSeconds;
      const waitMs = Math.max(own.blocked_until_ms, isKnown ? 0 : all.blocked_until_ms) - nowMs;
      if (waitMs > 0)
        throw new AppError("rate_limited", "Too many sign-ins at this account failed. Try again later.", {
          retryAfterMs: waitMs,
        });
      await this.#block(transaction, { account, network }, delayMs(own.failures, ofNetwork));
      await this.#block(transaction, { account, network: allNetworks }, delayMs(all.failures, ofAll));
      if (own.failures === ofNetwork.free || all.failures === ofAll.free)
        await noteDelay(transaction, { email, network }, all.failures);
    });
  }

  /** The attempt proved something, and does not count. */
  async undo({ email, network }: AttemptAt): Promise<void> {
    await this.#control.write(async (transaction) => {
      // Every transaction locks the rows in this order.
      for (const each of [network, allNetworks])
        await transaction
          .updateTable("account_delays")
          .set(({ eb }) => ({ failures: eb("failures", "-", 1), blocked_until_ms: 0 }))
          .where("account_hash", "=", accountOf(email))
          .where("network", "=", each)
          .where("failures", ">", 0)
          .execute();
    });
  }

  /** Forgets the failures, within the transaction that signs the person in. */
  async succeed(transaction: Writer, { email, network }: AttemptAt): Promise<void> {
    const account = accountOf(email);
    const seconds = Math.floor(this.#now() / 1000);
    const known = { failures: 0, blocked_until_ms: 0, succeeded_at: seconds, updated_at: seconds };
    await transaction
      .insertInto("account_delays")
      .values({ ...known, account_hash: account, network })
      .onConflict((conflict) => conflict.columns(["account_hash", "network"]).doUpdateSet(known))
      .execute();
    await transaction
      .updateTable("account_delays")
      .set({ failures: 0, blocked_until_ms: 0 })
      .where("account_hash", "=", account)
      .where("network", "=", allNetworks)
      .execute();
  }

  /** Forgets all failures at an account, whose owner has a link from an operator. */
  async forget(transaction: Writer, email: string): Promise<void> {
    await transaction.deleteFrom("account_delays").where("account_hash", "=", accountOf(email)).execute();
  }

  async #count(transaction: Writer, account: string, network: string) {
    const now = Math.floor(this.#now() / 1000);
    return await transaction
      .insertInto("account_delays")
      .values({
        account_hash: account,
        network,
        failures: 1,
        blocked_until_ms: 0,
        succeeded_at: null,
        updated_at: now,
      })
      .onConflict((conflict) =>
        conflict.columns(["account_hash", "network"]).doUpdateSet(({ eb }) => ({
          failures: eb
            .case()
            .when("account_delays.updated_at", "<", now - daySeconds)
            .then(1)
            .else(eb("account_delays.failures", "+", 1))
            .end(),
          updated_at: now,
        })),
      )
      .returning(["failures", "blocked_until_ms", "succeeded_at"])
      .executeTakeFirstOrThrow();
  }

  async #block(
    transaction: Writer,
    { account, network }: { readonly account: string; readonly network: string },
    forMs: number,
  ): Promise<void> {
    if (forMs === 0) return;
    await transaction
      .updateTable("account_delays")
      .set({ blocked_until_ms: this.#now() + forMs })
      .where("account_hash", "=", account)
      .where("network", "=", network)
      .execute();
  }

  async #prune(transaction: Writer): Promise<void> {
    const now = Math.floor(this.#now() / 1000);
    await transaction
      .deleteFrom("account_delays")
      .where("updated_at", "<", now - daySeconds)
      .where(({ eb, or }) => or([eb("succeeded_at", "is", null), eb("succeeded_at", "<", now - knownSeconds)]))
      .execute();
    const oldest = transaction
      .selectFrom("account_delays")
      .select("updated_at")
      .orderBy("updated_at", "desc")
      .limit(1)
      .offset(mostDelays);
    await transaction.deleteFrom("account_delays").where("updated_at", "<=", oldest).execute();
  }
}

/** The table holds no addresses of people whom the server does not know. */
function accountOf(email: string): string {
  return hashSecret(normalEmail(email));
}

function delayMs(failures: number, { free, longestMs }: typeof ofAll): number {
  return failures < free ? 0 : Math.min(longestMs, 1000 * 2 ** (failures - free));
}

async function noteDelay(transaction: Writer, { email, network }: AttemptAt, failures: number): Promise<void> {
  const person = await findPerson(transaction, { email });
  if (person !== undefined)
    await appendPersonEntry(transaction, person, { action: "delaySignIn", details: { failures }, network });
}

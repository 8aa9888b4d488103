/**
 * The challenges of passkeys, in the control database, since their answers may reach another server. Each can be answered once. Those
 * of sign-ins, which anybody may begin, are bounded by client address and in total.
 */
import { randomBytes } from "node:crypto";
import { inputLimit } from "../../input-limits.ts";
import type { ControlDatabase, Writer } from "../../tenancy/control-database.ts";
import { hashSecret } from "../../tenancy/secret.ts";

export const challengeSeconds = inputLimit({
  area: "Administration",
  bounds: "Time to use or to create a passkey",
  value: 300,
  unit: "seconds",
  error: "invalid_credentials",
});
const perNetwork = inputLimit({
  area: "Administration",
  bounds: "Sign-ins with a passkey that one client address has begun and not finished",
  value: 20,
  error: { instead: "the oldest one cannot be finished" },
});
const inTotal = inputLimit({
  area: "Administration",
  bounds: "Sign-ins with a passkey that are begun and not finished",
  value: 20_000,
  error: { instead: "the oldest ones cannot be finished" },
});
const perSession = 5;
const prunedEvery = 100;

/** Who asks for a challenge: a session that adds a passkey, or a client address that signs in. */
export type Challenged = { readonly sessionId: string } | { readonly network: string };

export class PasskeyChallenges {
  readonly #control: ControlDatabase;
  readonly #now: () => number;
  #untilPruning = 0;

  /** @param now UNIX milliseconds */
  constructor(control: ControlDatabase, now: () => number) {
    this.#control = control;
    this.#now = now;
  }

  async create(transaction: Writer, by: Challenged): Promise<string> {
    const now = Math.floor(this.#now() / 1000);
    await transaction.deleteFrom("passkey_challenges").where("expires_at", "<=", now).execute();
    const [column, owner, most] =
      "sessionId" in by
        ? (["session_id", by.sessionId, perSession] as const)
        : (["network", by.network, perNetwork] as const);
    const kept = transaction
      .selectFrom("passkey_challenges")
      .select("challenge_hash")
      .where(column, "=", owner)
      .orderBy("expires_at", "desc")
      .orderBy("challenge_hash")
      .limit(most - 1);
    await transaction
      .deleteFrom("passkey_challenges")
      .where(column, "=", owner)
      .where("challenge_hash", "not in", kept)
      .execute();
    if (this.#untilPruning-- <= 0) {
      this.#untilPruning = prunedEvery;
      await prune(transaction);
    }
    const challenge = randomBytes(32).toString("base64url");
    await transaction
      .insertInto("passkey_challenges")
      .values({
        challenge_hash: hashSecret(challenge),
        session_id: "sessionId" in by ? by.sessionId : null,
        // Not that of a session: sign-ins from the same address must not end what it has begun.
        network: "network" in by ? by.network : "",
        expires_at: now + challengeSeconds,
      })
      .execute();
    return challenge;
  }

  /**
   * Uses the challenge up, whatever its answer is.
   * @param sessionId the session that adds a passkey; absent: of a sign-in
   * @returns whether it was one that can be answered
   */
  async take(challenge: string, sessionId?: string): Promise<boolean> {
    const hash = hashSecret(challenge);
    // Anyone can send challenges: only those that exist cost a lock for writing.
    const known = await this.#control.read((database) =>
      database
        .selectFrom("passkey_challenges")
        .select("session_id")
        .where("challenge_hash", "=", hash)
        .executeTakeFirst(),
    );
    if (known === undefined || known.session_id !== (sessionId ?? null)) return false;
    const taken = await this.#control.write((transaction) =>
      transaction
        .deleteFrom("passkey_challenges")
        .where("challenge_hash", "=", hash)
        .returning("expires_at")
        .executeTakeFirst(),
    );
    return taken !== undefined && taken.expires_at > this.#now() / 1000;
  }
}

async function prune(transaction: Writer): Promise<void> {
  const oldest = transaction
    .selectFrom("passkey_challenges")
    .select("expires_at")
    .where("session_id", "is", null)
    .orderBy("expires_at", "desc")
    .limit(1)
    .offset(inTotal);
  await transaction
    .deleteFrom("passkey_challenges")
    .where("session_id", "is", null)
    .where("expires_at", "<=", oldest)
    .execute();
}

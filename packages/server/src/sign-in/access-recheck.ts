/**
 * Asks identity providers whether people whose sessions are in use still have access, with the refresh tokens of the sessions. It
 * runs in the background: a session goes on while its provider is asked, and while the provider is down.
 */
import type { OpenIdProvider } from "../identity/openid-provider.ts";
import { inputLimit } from "../input-limits.ts";
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { syncIdentity } from "./link-person.ts";
import type { PersonSessionRow } from "./person-sessions.ts";
import { openToken, sealToken } from "./sealed-token.ts";

export interface AccessRecheckOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  readonly providerOf: (name: string) => OpenIdProvider | undefined;
  /** UNIX milliseconds. */
  readonly now: () => number;
  /** Called when what the database says about a session has changed. */
  readonly onChecked: () => void;
}

/** More sessions are asked about at their next request. */
const concurrentChecks = inputLimit({
  area: "Administration",
  bounds: "Sessions about which identity providers are asked at the same time",
  value: 16,
  error: { instead: "the provider is asked at a later request of the session" },
});

export class AccessRecheck {
  readonly #options: AccessRecheckOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: AccessRecheckOptions) {
    this.#options = options;
  }

  /** Starts a check of the session if one is due. */
  consider(row: PersonSessionRow, secret: string): void {
    if (row.provider_token === null || row.provider === null) return;
    const provider = this.#options.providerOf(row.provider);
    if (provider === undefined || this.#closing.signal.aborted) return;
    const ageMs = this.#options.now() - row.checked_at * 1000;
    if (ageMs < provider.settings.recheck_minutes * 60_000) return;
    if (this.#running.has(row.id) || this.#running.size >= concurrentChecks) return;
    const checking = this.#check(row, secret, provider)
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return;
        this.#options.logger.warn(
          { provider: provider.name, error },
          "an identity provider could not be asked about a session",
        );
      })
      .finally(() => {
        this.#running.delete(row.id);
        this.#options.onChecked();
      });
    this.#running.set(row.id, checking);
  }

  /** Waits until no check is under way. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  async #check(row: PersonSessionRow, secret: string, provider: OpenIdProvider): Promise<void> {
    const { control, logger, now } = this.#options;
    const token = openToken(row.provider_token ?? "", secret, row.id);
    if (token === undefined || row.subject === null || !(await this.#claim(row))) return;
    const refreshed = await provider.refresh(token, row.subject, this.#closing.signal);
    if (refreshed === undefined) {
      logger.info(
        { provider: provider.name, session_id: row.id },
        "a session ended because the identity provider ended it",
      );
      await control.change((transaction) =>
        transaction.deleteFrom("person_sessions").where("id", "=", row.id).execute(),
      );
      return;
    }
    const { identity, refreshToken } = refreshed;
    await control.write((transaction) =>
      transaction
        .updateTable("person_sessions")
        .set({
          provider_token: sealToken(refreshToken, secret, row.id),
          checked_at: Math.floor(now() / 1000),
        })
        .where("id", "=", row.id)
        .execute(),
    );
    if (identity !== undefined) await syncIdentity(row.person_id, identity, { control, logger });
  }

  /** Only one server may use the refresh token: many providers end everything if one is used twice. */
  async #claim(row: PersonSessionRow): Promise<boolean> {
    const { control, now } = this.#options;
    const claimed = await control.write((transaction) =>
      transaction
        .updateTable("person_sessions")
        .set({ checked_at: Math.floor(now() / 1000) })
        .where("id", "=", row.id)
        .where("checked_at", "=", row.checked_at)
        .returning("id")
        .executeTakeFirst(),
    );
    return claimed !== undefined;
  }
}

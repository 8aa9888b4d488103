/**
 * Finds and checks the key for a secret, with a cache, since every request needs it.
 * docs/adr/0005-tenancy-and-sessions.md
 */
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { CheckedKey } from "../tenant.ts";
import type { ControlDatabase } from "./control-database.ts";
import { createRevalidatingCache } from "./revalidating-cache.ts";
import { createLastUsed } from "./last-used.ts";
import { loadKey, refusalOf, type KnownKey } from "./load-key.ts";
import { hashSecret, maximumSecretLength, equalHashes } from "./secret.ts";

export interface KeyCheck {
  /**
   * The key with this secret; synchronous on a cache hit.
   * @throws AppError invalid_api_key; overloaded while the database is unreachable and the key is not cached
   */
  readonly check: (secret: string) => CheckedKey | Promise<CheckedKey>;
  /** Writes when keys were last used. Call it before the database is closed. */
  close(): Promise<void>;
}

export interface KeyCheckOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now?: () => number;
}

/** How long unknown secrets are cached; a key created on another server works after that. */
const unknownAgeMs = 1000;
const maximumUnknown = 10_000;
const useIsNotedEveryMs = 60_000;
/** Characters of a hash that identify a cache entry; the whole hash is compared in constant time. */
const cacheIdLength = 16;

export function createKeyCheck({ control, logger, now = Date.now }: KeyCheckOptions): KeyCheck {
  const lastUsed = createLastUsed(control, logger);
  const known = createRevalidatingCache<string, KnownKey>({
    load: (hash) => control.read((database) => loadKey(database, { secretHash: hash })),
    now,
  });
  const unknown = new Map<string, number>();
  control.onChange(() => {
    known.clear();
    unknown.clear();
  });

  function rememberUnknown(hash: string): void {
    unknown.delete(hash);
    if (unknown.size >= maximumUnknown) unknown.delete(unknown.keys().next().value!);
    unknown.set(hash, now() + unknownAgeMs);
  }

  function admit(secret: KnownKey | undefined, hash: string): CheckedKey {
    if (secret === undefined || !equalHashes(secret.hash, hash)) throw refused(unknownMessage);
    const time = now();
    const refusal = refusalOf(secret, time);
    if (refusal !== undefined) throw refused(refusal);
    if (time - secret.usedMs >= useIsNotedEveryMs) {
      secret.usedMs = time;
      lastUsed.note(secret.key.keyId);
    }
    return secret.key;
  }

  return {
    check(secret) {
      if (secret.length > maximumSecretLength) throw refused(unknownMessage);
      const hash = hashSecret(secret);
      if (unknown.size > 0 && (unknown.get(hash) ?? 0) > now()) throw refused(unknownMessage);
      const found = known.get(hash.slice(0, cacheIdLength), hash);
      if (!(found instanceof Promise)) return admit(found, hash);
      return found.then((loaded) => {
        if (loaded === undefined) rememberUnknown(hash);
        return admit(loaded, hash);
      });
    },
    close: () => lastUsed.close(),
  };
}

const unknownMessage = "Incorrect API key. Check that it is complete and belongs to this server.";

function refused(message: string): AppError {
  return new AppError("invalid_api_key", message);
}

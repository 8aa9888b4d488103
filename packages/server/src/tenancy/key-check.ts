/**
 * Finds and checks the key for a secret, with a cache, since every request needs it.
 * docs/adr/0005-tenancy-and-control-database.md
 */
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { CheckedKey } from "../tenant.ts";
import type { ControlDatabase } from "./control-database.ts";
import { createRevalidatingCache } from "./revalidating-cache.ts";
import { parsePermissions } from "./keys.ts";
import { createLastUsed } from "./last-used.ts";
import { parseLimits } from "./row-values.ts";
import { parseAllowedModels } from "./organizations.ts";
import { hashSecret, maximumSecretLength, equalHashes } from "./secret.ts";

export interface KeyCheck {
  /**
   * The key with this secret; synchronous on a cache hit.
   * @throws AppError invalid_api_key; overloaded while the database is unreachable and the key is not cached
   */
  check(secret: string): CheckedKey | Promise<CheckedKey>;
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

/** A cached secret. */
interface KnownSecret {
  readonly hash: string;
  readonly key: CheckedKey;
  readonly expiresMs: number;
  /** Why the key is refused, regardless of its expiry. */
  readonly refusal: string | undefined;
  /** UNIX milliseconds of the last use that was noted. */
  usedMs: number;
}

export function createKeyCheck({ control, logger, now = Date.now }: KeyCheckOptions): KeyCheck {
  const lastUsed = createLastUsed(control, logger);
  const known = createRevalidatingCache<string, KnownSecret>({ load: (hash) => loadSecret(control, hash), now });
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

  function admit(secret: KnownSecret | undefined, hash: string): CheckedKey {
    if (secret === undefined || !equalHashes(secret.hash, hash)) throw refused(unknownMessage);
    const time = now();
    if (secret.refusal !== undefined) throw refused(secret.refusal);
    if (time >= secret.expiresMs) throw refused("This API key has expired.");
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

async function loadSecret(control: ControlDatabase, hash: string): Promise<KnownSecret | undefined> {
  const row = await control.read((database) =>
    database
      .selectFrom("keys")
      .innerJoin("organizations", "organizations.id", "keys.organization_id")
      .leftJoin("projects", "projects.id", "keys.project_id")
      .where("keys.secret_hash", "=", hash)
      .select([
        "keys.id as keyId",
        "keys.name as keyName",
        "keys.organization_id as organizationId",
        "keys.permissions",
        "keys.limits as keyLimits",
        "keys.operator",
        "keys.expires_at",
        "keys.revoked_at",
        "keys.last_used_at",
        "organizations.name as organizationName",
        "organizations.limits as organizationLimits",
        "organizations.allowed_models",
        "organizations.archived_at as organizationArchivedAt",
        "projects.name as projectName",
        "projects.archived_at as projectArchivedAt",
      ])
      .executeTakeFirst(),
  );
  if (row === undefined) return undefined;
  return {
    hash,
    key: {
      keyId: row.keyId,
      keyName: row.keyName,
      organizationId: row.organizationId,
      organizationName: row.organizationName,
      operator: row.operator === 1,
      projectName: row.projectName ?? undefined,
      permissions: new Set(parsePermissions(row.permissions)),
      keyLimits: parseLimits(row.keyLimits),
      organizationLimits: parseLimits(row.organizationLimits),
      allowedModels: parseAllowedModels(row.allowed_models) ?? undefined,
    },
    expiresMs: row.expires_at === null ? Number.POSITIVE_INFINITY : row.expires_at * 1000,
    refusal: refusalOf(row),
    usedMs: (row.last_used_at ?? 0) * 1000,
  };
}

function refusalOf(row: {
  readonly revoked_at: number | null;
  readonly organizationArchivedAt: number | null;
  readonly projectArchivedAt: number | null;
}): string | undefined {
  if (row.organizationArchivedAt !== null) return "The organization of this API key has been archived.";
  if (row.projectArchivedAt !== null) return "The project that this API key is bound to has been archived.";
  if (row.revoked_at !== null) return "This API key has been revoked.";
  return undefined;
}

/**
 * From the token of a machine or a person at an identity provider to the key that stands for its owner. A person whom the server
 * knows has the roles of the database; anyone else has those that the rules give to the token.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import { createHash } from "node:crypto";
import { AppError } from "../errors.ts";
import type { BearerTokens, TokenOwner } from "../identity/bearer-tokens.ts";
import type { Logger } from "../logger.ts";
import { keyOfPerson } from "../person.ts";
import type { CheckedKey, ScopeClaim } from "../tenant.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { loadGrants, loadPerson, type KnownPerson } from "../tenancy/load-person.ts";
import { createRevalidatingCache } from "../tenancy/revalidating-cache.ts";
import { findByIdentity, resolveGrants } from "./link-person.ts";

export interface TokenOwners {
  /** Synchronous if the token was checked before. @throws AppError as `BearerTokens.check` and `keyOfPerson` */
  keyOf(token: string, claim: ScopeClaim): CheckedKey | Promise<CheckedKey>;
}

export interface TokenOwnersOptions {
  readonly control: ControlDatabase;
  readonly tokens: BearerTokens;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export function createTokenOwners({ control, logger, now, tokens }: TokenOwnersOptions): TokenOwners {
  const known = createRevalidatingCache<TokenOwner, KnownPerson>({
    load: (owner) => loadOwner(control, owner, logger),
    now,
  });
  control.onChange(() => known.clear());

  function keyOfOwner(owner: TokenOwner, claim: ScopeClaim): CheckedKey | Promise<CheckedKey> {
    const found = known.get(identifierOf(owner, owner.grants), owner);
    return found instanceof Promise ? found.then((loaded) => admit(loaded, claim)) : admit(found, claim);
  }

  return {
    keyOf(token, claim) {
      const owner = tokens.check(token);
      return owner instanceof Promise ? owner.then((checked) => keyOfOwner(checked, claim)) : keyOfOwner(owner, claim);
    },
  };
}

function admit(known: KnownPerson | undefined, claim: ScopeClaim): CheckedKey {
  if (known?.refusal !== undefined) throw new AppError("invalid_api_key", known.refusal);
  if (known === undefined) throw new AppError("invalid_api_key", "The owner of the token no longer exists.");
  return keyOfPerson(known.person, claim);
}

function loadOwner(control: ControlDatabase, owner: TokenOwner, logger: Logger): Promise<KnownPerson> {
  return control.read(async (database) => {
    const row = await findByIdentity(database, owner);
    const person = row === undefined ? undefined : await loadPerson(database, row.id);
    if (person !== undefined) return person;
    const name = `${owner.provider}:${owner.subject}`;
    return {
      person: {
        id: `jwt:${identifierOf(owner)}`,
        name: owner.name ?? name,
        email: name,
        operator: false,
        memberships: await loadGrants(database, await resolveGrants(database, owner, logger)),
      },
      refusal: undefined,
    };
  });
}

/** Stays the same for all tokens of an owner, so that limits and usage count them together. */
function identifierOf({ provider, subject }: TokenOwner, ...more: readonly unknown[]): string {
  return createHash("sha256")
    .update(JSON.stringify([provider, subject, ...more]))
    .digest("base64url")
    .slice(0, 22);
}

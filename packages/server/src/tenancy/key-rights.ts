/** What a key may do: by its permissions or its role, and for a personal key no more than its person may. */
import { AppError } from "../errors.ts";
import { permissionsOfKey, permissionsOfRoleKey, type Permission } from "../permissions.ts";
import { keyOfPerson } from "../person.ts";
import type { CheckedKey } from "../tenant.ts";
import type { Reader } from "./control-database.ts";
import { loadPerson } from "./load-person.ts";
import { resolveRoles } from "./roles.ts";
import { parseAllowedModels, parsePermissions } from "./row-values.ts";

interface KeyColumns {
  readonly organizationId: string;
  readonly projectName: string | null;
  readonly permissions: string;
  readonly role: string | null;
  readonly personId: string | null;
  readonly keyModels: string | null;
}

interface KeyRights extends Pick<CheckedKey, "person" | "role" | "permissions"> {
  /** The project that the person's roles bind the key to. */
  readonly projectName: string | undefined;
  /** Absent for the keys that nothing narrows. */
  readonly models: readonly (readonly string[])[] | undefined;
  /** Why the person's key is refused. */
  readonly refusal: string | undefined;
}

export async function loadRights(database: Reader, key: KeyColumns): Promise<KeyRights> {
  const role = key.role === null ? undefined : (await resolveRoles(database, [key.role])).get(key.role);
  const own = parsePermissions(key.permissions);
  const permissions = key.role === null ? permissionsOfKey(own) : permissionsOfRoleKey(role?.permissions ?? []);
  const patterns = [parseAllowedModels(key.keyModels), role?.allowedModels];
  const rights: KeyRights = {
    person: undefined,
    role: role?.name,
    permissions,
    projectName: undefined,
    models: listed(patterns),
    refusal: undefined,
  };
  return key.personId === null ? rights : ofPerson(database, rights, { ...key, personId: key.personId });
}

/** The rights that the person has, too. */
async function ofPerson(
  database: Reader,
  rights: KeyRights,
  key: KeyColumns & { readonly personId: string },
): Promise<KeyRights> {
  const known = await loadPerson(database, key.personId);
  if (known === undefined) return { ...rights, ...nothing, refusal: "The person of this API key no longer exists." };
  const { id, name, email } = known.person;
  const person = { id, name, email };
  if (known.refusal !== undefined) return { ...rights, ...nothing, person, refusal: known.refusal };
  try {
    const claim = { account: key.organizationId, project: key.projectName ?? undefined };
    const theirs = keyOfPerson(known.person, claim);
    return {
      ...rights,
      person,
      permissions: new Set([...rights.permissions].filter((permission) => theirs.permissions.has(permission))),
      projectName: theirs.projectName,
      models: listed([...(rights.models ?? []), ...(theirs.narrowedModels ?? [])]),
    };
  } catch (error) {
    // The roles that the key needs are gone.
    if (!(error instanceof AppError)) throw error;
    return { ...rights, ...nothing, person, refusal: error.message };
  }
}

const nothing = { permissions: new Set<Permission>() };

function listed(
  patterns: readonly (readonly string[] | null | undefined)[],
): readonly (readonly string[])[] | undefined {
  const lists = patterns.filter((list) => list != null);
  return lists.length === 0 ? undefined : lists;
}

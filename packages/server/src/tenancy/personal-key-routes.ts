/** Routes with which people keep API keys of their own. */
import {
  createPersonalKeyOperation,
  listPersonalKeysOperation,
  revokePersonalKeyOperation,
} from "../api/personal-keys.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { permissionsOfKey } from "../permissions.ts";
import type { PersonIdentity, Scope } from "../tenant.ts";
import { requestedProject } from "./authority.ts";
import type { ControlDatabase } from "./control-database.ts";
import { requireMayGrant } from "./grants.ts";
import { createKey, getKey, listKeys, ordinaryPermissions, revokeKey } from "./keys.ts";
import { booleanParameter, pageRequest } from "./list-query.ts";

export function personalKeyRoutes(control: ControlDatabase): Route[] {
  return [
    route(listPersonalKeysOperation, async ({ query, scope }) =>
      json(
        await listKeys(control, {
          ...pageRequest(query),
          organizationId: scope.organizationId,
          personId: requirePerson(scope).id,
          includeRevoked: booleanParameter(query, "include_revoked"),
        }),
      ),
    ),
    route(createPersonalKeyOperation, async ({ body, scope }) => {
      const { id: personId } = requirePerson(scope);
      const granted = body.permissions ?? ordinaryPermissions.filter((permission) => scope.may(permission));
      requireMayGrant(scope, body.permissions ?? [], "The key");
      if (permissionsOfKey(granted).size === 0) {
        throw new AppError("permission_denied", "You have no permission that a key could have.");
      }
      const key = {
        ...body,
        organizationId: scope.organizationId,
        project_id: (await requestedProject(control, scope, body.project_id ?? undefined)) ?? null,
        permissions: granted,
        personId,
      };
      return json(await createKey(control, key), 201);
    }),
    route(revokePersonalKeyOperation, async ({ path, scope }) => {
      const id = path["key_id"] ?? "";
      const key = await getKey(control, id);
      if (key.person_id !== requirePerson(scope).id || key.organization_id !== scope.organizationId) {
        throw new AppError("not_found", `The key ${JSON.stringify(id)} does not exist.`);
      }
      return json(await revokeKey(control, id));
    }),
  ];
}

/** @throws AppError permission_denied */
function requirePerson(scope: Scope): PersonIdentity {
  if (scope.key.person !== undefined) return scope.key.person;
  throw new AppError("permission_denied", "Only a person who is signed in has keys of their own.");
}

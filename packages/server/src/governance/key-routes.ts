/** Serves the requests of the AI Refinery SDK about API keys. */
import type { Key } from "../api/keys.ts";
import { sdkKeys, type SdkKey } from "../api/sdk-keys.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import type { Permission } from "../permissions.ts";
import { boundProjectId, requestedProject } from "../tenancy/authority.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { requireKeyGrant } from "../tenancy/grants.ts";
import { createKey, getKey, listKeys, ordinaryPermissions, revokeKey } from "../tenancy/keys.ts";
import { loadKey } from "../tenancy/load-key.ts";
import { hashSecret } from "../tenancy/secret.ts";
import type { Scope } from "../tenant.ts";
import { readArray } from "./array-page.ts";
import { errorForm, organizationOf } from "./requests.ts";
import { toSdkRole } from "./sdk-objects.ts";

const defaultDays = 90;
const daySeconds = 86_400;
const never = "9999-12-31T23:59:59.000Z";
/** Keys with none of them only read. */
const writing: readonly Permission[] = ["inference", "telemetry_write", "admin"];

export function keyRoutes(control: ControlDatabase): Route[] {
  const show = async (key: Key): Promise<SdkKey> => {
    const known = await control.read((database) => loadKey(database, { id: key.id }));
    const permissions = known?.key.permissions ?? new Set<Permission>();
    return {
      api_key_id: key.id,
      user_id: key.person_id,
      organization_id: key.organization_id,
      label: key.name,
      permission: writing.some((permission) => permissions.has(permission)) ? "READ_WRITE" : "READ_ONLY",
      role: key.operator ? "SUPER_ADMIN" : toSdkRole(permissions),
      expires_date: key.expires_at === null ? never : isoTime(key.expires_at),
      created_date: isoTime(key.created_at),
      updated_date: isoTime(key.revoked_at ?? key.created_at),
    };
  };

  /** The key of the organization with this secret. */
  const keyOf = async (scope: Scope, secret: string | undefined): Promise<Key> => {
    if (secret === undefined) throw new AppError("invalid_request", "api_key is missing.", { param: "api_key" });
    const known = await control.read((database) => loadKey(database, { secretHash: hashSecret(secret) }));
    if (known === undefined || known.key.organizationId !== scope.organizationId) {
      throw new AppError("not_found", "The organization has no such API key.", { param: "api_key" });
    }
    return getKey(control, known.key.keyId);
  };

  return [
    route(
      sdkKeys.create,
      async ({ body: { label = "default", lifespans = defaultDays, organization_id: named }, scope }) => {
        const { person } = scope.key;
        scope.require(person === undefined ? "admin" : "personal_keys");
        const organizationId = await organizationOf(control, scope, named);
        if (person !== undefined) scope.requireOrganization(organizationId);
        const permissions =
          person === undefined ? ordinaryPermissions : ordinaryPermissions.filter((each) => scope.may(each));
        if (person === undefined) {
          await control.read((database) => requireKeyGrant(database, scope, { organizationId, permissions }));
        }
        const { secret, ...key } = await createKey(control, {
          organizationId,
          name: label,
          permissions: [...permissions],
          project_id: (await requestedProject(control, scope, undefined)) ?? null,
          expires_at: Math.floor(Date.now() / 1000) + lifespans * daySeconds,
          personId: person?.id ?? null,
        });
        return json({ ...(await show(key)), api_key: secret }, 201);
      },
      errorForm,
    ),
    route(sdkKeys.inspect, async ({ body, scope }) => json(await show(await keyOf(scope, body.api_key))), errorForm),
    route(
      sdkKeys.revoke,
      async ({ body: { api_key: secret, api_key_id: id }, scope }) => {
        if ((secret === undefined) === (id === undefined)) {
          throw new AppError("invalid_request", "Send either api_key or api_key_id.", { param: "api_key_id" });
        }
        const key = id === undefined ? await keyOf(scope, secret) : await getKey(control, id);
        if (key.organization_id !== scope.organizationId) {
          throw new AppError("not_found", `The key ${JSON.stringify(key.id)} does not exist.`, { param: "api_key_id" });
        }
        const isOwn = secret !== undefined || (key.person_id !== null && key.person_id === scope.key.person?.id);
        if (!isOwn) {
          scope.require("admin");
          const bound = await boundProjectId(control, scope);
          if (bound !== undefined && bound !== key.project_id)
            throw new AppError("not_found", `The key ${JSON.stringify(key.id)} does not exist.`, {
              param: "api_key_id",
            });
        }
        if (key.operator) scope.requireOperator("revoke an operator key");
        return json(await show(await revokeKey(control, key.id)));
      },
      errorForm,
    ),
    route(
      sdkKeys.list,
      async ({ query, scope }) => {
        const { keyId, person } = scope.key;
        const keys =
          person === undefined
            ? [await getKey(control, keyId)]
            : await readArray(query, (page) =>
                listKeys(control, { ...page, organizationId: scope.organizationId, personId: person.id }),
              );
        return json(await Promise.all(keys.map(show)));
      },
      errorForm,
    ),
  ];
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

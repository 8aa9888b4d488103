/**
 * Every operation is called by keys and by people with every built-in role and every single permission, and with the permissions of
 * older keys, on one server.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operations } from "../packages/server/src/api/index.ts";
import type { Operation } from "../packages/server/src/api/operation.ts";
import {
  builtInRoleNames,
  builtInRoles,
  keyPermissions,
  permissionsOfKey,
  permissionsOfRoleKey,
  permissions as allPermissions,
  withIncluded,
  type Permission,
} from "../packages/server/src/permissions.ts";
import { beforeTests } from "./support/hooks.ts";
import { TestIdentityProvider } from "./support/identity-provider.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

interface KnownCaller {
  readonly secret: string;
  readonly permissions: ReadonlySet<Permission>;
}

let server: RunningServer;
let idp: TestIdentityProvider;
const audience = "https://sounding.example.com";
/** Only the role `owner` has the permission of this name. */
const granted = allPermissions.filter((permission) => permission !== "owner");
const soleRole = (permission: Permission): string => `only ${permission}`;

async function created(path: string, body: object): Promise<Record<string, string>> {
  const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Record<string, string>;
}

beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
  const rules = [...builtInRoleNames, ...granted.map(soleRole)].map((role) => ({
    claim: "role",
    values: [role],
    organization: "acme",
    role,
  }));
  const acme = { issuer: idp.issuer, audiences: [audience], rules };
  server = stack.use(await startServer(JSON.stringify({ sign_in: { providers: { acme } } })));
  await created("/organizations", { name: "acme" });
  for (const permission of granted)
    await created("/roles", { organization_id: "acme", name: soleRole(permission), permissions: [permission] });
});

/** A token of a person with the role, who has what no key has: `personal_keys` and `owner`. */
async function personWith(role: string): Promise<string> {
  return await idp.sign({ aud: audience, sub: role, role });
}

async function newKey(rights: object): Promise<string> {
  return (await created("/keys", { organization_id: "acme", name: "k", ...rights }))["secret"]!;
}

const atOnce = 16;
const checked = operations.filter(({ permission }) => permission !== "none" && permission !== "any");

/** Whether the operation's answer says that the caller lacks the permission. */
async function isRefused({ method, path, permission }: Operation, secret: string): Promise<boolean> {
  // Objects that do not exist, and an empty body: what is allowed fails afterwards, and changes nothing.
  const concrete = path.replaceAll(/\{\+?\w+\}/g, "none");
  const response = await fetch(`${server.url}${concrete}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: "{}" }),
  });
  const text = await response.text();
  const says = text.replaceAll(String.raw`\"`, '"').includes(`does not have the permission "${permission}"`);
  if (says) assert.equal(response.status, 403, text);
  return says;
}

async function checkEveryOperation({ permissions, secret }: KnownCaller): Promise<void> {
  const check = async (operation: Operation): Promise<void> => {
    const expected = !permissions.has(operation.permission as Permission);
    assert.equal(await isRefused(operation, secret), expected, `${operation.method} ${operation.path}`);
  };
  for (let from = 0; from < checked.length; from += atOnce) {
    await Promise.all(checked.slice(from, from + atOnce).map(check));
  }
}

describe("every operation", () => {
  for (const role of builtInRoleNames.filter((name) => name !== "owner")) {
    test(`with a key of the role ${role}`, async () => {
      const permissions = permissionsOfRoleKey(builtInRoles[role].permissions);
      await checkEveryOperation({ secret: await newKey({ role }), permissions });
    });
  }

  for (const permission of keyPermissions) {
    test(`with a role that has the permission ${permission} alone`, async () => {
      const permissions = permissionsOfRoleKey([permission]);
      await checkEveryOperation({ secret: await newKey({ role: soleRole(permission) }), permissions });
    });
  }

  for (const role of builtInRoleNames) {
    test(`as a person with the role ${role}`, async () => {
      const permissions = withIncluded(builtInRoles[role].permissions);
      await checkEveryOperation({ secret: await personWith(role), permissions });
    });
  }

  for (const permission of granted) {
    test(`as a person with a role that has the permission ${permission} alone`, async () => {
      await checkEveryOperation({
        secret: await personWith(soleRole(permission)),
        permissions: withIncluded([permission]),
      });
    });
  }

  test("an owner may do everything in the organization that a permission allows", () => {
    assert.deepEqual(withIncluded(builtInRoles.owner.permissions), new Set(allPermissions));
  });

  for (const permission of ["inference", "telemetry_write", "telemetry_read", "admin"] as const) {
    test(`with a key that has the permission ${permission}, as before there were roles`, async () => {
      const permissions = permissionsOfKey([permission]);
      await checkEveryOperation({ secret: await newKey({ permissions: [permission] }), permissions });
    });
  }

  test("for operators only refuses administrators and owners of an organization", async () => {
    const callers = [await newKey({ role: "admin" }), await personWith("admin"), await personWith("owner")];
    const ofOperators = operations.filter(({ operator }) => operator === true);
    for (const [secret, { method, path }] of callers.flatMap((each) =>
      ofOperators.map((one) => [each, one] as const),
    )) {
      const response = await fetch(`${server.url}${path.replaceAll(/\{\+?\w+\}/g, "none")}`, {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(method === "GET" ? {} : { body: JSON.stringify({ name: "n" }) }),
      });
      // Other organizations do not exist for it.
      assert.ok([403, 404].includes(response.status), `${method} ${path}: ${response.status}`);
    }
  });
});

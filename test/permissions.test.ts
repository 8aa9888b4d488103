/** Every operation is called with every built-in role, every single permission and the permissions of older keys, on one server. */
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
  type Permission,
} from "../packages/server/src/permissions.ts";
import { beforeTests } from "./support/hooks.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

interface KnownCaller {
  readonly secret: string;
  readonly permissions: ReadonlySet<Permission>;
}

let server: RunningServer;

async function created(path: string, body: object): Promise<Record<string, string>> {
  const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Record<string, string>;
}

beforeTests(async (stack) => {
  server = stack.use(await startServer());
  await created("/organizations", { name: "acme" });
});

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
      const name = `only ${permission}`;
      await created("/roles", { organization_id: "acme", name, permissions: [permission] });
      const permissions = permissionsOfRoleKey([permission]);
      await checkEveryOperation({ secret: await newKey({ role: name }), permissions });
    });
  }

  for (const permission of ["inference", "telemetry_write", "telemetry_read", "admin"] as const) {
    test(`with a key that has the permission ${permission}, as before there were roles`, async () => {
      const permissions = permissionsOfKey([permission]);
      await checkEveryOperation({ secret: await newKey({ permissions: [permission] }), permissions });
    });
  }

  test("for operators only refuses an administrator of an organization", async () => {
    const secret = await newKey({ role: "admin" });
    for (const { method, path } of operations.filter(({ operator }) => operator === true)) {
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

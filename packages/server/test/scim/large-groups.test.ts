/** Changes of groups with more members than one transaction of SCIM changes: others are served meanwhile, and nothing is left half-way. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { setMembership } from "../../src/tenancy/memberships.ts";
import { insertPerson } from "../../src/tenancy/people.ts";
import { providerSettings } from "../support/provider-settings.ts";
import { startAuditServer, type AuditCall } from "../tenancy/audit-server.ts";

const size = 170;
let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startAuditServer>>;
let call: AuditCall;
let organizationId: string;
/** The identifiers of users without groups. */
const users: string[] = [];
/** Called after each transaction. */
let afterChange = (): void => {};

beforeTests(async (stack) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-groups-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  const rules = ["owner", "member", "viewer"].map((role) => ({ values: [`${role}s`], organization: "acme", role }));
  const acme = providerSettings({ issuer: "https://login.example.com", client_id: "sounding", rules });
  server = stack.use(await startAuditServer(control, { providers: { acme } }));
  const key = { organization_id: "acme", name: "scim", permissions: ["provision"] };
  call = server.as((await server.operator("POST", "/admin/v1/keys", key)).body.secret);
  organizationId = server.acme.organization.id;
  await control.write(async (transaction) => {
    for (let index = 0; index < size; index += 1) {
      const email = `user-${index}@example.com`;
      const { id: personId } = await insertPerson(transaction, { email });
      const id = `suser-${index}`;
      users.push(id);
      await transaction
        .insertInto("scim_users")
        .values({
          id,
          organization_id: organizationId,
          person_id: personId,
          user_name: email,
          user_name_key: email,
          external_id: null,
          attributes: JSON.stringify({ name: {}, emails: [] }),
          active: 1,
          created_at: 1,
          updated_at: 1,
        })
        .execute();
    }
  });
  control.onChange(() => afterChange());
});

const membersOf = (ids: readonly string[]) => ids.map((value) => ({ value }));

async function newGroup(displayName: string, ids: readonly string[] = users): Promise<string> {
  const { body, status } = await call("POST", "/scim/v2/Groups", { displayName, members: membersOf(ids) });
  assert.equal(status, 201, JSON.stringify(body));
  return `/scim/v2/Groups/${body.id}`;
}

const rename = (path: string, displayName: string) =>
  call("PATCH", path, {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
    Operations: [{ op: "replace", value: { displayName } }],
  });

async function remove(path: string): Promise<void> {
  const response = await fetch(`${server.url}${path}`, { method: "DELETE", headers: await authorization() });
  assert.equal(response.status, 204);
}

async function authorization(): Promise<Record<string, string>> {
  const key = { organization_id: "acme", name: "scim", permissions: ["provision"] };
  const { body } = await server.operator("POST", "/admin/v1/keys", key);
  return { authorization: `Bearer ${body.secret}` };
}

/** How many of the users have each role. */
async function roles(): Promise<Record<string, number>> {
  const rows = await control.read((database) =>
    database
      .selectFrom("memberships")
      .select(({ fn }) => ["role", fn.countAll<number>().as("count")])
      .where("source", "=", `scim:${organizationId}`)
      .groupBy("role")
      .execute(),
  );
  return Object.fromEntries(rows.map(({ count, role }) => [role, count]));
}

test("others are served between the transactions, and the answer comes after the last one", async () => {
  const path = await newGroup("members");
  assert.deepEqual(await roles(), { member: size });
  const seen: Record<string, number>[] = [];
  let others: Promise<unknown> = Promise.resolve();
  afterChange = () => {
    afterChange = () => {};
    others = control.change(async () => {}).then(async () => seen.push(await roles()));
  };
  const { status } = await rename(path, "viewers");
  await others;
  assert.equal(status, 200);
  assert.deepEqual(await roles(), { viewer: size });
  assert.ok(seen[0]!["member"]! > 0 && seen[0]!["viewer"]! > 0, JSON.stringify(seen));
  await remove(path);
  assert.deepEqual(await roles(), {});
});

test("a change that ended half-way is completed by the same request", async () => {
  const path = await newGroup("members");
  const cut = async (run: () => Promise<{ readonly status: number }>): Promise<void> => {
    afterChange = () => {
      throw new Error("The server ends.");
    };
    assert.equal((await run()).status, 500);
    afterChange = () => {};
  };
  await cut(() => rename(path, "viewers"));
  assert.notDeepEqual(await roles(), { viewer: size });
  assert.equal((await rename(path, "viewers")).status, 200);
  assert.deepEqual(await roles(), { viewer: size });

  const kept = users.slice(0, 10);
  const replace = () => call("PUT", path, { displayName: "viewers", members: membersOf(kept) });
  await cut(replace);
  assert.ok((await roles())["viewer"]! > kept.length);
  assert.equal((await replace()).status, 200);
  assert.deepEqual(await roles(), { viewer: kept.length });

  assert.equal((await call("PUT", path, { displayName: "viewers", members: membersOf(users) })).status, 200);
  const headers = await authorization();
  await cut(() => fetch(`${server.url}${path}`, { method: "DELETE", headers }));
  assert.ok((await roles())["viewer"]! > 0);
  await remove(path);
  assert.deepEqual(await roles(), {});
});

test("a change that would leave no owner changes nothing", async () => {
  const path = await newGroup("owners");
  assert.deepEqual(await roles(), { owner: size });
  const headers = await authorization();
  const calls = [
    () => rename(path, "viewers"),
    () => call("PUT", path, { displayName: "owners", members: [] }),
    () => call("PUT", path, { displayName: "viewers", members: membersOf(users.slice(1)) }),
    () => fetch(`${server.url}${path}`, { method: "DELETE", headers }),
  ];
  for (const attempt of calls) {
    assert.equal((await attempt()).status, 409);
    assert.deepEqual(await roles(), { owner: size });
    const { body } = (await call("GET", `${path}?excludedAttributes=members`)) as { body: { displayName?: string } };
    assert.equal(body.displayName, "owners");
  }
  const fewer = { displayName: "owners", members: membersOf(users.slice(-1)) };
  assert.equal((await call("PUT", path, fewer)).status, 200);
  assert.deepEqual(await roles(), { owner: 1 });
  // Another owner, whom no group keeps.
  await control.change(async (transaction) => {
    const { id } = await insertPerson(transaction, { email: "owner@example.com" });
    await setMembership(transaction, id, { organizationId, role: "owner" });
  });
  assert.equal((await rename(path, "viewers")).status, 200);
  assert.deepEqual(await roles(), { viewer: 1 });
});

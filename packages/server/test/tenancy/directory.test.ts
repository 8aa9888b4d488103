import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { OrganizationCreate } from "../../src/api/admin.ts";
import { validate } from "../../src/api/validate.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { rotateKey } from "../../src/tenancy/key-rotation.ts";
import { createKey, getKey, listKeys, revokeKey, updateKey } from "../../src/tenancy/keys.ts";
import {
  archiveOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "../../src/tenancy/organizations.ts";
import { archiveProject, createProject, listProjects, updateProject } from "../../src/tenancy/projects.ts";
import { createUsageLedger } from "../../src/tenancy/usage.ts";
import { failure, onEachDatabase } from "./each-database.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

onEachDatabase("the directory", ({ open }) => {
  test("an organization starts with a project named default, default settings and no limits", async () => {
    const control = await open();
    const organization = await createOrganization(control, { name: "acme" });
    assert.match(organization.id, /^org_[0-9a-f]{32}$/);
    assert.deepEqual(organization.limits, {});
    assert.equal(organization.allowed_models, null);
    assert.ok(Math.abs(organization.created_at - Date.now() / 1000) < 60);
    const projects = await listProjects(control, { organizationId: organization.id, limit: 10 });
    assert.deepEqual(
      projects.data.map(({ name, settings }) => ({ name, settings })),
      [{ name: "default", settings: { retention_days: 30, record_content: false } }],
    );
    assert.deepEqual(await getOrganization(control, organization.id), organization);
  });

  test("a change affects only the members that it names", async () => {
    const control = await open();
    const { id } = await createOrganization(control, {
      name: "acme",
      limits: { requests_per_minute: 10, tokens_per_month: 1000 },
      allowed_models: ["gpt-*"],
    });
    const changed = await updateOrganization(control, id, {
      limits: { requests_per_minute: null, concurrent_requests: 3 },
    });
    assert.deepEqual(changed.limits, { tokens_per_month: 1000, concurrent_requests: 3 });
    assert.deepEqual(changed.allowed_models, ["gpt-*"]);
    assert.equal((await updateOrganization(control, id, { allowed_models: null })).allowed_models, null);
    const [project] = (await listProjects(control, { organizationId: id, limit: 1 })).data;
    const { settings } = await updateProject(control, project!.id, {
      settings: { record_content: true },
      requestedBy: "key_1",
    });
    assert.deepEqual(settings, { retention_days: 30, record_content: true });
  });

  test("a name is unique among active objects, and available again after archiving", async () => {
    const control = await open();
    const first = await createOrganization(control, { name: "acme" });
    const taken = {
      code: "conflict",
      param: "name",
      message: 'name is "acme"; another organization already has this name.',
    };
    assert.deepEqual(await failure(() => createOrganization(control, { name: "acme" })), taken);
    const other = await createOrganization(control, { name: "globex" });
    assert.deepEqual(await failure(() => updateOrganization(control, other.id, { name: "acme" })), taken);
    await archiveOrganization(control, first.id);
    assert.notEqual((await createOrganization(control, { name: "acme" })).id, first.id);

    const project = await createProject(control, { organizationId: other.id, name: "bot" });
    const again = () => createProject(control, { organizationId: other.id, name: "bot" });
    assert.equal((await failure(again)).code, "conflict");
    await archiveProject(control, project.id);
    assert.notEqual((await again()).id, project.id);
  });

  test("archiving an organization revokes its keys and archives its projects, and nothing new can be created in it", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const neighbor = await createOrganization(control, { name: "globex" });
    const key = await createKey(control, { organizationId, name: "k" });
    const other = await createKey(control, { organizationId: neighbor.id, name: "k" });
    const archived = await archiveOrganization(control, organizationId);
    assert.notEqual(archived.archived_at, null);
    assert.notEqual((await getKey(control, key.id)).revoked_at, null);
    assert.equal((await getKey(control, other.id)).revoked_at, null);
    assert.deepEqual((await listProjects(control, { organizationId, limit: 10 })).data, []);
    assert.equal((await failure(() => createKey(control, { organizationId, name: "k" }))).code, "conflict");
    assert.equal((await failure(() => createProject(control, { organizationId, name: "p" }))).code, "conflict");
    assert.equal((await failure(() => updateOrganization(control, organizationId, { name: "x" }))).code, "conflict");
    assert.deepEqual(await archiveOrganization(control, organizationId), archived);
    const listed = (await listOrganizations(control, { limit: 10 })).data.map(({ name }) => name);
    assert.deepEqual(listed, ["globex"]);
    assert.equal((await listOrganizations(control, { limit: 10, includeArchived: true })).data.length, 2);
  });

  test("archiving a project revokes only the keys that are bound to it", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const project = await createProject(control, { organizationId, name: "bot" });
    const bound = await createKey(control, { organizationId, project_id: project.id, name: "bound" });
    const free = await createKey(control, { organizationId, name: "free" });
    await archiveProject(control, project.id);
    assert.notEqual((await getKey(control, bound.id)).revoked_at, null);
    assert.equal((await getKey(control, free.id)).revoked_at, null);
    const bindAgain = () => createKey(control, { organizationId, project_id: project.id, name: "late" });
    assert.equal((await failure(bindAgain)).code, "conflict");
  });

  test("a key's secret is shown once and only its hash is stored", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { secret, ...key } = await createKey(control, {
      organizationId,
      name: "k",
      limits: { requests_per_minute: 5 },
    });
    assert.match(secret, /^sk-[\w-]{43}$/);
    assert.deepEqual(key.permissions, ["inference", "telemetry_write", "telemetry_read"]);
    assert.equal(key.redacted_secret, `${secret.slice(0, 7)}…${secret.slice(-4)}`);
    assert.deepEqual(await getKey(control, key.id), key);
    const rows = await control.read((database) => database.selectFrom("keys").selectAll().execute());
    assert.ok(!JSON.stringify(rows).includes(secret.slice(3)), "the database has the secret");
  });

  test("a key cannot be bound to a project of another organization", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { id: foreign } = await createOrganization(control, { name: "globex" });
    const project = await createProject(control, { organizationId: foreign, name: "bot" });
    const bind = () => createKey(control, { organizationId, project_id: project.id, name: "k" });
    assert.deepEqual(await failure(bind), {
      code: "not_found",
      param: "project_id",
      message: `The organization does not have the project "${project.id}".`,
    });
  });

  test("contradicting permissions and past times are refused", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const project = await createProject(control, { organizationId, name: "bot" });
    const refused = async (work: () => unknown) => (await failure(work)).param;
    assert.equal(await refused(() => createKey(control, { organizationId, name: "k", operator: true })), "operator");
    const boundAdmin = { organizationId, name: "k", project_id: project.id, permissions: ["admin" as const] };
    assert.equal(await refused(() => createKey(control, boundAdmin)), "project_id");
    assert.equal(await refused(() => createKey(control, { organizationId, name: "k", expires_at: 1 })), "expires_at");
    const key = await createKey(control, { organizationId, name: "k" });
    assert.equal(await refused(() => updateKey(control, key.id, { expires_at: 1 })), "expires_at");
  });

  test("the last operator's key cannot be revoked", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const operator = { organizationId, name: "o", permissions: ["admin" as const], operator: true };
    const first = await createKey(control, operator);
    assert.equal((await failure(() => revokeKey(control, first.id))).code, "conflict");
    assert.equal((await failure(() => archiveOrganization(control, organizationId))).code, "conflict");
    assert.equal((await getKey(control, first.id)).revoked_at, null);
    const { id: elsewhere } = await createOrganization(control, { name: "globex" });
    await createKey(control, { ...operator, organizationId: elsewhere });
    assert.notEqual((await revokeKey(control, first.id)).revoked_at, null);
  });

  test("two operators who revoke each other's keys concurrently leave one key", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const operator = { organizationId, name: "o", permissions: ["admin" as const], operator: true };
    const keys = [await createKey(control, operator), await createKey(control, operator)];
    const results = await Promise.allSettled(keys.map(({ id }) => revokeKey(control, id)));
    assert.deepEqual(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  });

  test("a revoked key does not change", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { id } = await createKey(control, { organizationId, name: "k" });
    const revoked = await revokeKey(control, id);
    assert.deepEqual(await revokeKey(control, id), revoked);
    assert.equal((await failure(() => updateKey(control, id, { name: "x" }))).code, "conflict");
    assert.deepEqual((await listKeys(control, { organizationId, limit: 5 })).data, []);
    assert.equal((await listKeys(control, { organizationId, limit: 5, includeRevoked: true })).data.length, 1);
  });

  test("pages follow each other without gaps or duplicates", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const made: string[] = [];
    for (let number = 0; number < 7; number += 1) {
      made.push((await createKey(control, { organizationId, name: `k${number}` })).id);
    }
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await listKeys(control, { organizationId, limit: 3, after });
      seen.push(...page.data.map(({ id }) => id));
      if (!page.has_more) break;
      after = page.last_id ?? undefined;
    }
    assert.deepEqual(seen.sort(), made.sort());
    const empty = await listKeys(control, { organizationId, limit: 3, after: seen.at(-1) });
    assert.deepEqual(empty, { object: "list", data: [], has_more: false, last_id: null });
  });

  test("an organization has at most 10,000 keys that are not revoked, those by rotation included", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const first = await createKey(control, { organizationId, name: "first" });
    await control.write(async (transaction) => {
      const row = await transaction.selectFrom("keys").selectAll().where("id", "=", first.id).executeTakeFirstOrThrow();
      const copies = Array.from({ length: 9999 }, (_, index) => ({
        ...row,
        id: `key_${String(index).padStart(32, "0")}`,
        secret_hash: `hash ${index}`,
      }));
      for (let from = 0; from < copies.length; from += 1000)
        await transaction
          .insertInto("keys")
          .values(copies.slice(from, from + 1000))
          .execute();
    });
    const full = {
      code: "conflict",
      param: null,
      message: "The organization has 10000 API keys, which is the limit. Revoke one first.",
    };
    assert.deepEqual(await failure(() => createKey(control, { organizationId, name: "next" })), full);
    assert.deepEqual(await failure(() => rotateKey(control, first.id, { grace_seconds: 60 })), full);
    await revokeKey(control, `key_${"0".repeat(32)}`);
    await createKey(control, { organizationId, name: "next" });
    const other = await createOrganization(control, { name: "globex" });
    await createKey(control, { organizationId: other.id, name: "another organization's" });
  });

  test("missing objects are not found", async () => {
    const control = await open();
    for (const work of [
      () => getOrganization(control, "org_x' or '1'='1"),
      () => getKey(control, "key_none"),
      () => createKey(control, { organizationId: "org_none", name: "k" }),
      () => updateProject(control, "proj_none", { requestedBy: "key_1" }),
      () => archiveProject(control, "proj_none"),
      () => revokeKey(control, "key_none"),
    ]) {
      assert.equal((await failure(work)).code, "not_found");
    }
  });

  test("any name is returned unchanged or refused; none harms the database", async () => {
    const control = await open();
    const made = new Set<string>();
    const hostile = fc.constantFrom(
      "x'; drop table keys; --",
      'a"b',
      "a\\b",
      "$1",
      "%s",
      "a\u0000b",
      "Ünïcode 東京",
      "a ",
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(hostile, fc.string({ unit: "grapheme" })), async (name) => {
        const input = await accepted(name);
        if (input === undefined || made.has(name)) return;
        made.add(name);
        const { id } = await createOrganization(control, input);
        assert.equal((await getOrganization(control, id)).name, name);
        const found = await listOrganizations(control, { name, limit: 2 });
        assert.deepEqual(
          found.data.map((each) => each.id),
          [id],
        );
      }),
      { numRuns: propertyRuns(150), examples: [["Ünïcode 東京"], ["a\u0301"], [" a"], [""]] },
    );
    assert.ok(made.has("Ünïcode 東京"), "no name was accepted");
    await assertIntact(control);
  });

  test("values that the contract would refuse do no harm even in the directory", async () => {
    const control = await open();
    const name = `x'); delete from keys; --`;
    const { id } = await createOrganization(control, { name, allowed_models: ["'; drop table keys; --"] });
    assert.equal((await getOrganization(control, id)).name, name);
    assert.deepEqual((await listKeys(control, { limit: 5, after: "' or 1=1 --" })).data, []);
    await assertIntact(control);
  });

  test("the ledger sums tokens by key and month, whatever the order and the number of writers", async () => {
    const control = await open();
    const ledger = createUsageLedger(control);
    const entry = { organizationId: "org_a", keyId: "key_a", month: "2026-11", tokens: 7 };
    const many = Array.from({ length: 450 }, (_, index) => ({ ...entry, keyId: `key_${index}`, tokens: 1 }));
    await Promise.all([
      ledger.add([entry, entry, { ...entry, month: "2026-12", tokens: 5 }]),
      ledger.add([{ ...entry, keyId: "key_b", tokens: 2 ** 45 }, entry]),
      ledger.add(many),
      ledger.add(many.toReversed()),
      ledger.add([]),
    ]);
    const november = new Map((await ledger.read("2026-11")).map(({ keyId, tokens }) => [keyId, tokens]));
    assert.equal(november.get("key_a"), 21);
    assert.equal(november.get("key_b"), 2 ** 45);
    assert.equal(november.get("key_449"), 2);
    assert.equal(november.size, 452);
    const december = await ledger.read("2026-12");
    assert.deepEqual(
      december.map((each) => ({ ...each })),
      [{ ...entry, month: "2026-12", tokens: 5 }],
    );
    assert.deepEqual(await ledger.read("2027-01"), []);
    assert.equal((await failure(() => ledger.add([entry, { ...entry, tokens: -1 }]))).code, "internal");
    assert.equal((await ledger.read("2026-11")).find(({ keyId }) => keyId === "key_a")?.tokens, 21);
  });
});

async function accepted(name: string): Promise<{ name: string } | undefined> {
  try {
    return validate(OrganizationCreate, { name });
  } catch {
    return undefined;
  }
}

async function assertIntact(control: ControlDatabase): Promise<void> {
  const { id: organizationId } = await createOrganization(control, { name: `intact ${Date.now()}` });
  const { id } = await createKey(control, { organizationId, name: "k" });
  assert.equal((await getKey(control, id)).organization_id, organizationId);
}

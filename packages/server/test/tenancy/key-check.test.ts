import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLogger } from "../../src/logger.ts";
import type { CheckedKey } from "../../src/tenant.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createKeyCheck, type KeyCheck } from "../../src/tenancy/key-check.ts";
import { createKey, getKey, revokeKey, updateKey } from "../../src/tenancy/keys.ts";
import { archiveOrganization, createOrganization, updateOrganization } from "../../src/tenancy/organizations.ts";
import { createProject } from "../../src/tenancy/projects.ts";
import { newSecret } from "../../src/tenancy/secret.ts";
import { failure, onEachDatabase } from "./each-database.ts";
import { startPostgres, type PostgresServer } from "./postgres-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

/** A clock that stands still until it is advanced. */
function testClock() {
  let time = Date.now();
  return { now: () => time, advance: (milliseconds: number) => void (time += milliseconds) };
}

function checkOf(control: ControlDatabase, now: () => number): KeyCheck {
  return createKeyCheck({ control, logger: silentLogger, now });
}

/** Repeats the check until a background update produces the expected answer. */
async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadlineMs, "it did not come about");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

onEachDatabase("the key check", ({ location, open }) => {
  test("returns a key with its organization, and from the cache the second time", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, {
      name: "acme",
      limits: { tokens_per_month: 9 },
      allowed_models: ["gpt-*"],
    });
    const project = await createProject(control, { organizationId, name: "bot" });
    const { id: keyId, secret } = await createKey(control, {
      organizationId,
      project_id: project.id,
      name: "k",
      permissions: ["inference"],
      limits: { requests_per_minute: 3 },
    });
    const keys = checkOf(control, Date.now);
    const expected: CheckedKey = {
      keyId,
      keyName: "k",
      organizationId,
      organizationName: "acme",
      operator: false,
      projectName: "bot",
      person: undefined,
      role: undefined,
      permissions: new Set(["inference", "models_read"]),
      keyLimits: { requests_per_minute: 3 },
      limitsKeyId: keyId,
      organizationLimits: { tokens_per_month: 9 },
      allowedModels: ["gpt-*"],
      narrowedModels: undefined,
      recordsContent: true,
    };
    const first = keys.check(secret);
    assert.ok(first instanceof Promise);
    assert.deepEqual(await first, expected);
    assert.deepEqual(keys.check(secret), expected);
    await keys.close();
  });

  test("refuses unknown secrets, with the same message for all", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { secret } = await createKey(control, { organizationId, name: "k" });
    const keys = checkOf(control, Date.now);
    const failures = new Set<string>();
    const wrong = ["", "sk-", newSecret(), secret.slice(0, -1), `${secret}x`, secret.toUpperCase(), "x".repeat(300)];
    for (const each of [...wrong, "' or '1'='1", "\u0000"]) {
      failures.add(JSON.stringify(await failure(() => keys.check(each))));
      failures.add(JSON.stringify(await failure(() => keys.check(each))));
    }
    assert.equal(failures.size, 1);
    assert.match([...failures][0]!, /"invalid_api_key"/);
    await keys.close();
  });

  test("refuses a key immediately after it was revoked in this process, and tells its owner so", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { id, secret } = await createKey(control, { organizationId, name: "k" });
    const keys = checkOf(control, Date.now);
    await keys.check(secret);
    await revokeKey(control, id);
    const revoked = await failure(() => keys.check(secret));
    assert.deepEqual(revoked, { code: "invalid_api_key", param: null, message: "This API key has been revoked." });
    assert.deepEqual(await failure(() => keys.check(secret)), revoked);
    await keys.close();
  });

  test("refuses a key within five seconds after it was revoked by another server", async () => {
    const place = await location();
    const [here, elsewhere] = [await openControlDatabase(place), await openControlDatabase(place)];
    const clock = testClock();
    const keys = checkOf(here, clock.now);
    const { id: organizationId } = await createOrganization(elsewhere, { name: "acme" });
    const { id, secret } = await createKey(elsewhere, { organizationId, name: "k" });
    await keys.check(secret);
    await revokeKey(elsewhere, id);
    clock.advance(2000);
    assert.equal((keys.check(secret) as CheckedKey).keyId, id);
    clock.advance(3000);
    assert.match((await failure(() => keys.check(secret))).message, /revoked/);
    await keys.close();
    await Promise.all([here.close(), elsewhere.close()]);
  });

  test("reloads a key that is in use in the background, before it is too old", async () => {
    const place = await location();
    const [here, elsewhere] = [await openControlDatabase(place), await openControlDatabase(place)];
    const clock = testClock();
    const keys = checkOf(here, clock.now);
    const { id: organizationId } = await createOrganization(elsewhere, { name: "acme" });
    const { secret } = await createKey(elsewhere, { organizationId, name: "k" });
    await keys.check(secret);
    await updateOrganization(elsewhere, organizationId, { name: "renamed" });
    clock.advance(3000);
    assert.equal((keys.check(secret) as CheckedKey).organizationName, "acme");
    await until(() => (keys.check(secret) as CheckedKey).organizationName === "renamed");
    await keys.close();
    await Promise.all([here.close(), elsewhere.close()]);
  });

  test("refuses a key from the second in which it expires", async () => {
    const control = await open();
    const clock = testClock();
    const keys = checkOf(control, clock.now);
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const expiresAt = Math.floor(clock.now() / 1000) + 3600;
    const { secret } = await createKey(control, { organizationId, name: "k", expires_at: expiresAt });
    await keys.check(secret);
    clock.advance(expiresAt * 1000 - clock.now() - 1);
    await keys.check(secret);
    clock.advance(1);
    const expired = await failure(() => keys.check(secret));
    assert.deepEqual(expired, { code: "invalid_api_key", param: null, message: "This API key has expired." });
    await keys.close();
  });

  test("accepts a key created on another server after a second, though it was refused before", async () => {
    const place = await location();
    const [here, elsewhere] = [await openControlDatabase(place), await openControlDatabase(place)];
    const clock = testClock();
    const keys = checkOf(here, clock.now);
    const { id: organizationId } = await createOrganization(elsewhere, { name: "acme" });
    const { id, secret } = await createKey(elsewhere, { organizationId, name: "k" });
    const { secret_hash } = await elsewhere.read((database) =>
      database.selectFrom("keys").select("secret_hash").where("id", "=", id).executeTakeFirstOrThrow(),
    );
    const setHash = (hash: string) =>
      elsewhere.write((transaction) => transaction.updateTable("keys").set({ secret_hash: hash }).execute());
    await setHash("not yet");
    await failure(() => keys.check(secret));
    await setHash(secret_hash);
    await failure(() => keys.check(secret));
    clock.advance(1001);
    assert.equal((await keys.check(secret)).keyId, id);
    await keys.close();
    await Promise.all([here.close(), elsewhere.close()]);
  });

  test("refuses the keys of an archived organization", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { secret } = await createKey(control, { organizationId, name: "k" });
    const keys = checkOf(control, Date.now);
    await keys.check(secret);
    await archiveOrganization(control, organizationId);
    assert.match((await failure(() => keys.check(secret))).message, /organization of this API key has been archived/);
    await keys.close();
  });

  test("ignores a check that began before a revocation", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { id, secret } = await createKey(control, { organizationId, name: "k" });
    const keys = checkOf(control, Date.now);
    const [, revoked] = await Promise.all([
      failure(() => keys.check(secret)).catch(() => "allowed"),
      revokeKey(control, id),
    ]);
    assert.notEqual(revoked.revoked_at, null);
    assert.match((await failure(() => keys.check(secret))).message, /revoked/);
    await keys.close();
  });

  test("records when a key was last used, at most once a minute", async () => {
    const control = await open();
    const clock = testClock();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const { id, secret } = await createKey(control, { organizationId, name: "k" });
    let writes = 0;
    const counting: ControlDatabase = {
      ...control,
      write: (work) => {
        writes += 1;
        return control.write(work);
      },
    };
    const keys = checkOf(counting, clock.now);
    for (let use = 0; use < 5; use += 1) await keys.check(secret);
    assert.equal((await getKey(control, id)).last_used_at, null);
    await keys.close();
    assert.ok(Math.abs((await getKey(control, id)).last_used_at! - Date.now() / 1000) < 60);
    clock.advance(59_000);
    await keys.check(secret);
    await keys.close();
    assert.equal(writes, 1);
    clock.advance(62_000);
    await keys.check(secret);
    await keys.close();
    assert.equal(writes, 2);
  });
});

describe("the key check while Postgres is unreachable", { skip: needs("postgresql") }, () => {
  let server: PostgresServer;
  beforeTests(async (stack) => {
    server = stack.use(await startPostgres());
  });

  test("serves known keys for a minute, answers 503 for others and never 401, and recovers", async () => {
    const control = await openControlDatabase({ url: await server.newDatabase(), dataDirectory: "unused" });
    const clock = testClock();
    const keys = checkOf(control, clock.now);
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const known = await createKey(control, { organizationId, name: "known" });
    const seldom = await createKey(control, { organizationId, name: "seldom used" });
    await keys.check(known.secret);
    await server.stop();

    for (let seconds = 0; seconds < 58; seconds += 2) {
      clock.advance(2000);
      assert.equal((await keys.check(known.secret)).keyId, known.id);
    }
    for (const secret of [seldom.secret, newSecret()]) {
      assert.equal((await failure(() => keys.check(secret))).code, "overloaded");
    }
    assert.equal((await failure(() => updateKey(control, known.id, { name: "x" }))).code, "overloaded");
    clock.advance(3000);
    assert.equal((await failure(() => keys.check(known.secret))).code, "overloaded");

    await server.start();
    assert.equal((await keys.check(known.secret)).keyId, known.id);
    assert.equal((await keys.check(seldom.secret)).keyId, seldom.id);
    assert.equal((await failure(() => keys.check(newSecret()))).code, "invalid_api_key");
    await keys.close();
    await control.close();
  });
});

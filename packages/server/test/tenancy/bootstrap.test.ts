import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { silentLogger } from "../../src/logger.ts";
import { permissionsOfKey } from "../../src/permissions.ts";
import { bootstrap, type InitialCredentials } from "../../src/tenancy/bootstrap.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createKeyCheck } from "../../src/tenancy/key-check.ts";
import { createKey, listKeys, revokeKey } from "../../src/tenancy/keys.ts";
import { archiveOrganization, createOrganization, listOrganizations } from "../../src/tenancy/organizations.ts";
import { listProjects } from "../../src/tenancy/projects.ts";
import { newSecret } from "../../src/tenancy/secret.ts";
import { failure, onEachDatabase } from "./each-database.ts";

const run = promisify(execFile);

async function check(control: ControlDatabase, secret: string) {
  const keys = createKeyCheck({ control, logger: silentLogger });
  try {
    return await keys.check(secret);
  } finally {
    await keys.close();
  }
}

onEachDatabase("the first start", ({ location, open }) => {
  test("creates an organization, a project and two working keys, once", async () => {
    const control = await open();
    const first = await bootstrap(control);
    assert.ok(first?.operatorKey !== undefined);
    assert.equal(first.organization, "default");
    const key = await check(control, first.key);
    assert.deepEqual(key.permissions, permissionsOfKey(["inference", "telemetry_write", "telemetry_read"]));
    assert.equal(key.operator, false);
    const operator = await check(control, first.operatorKey);
    assert.deepEqual(operator.permissions, permissionsOfKey(["admin"]));
    assert.equal(operator.operator, true);
    assert.equal(await bootstrap(control), undefined);
    assert.equal((await listOrganizations(control, { limit: 10 })).data.length, 1);
    assert.deepEqual(
      (await listProjects(control, { limit: 10 })).data.map(({ name }) => name),
      ["default"],
    );
    assert.equal((await listKeys(control, { limit: 10 })).data.length, 2);
  });

  test("happens once when several servers start at the same time on an empty database", async () => {
    const place = JSON.stringify(await location());
    const started = await Promise.all(
      Array.from({ length: 4 }, () => run(process.execPath, [join(import.meta.dirname, "start-server.ts"), place])),
    );
    const results = started.map(({ stdout }) => JSON.parse(stdout) as InitialCredentials | null);
    const firsts = results.filter((result) => result !== null);
    assert.equal(firsts.length, 1);
    const control = await openControlDatabase(JSON.parse(place));
    assert.equal((await listKeys(control, { limit: 10 })).data.length, 2);
    assert.equal((await check(control, firsts[0]!.key)).organizationName, "default");
    await control.close();
  });

  test("installs the configured operator's key instead of creating one", async () => {
    const control = await open();
    const adminKey = newSecret();
    const first = await bootstrap(control, { adminKey });
    assert.equal(first?.operatorKey, undefined);
    assert.equal((await check(control, adminKey)).operator, true);
    assert.equal(await bootstrap(control, { adminKey }), undefined);
    assert.equal((await listKeys(control, { limit: 10 })).data.length, 2);
  });

  test("rotates the configured key when it changes, and leaves other keys alone", async () => {
    const control = await open();
    const [before, later] = [newSecret(), newSecret()];
    const first = await bootstrap(control, { adminKey: before });
    await bootstrap(control, { adminKey: later });
    assert.match((await failure(() => check(control, before))).message, /revoked/);
    assert.equal((await check(control, later)).operator, true);
    assert.equal((await check(control, first!.key)).operator, false);
    await bootstrap(control);
    assert.equal((await check(control, later)).operator, true);
    await bootstrap(control, { adminKey: before });
    assert.equal((await check(control, before)).operator, true);
    assert.match((await failure(() => check(control, later))).message, /revoked/);
  });

  test("restores the configured key after it was revoked or its organization archived", async () => {
    const control = await open();
    const adminKey = newSecret();
    await bootstrap(control, { adminKey });
    const configured = await check(control, adminKey);
    const { id: organizationId } = await createOrganization(control, { name: "second" });
    await createKey(control, { organizationId, name: "o", permissions: ["admin"], operator: true });
    await revokeKey(control, configured.keyId);
    await failure(() => check(control, adminKey));
    await bootstrap(control, { adminKey });
    assert.equal((await check(control, adminKey)).operator, true);
    await archiveOrganization(control, configured.organizationId);
    await bootstrap(control, { adminKey });
    assert.equal((await check(control, adminKey)).organizationName, "second");
  });

  test("refuses a configured key that is short, has other characters, or is an ordinary key's secret", async () => {
    const control = await open();
    const first = await bootstrap(control);
    for (const adminKey of ["sk-short", `sk-${"ä".repeat(40)}`, "x".repeat(40), `sk-${"x".repeat(400)}`, first!.key]) {
      const error = await failure(() => bootstrap(control, { adminKey }));
      assert.deepEqual([error.code, error.param], ["invalid_request", "admin_key"]);
      assert.ok(!error.message.includes(adminKey), "the message has the secret");
    }
    assert.equal((await check(control, first!.key)).operator, false);
  });
});

describe("the control database's location", () => {
  test("SQLite's files are readable only by their owner", async (context) => {
    const parent = mkdtempSync(join(tmpdir(), "sounding-mode-"));
    context.after(() => rmSync(parent, { recursive: true, force: true }));
    const dataDirectory = join(parent, "new", "data");
    const control = await openControlDatabase({ dataDirectory });
    await bootstrap(control);
    const mode = (path: string) => statSync(path).mode & 0o777;
    assert.equal(mode(dataDirectory), 0o700);
    for (const suffix of ["", "-wal", "-shm"]) {
      assert.equal(mode(join(dataDirectory, `control.sqlite${suffix}`)), 0o600);
    }
    await control.close();
  });

  test("a file that is not a database and an unreachable Postgres are reported as such", async (context) => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "sounding-broken-"));
    context.after(() => rmSync(dataDirectory, { recursive: true, force: true }));
    writeFileSync(join(dataDirectory, "control.sqlite"), "this is not a database, whatever its name says".repeat(50));
    const broken = await failure(() => openControlDatabase({ dataDirectory }));
    assert.equal(broken.code, "internal");
    assert.match(broken.message, /control\.sqlite is damaged .*not a database.*Restore/s);
    const url = `postgres://someone:secret-word@127.0.0.1:1/none`;
    const absent = await failure(() => openControlDatabase({ url, dataDirectory }));
    assert.equal(absent.code, "overloaded");
    assert.ok(!absent.message.includes("secret-word"));
  });
});

/** Passkeys of people: adding, using, naming and removing them, and how many there may be. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { totpCode, totpStep } from "../../src/sign-in/totp.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { onEachDatabase } from "../tenancy/each-database.ts";
import { startSessionServer, TestBrowser } from "../tenancy/session-server.ts";
import { goodPassword } from "./account-server.ts";
import { origin, outcome, own, proof, publicUrl, refusedSignIn, startPasskeyServer } from "./passkey-server.ts";
import { TestAuthenticator, type CreationOptions } from "./test-authenticator.ts";

let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startPasskeyServer>>;
beforeTests(async (stack) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-passkeys-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  server = stack.use(await startPasskeyServer(control));
});

describe("a passkey", () => {
  test("is both factors: it signs in without the password and the one-time code", async () => {
    const { authenticator, browser, email } = await server.joinWithPasskey("acme", "admin");
    const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
    const code = totpCode(secret, totpStep(server.clock.ms / 1000));
    await browser.request("POST", "/authentication/account/one_time_codes", { body: { ...proof, secret, code } });
    const other = server.browser();
    assert.equal((await server.signInWith(authenticator, {}, other)).status, 201);
    const { body } = await other.request("GET", "/authentication/session");
    assert.deepEqual([(body["person"] as { email: string }).email, body["role"]], [email, "admin"]);
    assert.equal((await other.request("GET", "/administration")).status, 200);
    const { body: passkeys } = await other.request("GET", own);
    const [shown] = passkeys["data"] as Record<string, unknown>[];
    assert.deepEqual([shown!["name"], shown!["rp_id"], shown!["backed_up"]], ["Laptop", "sounding.example", false]);
    assert.equal(typeof shown!["last_used_at"], "number");
  });

  test("is offered for the host of server.public_url, to whom has the password, with the ones that exist", async () => {
    const { authenticator, browser, email, id } = await server.joinWithPasskey();
    const options = (await server.creationOptions(browser)) as CreationOptions & Record<string, unknown>;
    assert.deepEqual(options.rp, { id: "sounding.example", name: "Sounding" });
    assert.deepEqual(options.user, {
      id: Buffer.from(id).toString("base64url"),
      name: email,
      displayName: email.split("@")[0],
    });
    assert.deepEqual(options["excludeCredentials"], [
      { type: "public-key", id: authenticator.credentialId, transports: ["internal"] },
    ]);
    const wrong = await browser.request("POST", "/authentication/account/passkey_options", {
      body: { current_password: "wrong wrong wrong" },
    });
    assert.deepEqual([wrong.status, wrong.body.error?.param], [400, "current_password"]);
  });

  test("can be renamed and removed by its person only, and removed only with the password", async () => {
    const { authenticator, browser, passkey } = await server.joinWithPasskey();
    const { browser: stranger } = await server.joinWithPasskey();
    for (const [method, path, body] of [
      ["GET", `${own}/${passkey}`, undefined],
      ["PATCH", `${own}/${passkey}`, { name: "Mine" }],
      ["POST", `${own}/${passkey}/remove`, proof],
    ] as const)
      assert.equal((await stranger.request(method, path, { body })).status, 404, `${method} ${path}`);
    const renamed = await browser.request("PATCH", `${own}/${passkey}`, { body: { name: "Phone" } });
    assert.equal(renamed.body["name"], "Phone");
    const remove = (password: string) =>
      browser.request("POST", `${own}/${passkey}/remove`, { body: { current_password: password } });
    assert.equal((await remove("wrong wrong wrong")).status, 400);
    assert.equal((await server.signInWith(authenticator)).status, 201);
    assert.deepEqual((await remove(goodPassword)).body["data"], []);
    assert.deepEqual(outcome(await server.signInWith(authenticator)), refusedSignIn);
  });

  test("goes with a reset of the account, and does not let a disabled person in", async () => {
    const { authenticator, id } = await server.joinWithPasskey();
    await server.admin("PATCH", `/people/${id}`, { disabled: true });
    assert.deepEqual(outcome(await server.signInWith(authenticator)), [403, "sign_in_refused"]);
    await server.admin("PATCH", `/people/${id}`, { disabled: false });
    assert.equal((await server.signInWith(authenticator)).status, 201);
    const reset = { token: await server.link(id), password: goodPassword };
    assert.equal(
      (await server.browser().request("POST", "/authentication/account_links", { body: reset })).status,
      201,
    );
    assert.deepEqual(outcome(await server.signInWith(authenticator)), refusedSignIn);
  });

  test("can be added and used on another server than where that began", async () => {
    await using second = await startSessionServer(control, { publicUrl, passwordCost: { N: 2 ** 8, r: 8, p: 1 } });
    const { browser } = await server.join();
    const authenticator = new TestAuthenticator(origin);
    const elsewhere = new TestBrowser(second.url);
    elsewhere.cookie = browser.cookie;
    const added = await server.send(elsewhere, authenticator.create(await server.creationOptions(browser)));
    assert.equal(added.status, 201, JSON.stringify(added.body));
    const options = await server.requestOptions(server.browser());
    assert.equal((await server.use(new TestBrowser(second.url), authenticator.get(options))).status, 201);
  });

  test("is reported on the sign-in page, and accepted, only while accounts are enabled", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    await using without = await startSessionServer(control, { publicUrl, accounts: false });
    const elsewhere = new TestBrowser(without.url);
    elsewhere.cookie = browser.cookie;
    const shown = async (at: TestBrowser) => (await at.request("GET", "/authentication/providers")).body["passkeys"];
    assert.deepEqual([await shown(browser), await shown(elsewhere)], [true, false]);
    const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser));
    assert.equal((await server.send(elsewhere, creation)).status, 403);
    assert.equal((await elsewhere.request("POST", "/authentication/passkey_challenges")).status, 403);
    const answer = authenticator.get(await server.requestOptions(browser));
    assert.equal((await server.use(elsewhere, answer)).status, 403);
  });

  test("needs a host name: without one, the answer says what to set", async () => {
    await using plain = await startSessionServer(control);
    for (const host of ["127.0.0.1:4141", "evil.example"]) {
      const response = await fetch(`${plain.url}/authentication/passkey_challenges`, {
        method: "POST",
        headers: { "x-forwarded-host": host },
      });
      const { error } = (await response.json()) as { error: { message: string } };
      assert.equal(response.status, 400);
      assert.match(error.message, /Set server\.public_url, or open http:\/\/localhost:/);
    }
  });
});

describe("limits", () => {
  test("of a person: 20 passkeys", async () => {
    const { browser } = await server.join();
    for (let count = 0; count < 20; count++) {
      const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser));
      assert.equal((await server.send(browser, creation, `Key ${count}`)).status, 201);
      // Each takes a password, of which an address may send a bounded number a minute.
      server.clock.ms += 2_000;
    }
    const more = await browser.request("POST", "/authentication/account/passkey_options", { body: proof });
    assert.deepEqual(outcome(more), [409, "conflict"]);
  });

  test("of an address: the oldest of more than 20 challenges is forgotten, and no other address's", async () => {
    const { authenticator } = await server.joinWithPasskey();
    const elsewhere = await server.requestOptions(server.browser());
    const attacker = server.browser();
    const first = await server.requestOptions(attacker);
    for (let count = 0; count < 20; count++) {
      server.clock.ms += 1_000;
      await server.requestOptions(attacker);
    }
    assert.deepEqual(outcome(await server.use(attacker, authenticator.get(first))), refusedSignIn);
    assert.equal((await server.use(server.browser(), authenticator.get(elsewhere))).status, 201);
    const { count } = await control.read((database) =>
      database
        .selectFrom("passkey_challenges")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("network", "!=", "")
        .executeTakeFirstOrThrow(),
    );
    assert.ok(count <= 40, `${count}`);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 60; sent++)
      statuses.add((await attacker.request("POST", "/authentication/passkey_challenges")).status);
    assert.ok(statuses.has(429));
  });
});

onEachDatabase("passkeys", (databases) => {
  test("are added, used, refused when copied, and removed; of many challenges, the oldest are forgotten", async () => {
    const database = await databases.open();
    await using at = await startPasskeyServer(database);
    const { authenticator, browser, passkey } = await at.joinWithPasskey();
    assert.equal((await at.signInWith(authenticator)).status, 201);
    assert.deepEqual(outcome(await at.signInWith(authenticator, { counter: 1 })), refusedSignIn);
    assert.equal((await at.signInWith(authenticator)).status, 201);
    const other = at.browser();
    const first = await at.requestOptions(other);
    for (let count = 0; count < 20; count++) {
      at.clock.ms += 1_000;
      await at.requestOptions(other);
    }
    assert.deepEqual(outcome(await at.use(other, authenticator.get(first))), refusedSignIn);
    const rows = await database.read((each) => each.selectFrom("passkey_challenges").selectAll().execute());
    assert.equal(rows.length, 20);
    const removed = await browser.request("POST", `${own}/${passkey}/remove`, { body: proof });
    assert.deepEqual([removed.status, removed.body["data"]], [200, []]);
  });
});

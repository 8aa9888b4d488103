import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { createSessionOperation, createSignInCodeOperation } from "../../src/api/sessions.ts";
import { satisfies } from "../../src/api/validate.ts";
import { bootstrap, type InitialCredentials } from "../../src/tenancy/bootstrap.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { rotateKey } from "../../src/tenancy/key-rotation.ts";
import { createKey, getKey, listKeys, revokeKey } from "../../src/tenancy/keys.ts";
import { archiveOrganization, createOrganization } from "../../src/tenancy/organizations.ts";
import { createProject } from "../../src/tenancy/projects.ts";
import { nowSeconds } from "../../src/tenancy/row-values.ts";
import { createSignInCode, redeemSignInCode, sessionIdleSeconds } from "../../src/tenancy/sessions.ts";
import { hashSecret } from "../../src/tenancy/secret.ts";
import { onEachDatabase } from "./each-database.ts";
import { startSessionServer, TestBrowser } from "./session-server.ts";

const daySeconds = 86_400;

/** The first start's keys and their IDs. */
async function firstKeys(control: ControlDatabase) {
  const first = (await bootstrap(control)) as InitialCredentials;
  const { data } = await listKeys(control, { limit: 100 });
  const idOf = (name: string): string => data.find((key) => key.name === name)!.id;
  return { key: first.key, operatorKey: first.operatorKey!, keyId: idOf("first key"), operatorKeyId: idOf("operator") };
}

const sessionCount = (control: ControlDatabase): Promise<number> =>
  control.read(async (database) => (await database.selectFrom("sessions").select("id").execute()).length);

onEachDatabase("sessions", ({ open, location }) => {
  test("both keys of a server open one session, which uses the operator key for the admin API only", async () => {
    const control = await open();
    const { key, operatorKey, keyId, operatorKeyId } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const browser = new TestBrowser(server.url);
    assert.equal((await browser.request("GET", "/authentication/session")).status, 401);
    const session = await browser.signIn({ key, operator_key: operatorKey });
    assert.ok(satisfies(createSessionOperation.answer.schema!, session));
    const { id, organization_id, organizations, expires_at, ...who } = session;
    assert.match(id, /^sess_/);
    assert.match(organization_id, /^org_/);
    assert.deepEqual(organizations, [{ id: organization_id, name: "default" }]);
    assert.ok(Math.abs(expires_at - nowSeconds() - 30 * daySeconds) < 60);
    assert.deepEqual(who, {
      object: "session",
      organization: "default",
      project: null,
      person: null,
      role: null,
      provider: null,
      key_id: keyId,
      key_name: "first key",
      operator_key_id: operatorKeyId,
      operator_key_name: "operator",
      operator: true,
      permissions: [
        "inference",
        "models_read",
        "telemetry_write",
        "telemetry_read",
        "content_read",
        "spend_read",
        "configuration_read",
        "admin",
      ],
    });
    assert.deepEqual((await browser.request("GET", "/authentication/session")).body, session);
    assert.equal((await browser.request("POST", "/inference")).body["key_id"], keyId);
    assert.equal((await browser.request("GET", "/telemetry")).body["key_id"], keyId);
    assert.equal((await browser.request("GET", "/administration")).body["key_id"], operatorKeyId);
    const created = await browser.request("POST", "/admin/v1/organizations", { body: { name: "acme" } });
    assert.equal(created.status, 201);
  });

  test("a session has the permissions and the project of its key", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const project = await createProject(control, { organizationId, name: "bot" });
    const bound = await createKey(control, {
      organizationId,
      project_id: project.id,
      name: "bound",
      permissions: ["telemetry_read"],
    });
    await using server = await startSessionServer(control);
    const browser = new TestBrowser(server.url);
    const session = await browser.signIn({ key: bound.secret });
    assert.deepEqual([session["project"], session["operator"]], ["bot", false]);
    assert.equal((await browser.request("GET", "/telemetry")).body["project"], "bot");
    const sameOrigin = { "sec-fetch-site": "same-origin" };
    const other = await browser.request("GET", "/telemetry", { headers: { ...sameOrigin, "x-project": "desk" } });
    assert.equal(other.body.error?.code, "project_mismatch");
    for (const [method, path] of [
      ["POST", "/inference"],
      ["GET", "/administration"],
    ] as const)
      assert.equal((await browser.request(method, path)).body.error?.code, "permission_denied");
  });

  test("the operator key alone opens a session, and an operator_key must have the permission admin", async () => {
    const control = await open();
    const { key, operatorKey, operatorKeyId } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const browser = new TestBrowser(server.url);
    for (const body of [{ key: operatorKey }, { operator_key: operatorKey }]) {
      const session = await browser.signIn(body);
      assert.deepEqual([session["key_id"], session["operator_key_id"]], [operatorKeyId, null]);
    }
    const answer = await browser.request("POST", "/authentication/sessions", { body: { operator_key: key } });
    assert.deepEqual([answer.status, answer.body.error?.param], [400, "operator_key"]);
    for (const body of [{}, { key, code: "x" }, { unknown: "x" }])
      assert.equal((await browser.request("POST", "/authentication/sessions", { body })).status, 400);
  });

  test("the cookie is hidden from scripts and other sites, and Secure behind a proxy that serves TLS", async () => {
    const control = await open();
    const { key } = await firstKeys(control);
    await using server = await startSessionServer(control, { settings: { trusted_proxies: ["loopback"] } });
    const plain = new TestBrowser(server.url);
    await plain.signIn({ key });
    const form = String.raw`sounding_session_\w{8}=[\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict`;
    assert.match(plain.setCookie!, new RegExp(`^${form}$`));
    const secure = new TestBrowser(server.url, { "x-forwarded-proto": "https", "x-forwarded-host": "s.example.com" });
    await secure.signIn({ key });
    assert.match(secure.setCookie!, new RegExp(`^__Host-${form}; Secure$`));
    assert.equal((await secure.request("GET", "/telemetry")).status, 200);
    const fromProxy = { origin: "https://s.example.com" };
    assert.equal((await secure.request("POST", "/inference", { headers: fromProxy })).status, 200);
  });

  test("no proxy is trusted unless it is configured", async () => {
    const control = await open();
    const { key } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const browser = new TestBrowser(server.url, { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" });
    await browser.signIn({ key });
    assert.doesNotMatch(browser.setCookie!, /Secure/);
    const headers = { origin: "https://evil.example" };
    assert.equal((await browser.request("POST", "/inference", { headers })).body.error?.code, "cross_origin");
  });

  test("two servers on one host have cookies of different names, and servers that share a database the same", async () => {
    const place = await location();
    const [one, same, other] = [await openControlDatabase(place), await openControlDatabase(place), await open()];
    const { key } = await firstKeys(one);
    const { key: otherKey } = await firstKeys(other);
    await using first = await startSessionServer(one);
    await using second = await startSessionServer(same);
    await using third = await startSessionServer(other);
    const browser = new TestBrowser(first.url);
    await browser.signIn({ key });
    const shared = new TestBrowser(second.url);
    shared.cookie = browser.cookie;
    assert.equal((await shared.request("GET", "/telemetry")).status, 200);
    const elsewhere = new TestBrowser(third.url);
    await elsewhere.signIn({ key: otherKey });
    assert.notEqual(elsewhere.cookie!.split("=", 1)[0], browser.cookie!.split("=", 1)[0]);
    await Promise.all([first.close(), second.close()]);
    await Promise.all([one.close(), same.close()]);
  });

  test("revoking, rotating or archiving ends the session at once, and says why", async () => {
    const control = await open();
    const { key, operatorKey, operatorKeyId } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    const newKey = (name: string) => createKey(control, { organizationId, name });
    const [revoked, rotated, archived] = [await newKey("a"), await newKey("b"), await newKey("c")];
    const { organization_id: own } = await getKey(control, operatorKeyId);
    await createKey(control, { organizationId: own, name: "spare", permissions: ["admin"], operator: true });
    const cases = [
      [{ key: revoked.secret }, () => revokeKey(control, revoked.id), /This API key has been revoked/],
      [{ key: rotated.secret }, () => rotateKey(control, rotated.id, {}), /This API key has been revoked/],
      [{ key, operator_key: operatorKey }, () => revokeKey(control, operatorKeyId), /This API key has been revoked/],
      [{ key: archived.secret }, () => archiveOrganization(control, organizationId), /organization.*archived/],
    ] as const;
    for (const [keys, end, reason] of cases) {
      const browser = new TestBrowser(server.url);
      await browser.signIn(keys);
      assert.equal((await browser.request("GET", "/telemetry")).status, 200);
      await end();
      const refused = await browser.request("GET", "/telemetry");
      assert.deepEqual([refused.status, refused.body.error?.code], [401, "invalid_session"]);
      assert.match(refused.body.error!.message, reason);
    }
  });

  test("a session of keys ends after the server's hours and minutes without use", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    let time = Date.now();
    const limits = { session_hours: 1, session_idle_minutes: 30 };
    await using server = await startSessionServer(control, { now: () => time, ...limits });
    const { secret } = await createKey(control, { organizationId, name: "a" });
    const [idle, used] = [new TestBrowser(server.url), new TestBrowser(server.url)];
    await idle.signIn({ key: secret });
    await used.signIn({ key: secret });
    const start = time;
    // The server notes the time of the last use by the system's clock.
    const use = () =>
      control.change((transaction) =>
        transaction
          .updateTable("sessions")
          .set({ last_used_at: Math.floor(time / 1000) - 10 })
          .execute(),
      );
    time = start + 31 * 60_000;
    assert.match((await idle.request("GET", "/telemetry")).body.error!.message, /not used for 30 minutes/);
    await use();
    assert.equal((await used.request("GET", "/telemetry")).status, 200);
    time = start + 61 * 60_000;
    await use();
    assert.match((await used.request("GET", "/telemetry")).body.error!.message, /It has expired\./);
  });

  test("a session ends with its key's expiry, after a week without use, and after 30 days", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "acme" });
    let time = Date.now();
    const start = time;
    await using server = await startSessionServer(control, { now: () => time });
    const short = await createKey(control, { organizationId, name: "a", expires_at: nowSeconds() + 60 });
    const { secret } = await createKey(control, { organizationId, name: "b" });
    const signedIn = async (key: string) => {
      const browser = new TestBrowser(server.url);
      const session = await browser.signIn({ key });
      return { browser, expiresAt: session["expires_at"] };
    };
    const expiring = await signedIn(short.secret);
    assert.equal(expiring.expiresAt, short.expires_at);
    const [idle, used] = [await signedIn(secret), await signedIn(secret)];
    time = start + 61_000;
    assert.match((await expiring.browser.request("GET", "/telemetry")).body.error!.message, /API key has expired/);
    time = start + sessionIdleSeconds * 1000 + 1000;
    assert.match((await idle.browser.request("GET", "/telemetry")).body.error!.message, /not used for a week/);
    const setUsed = (seconds: number) =>
      control.change((transaction) => transaction.updateTable("sessions").set({ last_used_at: seconds }).execute());
    await setUsed(Math.floor(time / 1000) - 10);
    assert.equal((await used.browser.request("GET", "/telemetry")).status, 200);
    time = start + 30 * daySeconds * 1000 + 1000;
    await setUsed(Math.floor(time / 1000) - 10);
    assert.match((await used.browser.request("GET", "/telemetry")).body.error!.message, /It has expired\./);
  });

  test("uses of a session are recorded for it and for its key", async () => {
    const control = await open();
    const { key, keyId } = await firstKeys(control);
    let time = Date.now();
    const server = await startSessionServer(control, { now: () => time });
    const browser = new TestBrowser(server.url);
    await browser.signIn({ key });
    const times = () =>
      control.read(async (database) => ({
        session: (await database.selectFrom("sessions").select("last_used_at").executeTakeFirstOrThrow()).last_used_at,
        key: (
          await database.selectFrom("keys").select("last_used_at").where("id", "=", keyId).executeTakeFirstOrThrow()
        ).last_used_at,
      }));
    await control.write(async (transaction) => {
      await transaction
        .updateTable("sessions")
        .set({ last_used_at: 1000 + nowSeconds() - daySeconds })
        .execute();
      await transaction.updateTable("keys").set({ last_used_at: 1000 }).execute();
    });
    time += 120_000;
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
    await server.close();
    const after = await times();
    for (const each of [after.session, after.key]) assert.ok(Math.abs(each! - nowSeconds()) < 60, String(each));
  });

  test("signing out ends the session and removes the cookie; signing in again ends the previous session", async () => {
    const control = await open();
    const { key } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const browser = new TestBrowser(server.url);
    await browser.signIn({ key });
    const { cookie } = browser;
    await browser.signIn({ key });
    assert.equal(await sessionCount(control), 1);
    const stolen = new TestBrowser(server.url);
    stolen.cookie = cookie;
    assert.equal((await stolen.request("GET", "/telemetry")).body.error?.code, "invalid_session");
    stolen.cookie = browser.cookie;
    assert.equal((await stolen.request("GET", "/telemetry")).status, 200);
    assert.equal((await browser.request("DELETE", "/authentication/session")).status, 200);
    assert.equal(browser.cookie, undefined);
    assert.match(browser.setCookie!, /=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/);
    assert.equal((await stolen.request("GET", "/telemetry")).body.error?.code, "invalid_session");
    assert.equal(await sessionCount(control), 0);
  });

  test("a session survives a restart, and secrets and codes are stored only as hashes", async () => {
    const control = await open();
    const { key, keyId } = await firstKeys(control);
    const browser = await (async () => {
      await using server = await startSessionServer(control);
      const signedIn = new TestBrowser(server.url);
      await signedIn.signIn({ key });
      return signedIn;
    })();
    await using server = await startSessionServer(control);
    const later = new TestBrowser(server.url);
    later.cookie = browser.cookie;
    assert.equal((await later.request("GET", "/telemetry")).body["key_id"], keyId);
    const { code } = await createSignInCode(control, { keyId, operatorKeyId: undefined });
    const secret = browser.cookie!.split("=")[1]!;
    const stored = await control.read(async (database) =>
      JSON.stringify([
        await database.selectFrom("sessions").selectAll().execute(),
        await database.selectFrom("sign_in_codes").selectAll().execute(),
      ]),
    );
    assert.ok(stored.includes(hashSecret(secret)) && stored.includes(hashSecret(code)));
    assert.ok(!stored.includes(secret) && !stored.includes(code));
  });

  test("a key has at most 50 sessions and 20 codes, the newest, and expired rows are deleted", async () => {
    const control = await open();
    const { key, keyId } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const oldest = new TestBrowser(server.url);
    await oldest.signIn({ key });
    for (let index = 0; index < 50; index += 1) await new TestBrowser(server.url).signIn({ key });
    assert.equal(await sessionCount(control), 50);
    // No cached session: this server deleted the row without being asked to end the session.
    await control.change(async () => {});
    assert.equal((await oldest.request("GET", "/telemetry")).status, 401);
    await control.write((transaction) => transaction.updateTable("sessions").set({ expires_at: 1000 }).execute());
    await new TestBrowser(server.url).signIn({ key });
    assert.equal(await sessionCount(control), 1);

    const keys = { keyId, operatorKeyId: undefined };
    for (let index = 0; index < 25; index += 1) await createSignInCode(control, keys);
    const codes = () =>
      control.read(async (database) => (await database.selectFrom("sign_in_codes").selectAll().execute()).length);
    assert.equal(await codes(), 20);
    await control.write((transaction) => transaction.updateTable("sign_in_codes").set({ expires_at: 1000 }).execute());
    await createSignInCode(control, keys);
    assert.equal(await codes(), 1);
  });

  test("a code signs in once, also when two servers receive it at the same time, and expires", async () => {
    const place = await location();
    const [one, other] = [await openControlDatabase(place), await openControlDatabase(place)];
    const { keyId } = await firstKeys(one);
    const keys = { keyId, operatorKeyId: undefined };
    for (let round = 0; round < 5; round += 1) {
      const { code } = await createSignInCode(one, keys);
      const redeemed = await Promise.all([one, other, one, other].map((control) => redeemSignInCode(control, code)));
      assert.deepEqual(
        redeemed.filter((each) => each !== undefined),
        [keys],
      );
    }
    const { code, expiresAt } = await createSignInCode(one, keys);
    assert.ok(Math.abs(expiresAt - nowSeconds() - 300) < 10);
    assert.equal(await redeemSignInCode(one, code, expiresAt), undefined);
    await Promise.all([one.close(), other.close()]);
  });

  test("a key creates a code with a link, which opens a session with the same keys", async () => {
    const control = await open();
    const { key, operatorKey, keyId, operatorKeyId } = await firstKeys(control);
    await using server = await startSessionServer(control);
    const withKey = (secret: string, body: unknown) =>
      new TestBrowser(server.url, { authorization: `Bearer ${secret}` }).request(
        "POST",
        "/authentication/sign_in_codes",
        { body, headers: {} },
      );
    const created = await withKey(key, { operator_key: operatorKey });
    assert.equal(created.status, 201);
    assert.ok(satisfies(createSignInCodeOperation.answer.schema!, created.body));
    const { code, url } = created.body as { code: string; url: string };
    assert.equal(url, `${server.url}/console/sign-in#code=${code}`);
    const browser = new TestBrowser(server.url);
    const session = await browser.signIn({ code });
    assert.deepEqual([session["key_id"], session["operator_key_id"]], [keyId, operatorKeyId]);
    const again = await new TestBrowser(server.url).request("POST", "/authentication/sessions", { body: { code } });
    assert.deepEqual([again.status, again.body.error?.code], [401, "invalid_sign_in_code"]);
    assert.equal((await withKey("sk-wrong", {})).status, 401);
    const wrongOperator = await withKey(key, { operator_key: "sk-wrong" });
    assert.deepEqual([wrongOperator.status, wrongOperator.body.error?.param], [401, "operator_key"]);
    const bySession = await browser.request("POST", "/authentication/sign_in_codes", { body: {} });
    assert.equal(bySession.body.error?.code, "permission_denied");

    const unused = (await withKey(key, {})).body as { code: string };
    await revokeKey(control, keyId);
    const late = await new TestBrowser(server.url).request("POST", "/authentication/sessions", {
      body: { code: unused.code },
    });
    assert.match(late.body.error!.message, /This API key has been revoked/);
  });

  test("a link leads to this server only, whatever host the request names", async () => {
    const control = await open();
    const { key } = await firstKeys(control);
    const linkOf = async (headers: Record<string, string>, publicUrl?: string): Promise<string> => {
      await using server = await startSessionServer(control, {
        ...(publicUrl === undefined ? {} : { publicUrl }),
        settings: { trusted_proxies: "x-forwarded-host" in headers ? ["loopback"] : [] },
      });
      const { status, body } = await requestAs(server.url, { authorization: `Bearer ${key}`, ...headers });
      assert.equal(status, 201);
      return (JSON.parse(body) as { url: string }).url.split("/console/")[0]!;
    };
    for (const host of [
      "evil.example",
      "evil.example:4141",
      "localhost@evil.example",
      "localhost/evil",
      "[::1",
      "localhost.evil.example",
      "203.0.113.7",
      "203.0.113.7:4141",
      "[2001:db8::7]:4141",
    ])
      assert.equal(await linkOf({ host }), "http://127.0.0.1:4141");
    assert.equal(await linkOf({ host: "evil.example" }, "https://sounding.example/"), "https://sounding.example");
    for (const host of [
      "localhost:9",
      "10.1.2.3",
      "192.168.0.4:8080",
      "[::1]:4141",
      "[fd00::1]",
      "a.localhost",
      hostname(),
    ])
      assert.equal(await linkOf({ host }), `http://${host}`);
    const forwarded = { "x-forwarded-host": "sounding.example", "x-forwarded-proto": "https" };
    assert.equal(await linkOf(forwarded), "https://sounding.example");
  });

  test("wrong keys and codes count as wrong keys of their address, and valid ones still work", async () => {
    const control = await open();
    const { key } = await firstKeys(control);
    await using server = await startSessionServer(control, { failedKeys: new FailedKeys(3, () => 0) });
    const browser = new TestBrowser(server.url);
    const statuses: number[] = [];
    for (const body of [{ key: "sk-a" }, { code: "b" }, { key, operator_key: "sk-c" }, { code: "d" }, { key: "sk-e" }])
      statuses.push((await browser.request("POST", "/authentication/sessions", { body })).status);
    assert.deepEqual(statuses, [401, 401, 401, 429, 429]);
    browser.cookie = "sounding_session_00000000=x";
    await browser.signIn({ key });
  });

  test("a key may create 100 sessions and codes in a minute", async () => {
    const control = await open();
    const { key, operatorKey } = await firstKeys(control);
    let time = Date.now();
    await using server = await startSessionServer(control, { now: () => time });
    const browser = new TestBrowser(server.url);
    const signInStatus = async (secret: string): Promise<number> =>
      (await browser.request("POST", "/authentication/sessions", { body: { key: secret } })).status;
    const codes = new TestBrowser(server.url, { authorization: `Bearer ${key}` });
    const createCode = () => codes.request("POST", "/authentication/sign_in_codes", { body: {} });
    for (let index = 0; index < 50; index += 1) {
      assert.equal(await signInStatus(key), 201);
      assert.equal((await createCode()).status, 201);
    }
    assert.equal(await signInStatus(key), 429);
    const refused = await createCode();
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
    assert.equal(await signInStatus(operatorKey), 201);
    time += 1000;
    assert.equal(await signInStatus(key), 201);
  });
});

/** Creates a sign-in code with any headers; `fetch` sends its own Host. */
async function requestAs(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const request = httpRequest(`${url}/authentication/sign_in_codes`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
  });
  request.end("{}");
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { status: response.statusCode!, body: await text(response) };
}

/** How sessions end or change with the access of their people at the provider, on both databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientId, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { onEachDatabase } from "../tenancy/each-database.ts";
import { PersonBrowser } from "./person-browser.ts";
import { createOrganizations, newPerson, startProviderServer } from "./provider-server.ts";

let idp: TestIdentityProvider;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
});

onEachDatabase("sessions and the provider", ({ open }) => {
  const logout = async (url: string, token: string) => {
    const response = await fetch(`${url}/sign-in/acme/backchannel-logout`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: token }),
    });
    return { status: response.status, text: await response.text() };
  };
  const event = { "http://schemas.openid.net/event/backchannel-logout": {} };

  test("a logout at the provider ends the sessions that it names, once", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const [alice, bob] = [newPerson("alice", "dev"), newPerson("bob", "dev")];
    const [browser, other, ofBob] = [1, 2, 3].map(() => new PersonBrowser(server.url)) as [
      PersonBrowser,
      PersonBrowser,
      PersonBrowser,
    ];
    idp.person = alice;
    await browser.signIn();
    await other.signIn();
    idp.person = bob;
    await ofBob.signIn();
    const token = await idp.sign({ aud: clientId, sub: alice.sub, jti: crypto.randomUUID(), events: event });
    assert.deepEqual(await logout(server.url, token), { status: 200, text: "{}" });
    for (const each of [browser, other]) assert.equal((await each.request("GET", "/telemetry")).status, 401);
    assert.equal((await ofBob.request("GET", "/telemetry")).status, 200);
    idp.person = alice;
    await browser.signIn();
    const replayed = await logout(server.url, token);
    assert.equal(replayed.status, 400);
    assert.match(replayed.text, /sent before/);
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
  });

  test("the logouts of many people, all from the provider's address, are obeyed", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const alice = newPerson("alice", "dev");
    idp.person = alice;
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    const others = Array.from({ length: 80 }, async (_, index) => {
      const claims = { aud: clientId, sub: `other-${index}`, jti: crypto.randomUUID(), events: event };
      for (;;) {
        const answer = await logout(server.url, await idp.sign(claims));
        // Only so many at the same time.
        if (answer.status !== 503 && !answer.text.includes("not finished yet")) return answer;
      }
    });
    for (const { status, text } of await Promise.all(others)) assert.equal(status, 200, text);
    const token = await idp.sign({ aud: clientId, sub: alice.sub, jti: crypto.randomUUID(), events: event });
    assert.equal((await logout(server.url, token)).status, 200);
    assert.equal((await browser.request("GET", "/telemetry")).status, 401);
  });

  test("logout tokens that are not valid end nothing", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const alice = newPerson("alice", "dev");
    idp.person = alice;
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    const now = Math.floor(Date.now() / 1000);
    const valid = { aud: clientId, sub: alice.sub, jti: crypto.randomUUID(), events: event };
    const cases: [claims: Record<string, unknown>, problem: RegExp][] = [
      [{ aud: "another" }, /`aud`/],
      [{ iss: "https://other.example.com" }, /`iss`/],
      [{ events: undefined }, /`events`/],
      [{ events: {} }, /about a logout/],
      [{ nonce: "n" }, /`nonce`/],
      [{ sub: undefined }, /neither a person/],
      [{ jti: undefined }, /`jti`/],
      [{ iat: now - 700 }, /`iat`|expired/],
      [{ iat: now + 700, exp: now + 900 }, /future|`iat`/],
    ];
    for (const [changes, problem] of cases) {
      const { status, text } = await logout(server.url, await idp.sign({ ...valid, ...changes }));
      assert.deepEqual([status, problem.test(text)], [400, true], text);
    }
    assert.equal((await logout(server.url, "")).status, 400);
    assert.equal((await logout(server.url, await idp.sign(valid, { typ: "at+jwt" }))).status, 400);
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
  });

  test("a session in use asks the provider, and ends or changes with the person's access there", async () => {
    const control = await open();
    await createOrganizations(control);
    let nowMs = Date.now();
    const changes = { scopes: ["email", "profile", "groups", "offline_access"], parameters: { prompt: "consent" } };
    await using server = await startProviderServer(
      control,
      idp,
      { ...changes, clock_skew_seconds: 600 },
      { now: () => nowMs },
    );
    const alice = newPerson("alice", "dev");
    idp.person = alice;
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    // The database has the real time of the sign-in, which may be seconds later.
    nowMs = Date.now();
    const stored = await control.read((database) =>
      database.selectFrom("person_sessions").select(["provider_token", "secret_hash"]).executeTakeFirstOrThrow(),
    );
    assert.match(stored.provider_token!, /^[\w-]{60,}$/);
    const before = idp.count("/token");
    await browser.request("GET", "/telemetry");
    await server.signIn.settled();
    assert.equal(idp.count("/token"), before);
    idp.know({ ...alice, groups: ["ops"] });
    nowMs += 15 * 60_000;
    await Promise.all(Array.from({ length: 5 }, () => browser.request("GET", "/telemetry")));
    await server.signIn.settled();
    assert.equal(idp.count("/token"), before + 1);
    assert.equal((await browser.request("GET", "/authentication/session")).body.role, "admin");
    await idp.stop();
    nowMs += 15 * 60_000;
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
    await server.signIn.settled();
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
    await idp.listen();
    idp.forget(alice.sub);
    nowMs += 15 * 60_000;
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
    await server.signIn.settled();
    const after = await browser.request("GET", "/telemetry");
    assert.deepEqual([after.status, after.body.error.code], [401, "invalid_session"]);
  });

  test("a session ends after the provider's hours, and a week without use", async () => {
    const control = await open();
    await createOrganizations(control);
    let nowMs = Date.now();
    await using server = await startProviderServer(control, idp, { session_hours: 2 }, { now: () => nowMs });
    idp.person = newPerson("alice", "dev");
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    nowMs += 2 * 3_600_000 + 2_000;
    const after = await browser.request("GET", "/telemetry");
    assert.equal(after.status, 401);
    assert.match(after.body.error.message, /has expired/);
  });

  test("a session ends after the server's hours and minutes without use, if these are fewer", async () => {
    const control = await open();
    await createOrganizations(control);
    let nowMs = Date.now();
    const limits = { session_hours: 12, session_idle_minutes: 30 };
    await using server = await startProviderServer(control, idp, {}, { now: () => nowMs, ...limits });
    idp.person = newPerson("alice", "dev");
    const [idle, used] = [new PersonBrowser(server.url), new PersonBrowser(server.url)];
    await idle.signIn();
    await used.signIn();
    const { body: session } = await used.request("GET", "/authentication/session");
    assert.ok(session.expires_at * 1000 <= nowMs + 12 * 3_600_000 + 2_000);
    const start = nowMs;
    // The server notes the time of the last use by the system's clock.
    const use = () =>
      control.change((transaction) =>
        transaction
          .updateTable("person_sessions")
          .set({ last_used_at: Math.floor(nowMs / 1000) - 10 })
          .where("id", "=", session.id)
          .execute(),
      );
    nowMs = start + 29 * 60_000;
    assert.equal((await idle.request("GET", "/telemetry")).status, 200);
    nowMs = start + 11 * 3_600_000;
    await use();
    assert.equal((await used.request("GET", "/telemetry")).status, 200);
    assert.match((await idle.request("GET", "/telemetry")).body.error.message, /not used for 30 minutes/);
    nowMs = start + 12 * 3_600_000 + 2_000;
    await use();
    assert.match((await used.request("GET", "/telemetry")).body.error.message, /has expired/);
  });
});

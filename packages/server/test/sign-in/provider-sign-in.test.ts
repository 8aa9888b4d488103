/** People sign in to the console at a real provider, on both databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { setMembership } from "../../src/tenancy/memberships.ts";
import { insertPerson } from "../../src/tenancy/people.ts";
import { updatePerson } from "../../src/tenancy/person-changes.ts";
import { onEachDatabase } from "../tenancy/each-database.ts";
import { PersonBrowser } from "./person-browser.ts";
import { createOrganizations, newPerson, startProviderServer } from "./provider-server.ts";

let idp: TestIdentityProvider;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
});

onEachDatabase("signing in at a provider", ({ open }) => {
  test("a person gets a session with the roles that the rules give, and signs out", async () => {
    const control = await open();
    const { acme } = await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const browser = new PersonBrowser(server.url, { "user-agent": "Test Browser" });
    idp.person = newPerson("alice", "dev");
    const answer = await browser.signIn();
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, "../../console/"], answer.text);
    const [session] = answer.headers.getSetCookie();
    assert.match(session!, /^sounding_session_\w{8}=p-[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    const shown = (await browser.request("GET", "/authentication/session")).body;
    assert.deepEqual(
      [shown.organization_id, shown.person.email, shown.role, shown.provider, shown.organizations],
      [acme, "alice@example.com", "viewer", "acme", [{ id: acme, name: "acme" }]],
    );
    assert.equal((await browser.request("GET", "/telemetry")).status, 200);
    const refused = await browser.request("POST", "/inference");
    assert.equal(refused.status, 403);
    assert.match(refused.body.error.message, /alice@example.com with the role "viewer" does not have the permission/);
    assert.equal((await browser.request("DELETE", "/authentication/session")).status, 200);
    assert.equal((await browser.request("GET", "/authentication/session")).status, 401);
  });

  test("memberships follow the claims at each sign-in; those that an administrator gave stay", async () => {
    const control = await open();
    const { acme, globex } = await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const alice = newPerson("alice", "both");
    idp.person = alice;
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    const { body: first } = await browser.request("GET", "/authentication/session");
    assert.deepEqual(first.organizations.map(({ name }: { name: string }) => name).toSorted(), ["acme", "globex"]);
    await control.change((transaction) =>
      setMembership(transaction, first.person.id, { organizationId: globex, role: "billing" }),
    );
    idp.person = { ...alice, groups: ["ops"] };
    const later = new PersonBrowser(server.url);
    await later.signIn();
    const { body: second } = await later.request("GET", "/authentication/session");
    assert.equal(second.person.id, first.person.id);
    const memberships = await control.read((database) =>
      database
        .selectFrom("memberships")
        .select(["organization_id", "role", "source"])
        .where("person_id", "=", first.person.id)
        .orderBy("source")
        .execute(),
    );
    assert.deepEqual(
      memberships.map((row) => ({ ...row })),
      [
        { organization_id: globex, role: "billing", source: "admin" },
        { organization_id: acme, role: "admin", source: "oidc:acme" },
      ],
    );
  });

  test("whom no rule admits is refused with a page, and leaves no trace", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    for (const groups of [[], ["unknown"], ["nowhere"]]) {
      idp.person = newPerson("mallory", ...groups);
      const browser = new PersonBrowser(server.url);
      const answer = await browser.signIn();
      assert.equal(answer.status, 403);
      assert.match(answer.headers.get("content-type")!, /^text\/html/);
      assert.match(answer.headers.get("content-security-policy")!, /^default-src 'none'; style-src 'sha256-/);
      assert.match(answer.text, /<h1>You have no access<\/h1>\n<p>mallory@example.com signed in at acme, but no rule/);
      assert.deepEqual(browser.cookieNames, []);
    }
    const people = await control.read((database) => database.selectFrom("people").select("id").execute());
    assert.deepEqual(people, []);
  });

  test("an address links a person only if the provider vouches for it", async () => {
    const control = await open();
    const { acme } = await createOrganizations(control);
    const { id } = await control.change(async (transaction) => {
      const row = await insertPerson(transaction, { email: "boss@example.com" });
      await setMembership(transaction, row.id, { organizationId: acme, role: "owner" });
      return row;
    });
    await using server = await startProviderServer(control, idp);
    idp.person = { sub: "mallory", email: "Boss@example.com", email_verified: false, groups: ["dev"] };
    const refused = await new PersonBrowser(server.url).signIn();
    assert.equal(refused.status, 403);
    assert.match(refused.text, /has not verified the address Boss@example.com/);
    idp.person = { sub: "nobody", groups: ["dev"] };
    assert.match((await new PersonBrowser(server.url).signIn()).text, /did not tell your e-mail address/);
    idp.person = { sub: "boss", email: "Boss@example.com", email_verified: true };
    const browser = new PersonBrowser(server.url);
    assert.equal((await browser.signIn()).status, 303);
    const { body } = await browser.request("GET", "/authentication/session");
    assert.deepEqual([body.person.id, body.role], [id, "owner"]);
  });

  test("a person who is disabled loses the session, and cannot sign in", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    idp.person = newPerson("alice", "dev");
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    const { body } = await browser.request("GET", "/authentication/session");
    await control.change((transaction) => updatePerson(transaction, body.person.id, { disabled: true }));
    const after = await browser.request("GET", "/telemetry");
    assert.deepEqual([after.status, after.body.error.code], [401, "invalid_session"]);
    const again = await new PersonBrowser(server.url).signIn();
    assert.equal(again.status, 403);
    assert.match(again.text, /has been disabled/);
  });

  test("a sign-in works once, in the browser that began it, and at the provider at which it began", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    idp.person = newPerson("alice", "dev");
    const browser = new PersonBrowser(server.url);
    const back = await browser.toProvider("/sign-in/acme");
    const callback = `${back.pathname}${back.search}`;
    const victim = new PersonBrowser(server.url);
    const elsewhere = await victim.open(callback);
    assert.equal(elsewhere.status, 400);
    assert.match(elsewhere.text, /not started in this browser/);
    await victim.open("/sign-in/acme");
    const forged = await victim.open(callback);
    assert.equal(forged.status, 400);
    assert.match(forged.text, /state/);
    assert.deepEqual(victim.cookieNames, []);
    assert.equal((await browser.open(callback)).status, 303);
    const replayed = await browser.open(callback);
    assert.equal(replayed.status, 400);
    assert.match(replayed.text, /finished already/);
    assert.equal((await browser.open("/sign-in/unknown")).status, 404);
    assert.equal((await browser.open("/sign-in/unknown/callback")).status, 404);
  });

  test("a sign-in that takes longer than ten minutes is refused", async () => {
    const control = await open();
    await createOrganizations(control);
    let nowMs = Date.now();
    await using server = await startProviderServer(control, idp, { clock_skew_seconds: 600 }, { now: () => nowMs });
    idp.person = newPerson("alice", "dev");
    const browser = new PersonBrowser(server.url);
    const back = await browser.toProvider("/sign-in/acme");
    nowMs += 601_000;
    const late = await browser.open(`${back.pathname}${back.search}`);
    assert.equal(late.status, 400);
    assert.match(late.text, /longer than ten minutes/);
  });
});

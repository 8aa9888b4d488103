/** Signing in at a provider, signing terminals in and ending sessions are in the audit log, with who did it. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { clientId, clientSecret, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { providerSettings } from "../support/provider-settings.ts";
import { startAuditServer } from "../tenancy/audit-server.ts";
import { TestBrowser } from "../tenancy/session-server.ts";
import { PersonBrowser, type TestJson } from "./person-browser.ts";
import { newPerson } from "./provider-server.ts";

let idp: TestIdentityProvider;
let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startAuditServer>>;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-sign-in-audit-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  const acme = providerSettings({
    issuer: idp.issuer,
    client_id: clientId,
    client_secret: clientSecret,
    scopes: ["email", "profile", "groups"],
    rules: [{ values: ["ops"], organization: "default", role: "admin" }],
  });
  server = stack.use(await startAuditServer(control, { providers: { acme } }));
});

test("sign-ins, refusals, terminals, ended sessions and logouts are recorded with the person", async () => {
  const alice = newPerson("alice", "ops");
  idp.person = alice;
  const browser = new PersonBrowser(server.url);
  assert.equal((await browser.signIn()).status, 303);
  idp.person = newPerson("mallory");
  assert.equal((await new PersonBrowser(server.url).signIn()).status, 403);
  const begun = await fetch(`${server.url}/authentication/device_authorization`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "laptop" }),
  });
  const { user_code: code } = (await begun.json()) as { user_code: string };
  await browser.request("POST", `/authentication/device_requests/${code}`, { decision: "approve" });
  const { body: session } = await browser.request("GET", "/authentication/session");
  await browser.request("DELETE", `/authentication/sessions/${session.id}`);
  const token = await idp.sign({
    aud: clientId,
    sub: alice.sub,
    jti: crypto.randomUUID(),
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  await fetch(`${server.url}/sign-in/acme/backchannel-logout`, {
    method: "POST",
    body: new URLSearchParams({ logout_token: token }),
  });
  const events: TestJson[] = await server.events(server.operator);
  const found = events.map(({ action, actor, outcome, target }) => [
    action,
    actor.kind,
    actor.name,
    outcome,
    target?.kind ?? null,
  ]);
  for (const expected of [
    ["finishSignIn", "person", "alice@example.com", "done", "person"],
    ["finishSignIn", "anonymous", null, "refused", "provider"],
    ["decideDeviceRequest", "person", "alice@example.com", "done", "user_code"],
    ["endSession", "person", "alice@example.com", "done", "session"],
    ["backchannelLogout", "system", "identity provider acme", "done", "person"],
  ])
    assert.ok(
      found.some((entry) => JSON.stringify(entry) === JSON.stringify(expected)),
      JSON.stringify({ expected, found }),
    );
  assert.ok(!found.some(([action]) => action === "createDeviceAuthorization" || action === "startSignIn"));
});

test("accounts are recorded: the link, sign-ins, refusals, delays and changes, without any secret", async () => {
  const { body: person } = await server.operator("POST", "/admin/v1/people", {
    email: "bo@example.com",
    role: "member",
  });
  const { body: link } = await server.operator("POST", `/admin/v1/people/${person.id}/account_link`);
  const { token } = link as unknown as { token: string };
  const password = "seven quiet lanterns";
  const browser = new TestBrowser(server.url);
  const accepted = await browser.request("POST", "/authentication/account_links", { body: { token, password } });
  assert.equal(accepted.status, 201);
  const changed = await browser.request("POST", "/authentication/account/password", {
    body: { current_password: password, password: `${password}!` },
  });
  assert.equal(changed.status, 200);
  const signIn = (given: string) =>
    new TestBrowser(server.url).request("POST", "/authentication/account_sessions", {
      body: { email: "bo@example.com", password: given },
    });
  assert.equal((await signIn(`${password}!`)).status, 201);
  for (let count = 0; count < 5; count++) assert.equal((await signIn(password)).status, 401);
  const events: TestJson[] = await server.events(server.operator);
  const found = events.map(({ action, actor, code, outcome, target }) =>
    JSON.stringify([action, actor.name, outcome, code, target?.name ?? target?.id ?? null]),
  );
  for (const expected of [
    ["createAccountLink", "operator", "done", null, "bo"],
    ["acceptAccountLink", "bo@example.com", "done", null, "bo@example.com"],
    ["changePassword", "bo@example.com", "done", null, "bo@example.com"],
    ["createAccountSession", "bo@example.com", "done", null, "bo@example.com"],
    ["createAccountSession", null, "refused", "invalid_credentials", null],
    ["delaySignIn", null, "done", null, "bo@example.com"],
  ])
    assert.ok(found.includes(JSON.stringify(expected)), JSON.stringify({ expected, found }));
  for (const hidden of [token, password]) assert.ok(!JSON.stringify(events).includes(hidden));
});

test("administrators of each organization of a person see that sign-ins at the account are delayed, others do not", async () => {
  const { body: person } = await server.operator("POST", "/admin/v1/people", {
    email: "cy@example.com",
    organization_id: "acme",
    role: "viewer",
  });
  await server.operator("POST", "/admin/v1/memberships", {
    person_id: person.id,
    organization_id: "globex",
    role: "billing",
  });
  const other = await server.tenant("initech");
  for (let count = 0; count < 5; count++)
    await new TestBrowser(server.url).request("POST", "/authentication/account_sessions", {
      body: { email: "cy@example.com", password: "seven quiet lanterns" },
    });
  for (const { call, organization } of [server.acme, server.globex]) {
    const events: TestJson[] = await server.events(call, "&action=delaySignIn");
    assert.deepEqual(
      events.map(({ actor, address, details, organization_id: id, target }) => [
        { ...actor },
        address,
        details,
        id,
        target.name,
      ]),
      [[{ kind: "system", id: null, name: null }, "127.0.0.1", { failures: 5 }, organization.id, "cy@example.com"]],
    );
  }
  assert.deepEqual(await server.events(other.call, "&action=delaySignIn"), []);
  assert.equal((await server.verify()).valid, true);
});

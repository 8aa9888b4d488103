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

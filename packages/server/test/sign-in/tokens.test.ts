/** Machines call the API with tokens of a real provider, on both databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientId, clientSecret, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { archiveOrganization } from "../../src/tenancy/organizations.ts";
import { updatePerson } from "../../src/tenancy/person-changes.ts";
import { onEachDatabase } from "../tenancy/each-database.ts";
import { PersonBrowser, type TestJson } from "./person-browser.ts";
import { createOrganizations, newPerson, startProviderServer } from "./provider-server.ts";

let idp: TestIdentityProvider;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
});

async function start(control: ControlDatabase, failedKeys = new FailedKeys(1_000)) {
  const ids = await createOrganizations(control);
  const rules = [
    { claim: "client_id", values: [clientId], organization: "acme", role: "member" },
    { claim: "team", values: ["web"], organization: "globex", project: "web", role: "member" },
    { claim: "team", values: ["both"], organization: "acme", role: "viewer" },
    { claim: "team", values: ["both"], organization: "globex", role: "admin" },
    { values: ["dev"], organization: "acme", role: "viewer" },
  ];
  const server = await startProviderServer(control, idp, { audiences: ["sounding-api"], rules }, { failedKeys });
  const call = async (token: string, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
    return { status: response.status, body: (await response.json()) as TestJson };
  };
  return { ...ids, server, call };
}

const machine = { sub: "machine-1", aud: "sounding-api" };

onEachDatabase("tokens of machines", ({ open }) => {
  test("a token of the provider's token endpoint is accepted like a key, and has an identity that stays", async () => {
    const control = await open();
    const { acme, call, server } = await start(control);
    await using _server = server;
    const newToken = async (): Promise<string> => {
      const response = await fetch(`${idp.issuer}/token`, {
        method: "POST",
        headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      });
      return ((await response.json()) as { access_token: string }).access_token;
    };
    const first = await call(await newToken(), "/authentication/validate", {}, "POST");
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.equal(first.body["organization_id"], acme);
    assert.match(first.body["key_id"], /^jwt:[\w-]{22}$/);
    const second = await call(await newToken(), "/authentication/validate", {}, "POST");
    assert.equal(second.body["key_id"], first.body["key_id"]);
    assert.equal((await call(await newToken(), "/inference", {}, "POST")).status, 200);
    assert.equal((await call(await newToken(), "/administration")).status, 403);
  });

  test("a token reaches the organizations and projects of its rules only", async () => {
    const control = await open();
    const { acme, call, globex, server } = await start(control);
    await using _server = server;
    const ofProject = await idp.sign({ ...machine, team: "web" });
    assert.equal((await call(ofProject, "/inference", {}, "POST")).body["project"], "web");
    assert.equal((await call(ofProject, "/inference", { "x-project": "other" }, "POST")).status, 403);
    assert.equal((await call(ofProject, "/telemetry", { "x-account": "acme" })).status, 403);
    const ofBoth = await idp.sign({ ...machine, team: "both" });
    const validate = async (headers = {}) =>
      (await call(ofBoth, "/authentication/validate", headers, "POST")).body["organization_id"];
    assert.equal(await validate(), acme);
    assert.equal(await validate({ "x-account": "globex" }), globex);
    assert.equal((await call(ofBoth, "/administration")).status, 403);
    assert.equal((await call(ofBoth, "/administration", { "x-account": globex })).status, 200);
    const ofNone = await call(await idp.sign({ ...machine, team: "none" }), "/telemetry");
    assert.equal(ofNone.status, 403);
    assert.match(ofNone.body["error"].message, /not a member of any organization/);
  });

  test("a token ends with its organization", async () => {
    const control = await open();
    const { call, globex, server } = await start(control);
    await using _server = server;
    const token = await idp.sign({ ...machine, team: "web" });
    assert.equal((await call(token, "/telemetry")).status, 200);
    await archiveOrganization(control, globex);
    assert.equal((await call(token, "/telemetry")).status, 403);
  });

  test("a token of a person whom the server knows has that person's roles, and ends with the person", async () => {
    const control = await open();
    const { call, server } = await start(control);
    await using _server = server;
    const alice = newPerson("alice", "dev");
    idp.person = alice;
    const browser = new PersonBrowser(server.url);
    assert.equal((await browser.signIn()).status, 303);
    const { body: session } = await browser.request("GET", "/authentication/session");
    const token = await idp.sign({ sub: alice.sub, aud: "sounding-api", team: "both" });
    const { body } = await call(token, "/authentication/validate", {}, "POST");
    assert.deepEqual([body["key_id"], body["key_name"]], [session.person.id, "alice@example.com"]);
    assert.equal((await call(token, "/administration", { "x-account": "globex" })).status, 403);
    await control.change((transaction) => updatePerson(transaction, session.person.id, { disabled: true }));
    const after = await call(token, "/telemetry");
    assert.deepEqual([after.status, after.body["error"].code], [401, "invalid_api_key"]);
  });

  test("wrong tokens count as wrong keys, and are not shown", async () => {
    const control = await open();
    const { call, server } = await start(control, new FailedKeys(2));
    await using _server = server;
    const token = await idp.sign({ ...machine, aud: "another" });
    const first = await call(token, "/telemetry");
    assert.equal(first.status, 401);
    assert.ok(!JSON.stringify(first.body).includes(token.slice(0, 40)));
    await call(`${token}x`, "/telemetry");
    assert.equal((await call(`${token}y`, "/telemetry")).status, 429);
    assert.equal((await call(await idp.sign({ ...machine, team: "web" }), "/telemetry")).status, 200);
    const created = await call(
      await idp.sign({ ...machine, team: "web" }),
      "/authentication/sign_in_codes",
      {},
      "POST",
    );
    assert.equal(created.status, 400);
  });
});

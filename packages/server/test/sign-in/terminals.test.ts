/** Terminals sign in by a code that a person approves, on both databases. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientId, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { refreshTerminalSession } from "../../src/sign-in/person-sessions.ts";
import { bootstrap, type InitialCredentials } from "../../src/tenancy/bootstrap.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { updatePerson } from "../../src/tenancy/person-changes.ts";
import { nowSeconds } from "../../src/tenancy/row-values.ts";
import { onEachDatabase } from "../tenancy/each-database.ts";
import { PersonBrowser, type TestJson } from "./person-browser.ts";
import { createOrganizations, newPerson, startProviderServer } from "./provider-server.ts";

let idp: TestIdentityProvider;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
});

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

async function post(url: string, form: Readonly<Record<string, string>>) {
  const response = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

/** A terminal of the server. */
function terminal(url: string) {
  const ask = (form: Readonly<Record<string, string>>) => post(`${url}/authentication/token`, form);
  return {
    begin: async (name = "sounding on laptop") =>
      (await post(`${url}/authentication/device_authorization`, { client_id: name })).body as {
        device_code: string;
        user_code: string;
        verification_uri_complete: string;
      },
    poll: (deviceCode: string) => ask({ grant_type: deviceGrant, device_code: deviceCode }),
    refresh: (token: string) => ask({ grant_type: "refresh_token", refresh_token: token }),
    ask,
    revoke: (token: string) => post(`${url}/authentication/revoke_token`, { token }),
    get: async (path: string, token: string, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
      return { status: response.status, body: (await response.json()) as TestJson };
    },
  };
}

async function signedIn(control: ControlDatabase, ...groups: string[]) {
  const ids = await createOrganizations(control);
  const server = await startProviderServer(control, idp);
  const person = newPerson("alice", ...groups);
  idp.person = person;
  const browser = new PersonBrowser(server.url);
  assert.equal((await browser.signIn()).status, 303);
  return { ...ids, server, browser, person, device: terminal(server.url) };
}

onEachDatabase("terminals", ({ open }) => {
  test("a terminal waits for a person, and then acts as the person until it is signed out", async () => {
    const control = await open();
    const { acme, browser, device, server } = await signedIn(control, "dev");
    await using _server = server;
    const codes = await device.begin();
    assert.match(codes.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.equal(codes.verification_uri_complete, `${server.url}/console/device?code=${codes.user_code}`);
    const waiting = await device.poll(codes.device_code);
    assert.deepEqual([waiting.status, waiting.body["error"]], [400, "authorization_pending"]);
    const path = `/authentication/device_requests/${codes.user_code.toLowerCase().replace("-", " ")}`;
    const shown = await browser.request("GET", path);
    assert.deepEqual([shown.body.client, shown.body.status], ["sounding on laptop", "pending"]);
    const approved = await browser.request("POST", path, { decision: "approve" });
    assert.equal(approved.body.status, "approved", approved.text);
    assert.equal((await browser.request("POST", path, { decision: "approve" })).status, 409);
    const { status, body: tokens } = await device.poll(codes.device_code);
    assert.equal(status, 200);
    assert.deepEqual([tokens["token_type"], tokens["expires_in"]], ["Bearer", 3600]);
    const identity = await device.get("/telemetry", tokens["access_token"]!);
    assert.equal(identity.status, 200);
    const again = await device.poll(codes.device_code);
    assert.deepEqual([again.status, again.body["error"]], [400, "expired_token"]);
    const { body: list } = await device.get("/authentication/sessions", tokens["access_token"]!);
    assert.deepEqual(
      list["data"].map((each: TestJson) => [each.kind, each.client, each.organization_id, each.provider]),
      [
        ["terminal", "sounding on laptop", acme, "acme"],
        ["browser", "node", acme, "acme"],
      ],
    );
    assert.equal((await device.revoke(tokens["refresh_token"]!)).status, 200);
    const after = await device.get("/telemetry", tokens["access_token"]!);
    assert.deepEqual([after.status, after.body["error"].code], [401, "invalid_api_key"]);
    assert.equal((await device.refresh(tokens["refresh_token"]!)).body["error"], "invalid_grant");
  });

  test("a refresh token yields the same tokens for a moment, and ends the session if it is used later", async () => {
    const control = await open();
    const { browser, device, server } = await signedIn(control, "dev");
    await using _server = server;
    const codes = await device.begin();
    await browser.request("POST", `/authentication/device_requests/${codes.user_code}`, { decision: "approve" });
    const { body: first } = await device.poll(codes.device_code);
    const [left, right] = await Promise.all([
      device.refresh(first["refresh_token"]!),
      device.refresh(first["refresh_token"]!),
    ]);
    assert.deepEqual(left, right);
    assert.equal((await device.get("/telemetry", left.body["access_token"]!)).status, 200);
    assert.equal((await device.get("/telemetry", first["access_token"]!)).status, 401);
    const late = await control.change((transaction) =>
      refreshTerminalSession(transaction, first["refresh_token"]!, nowSeconds() + 120),
    );
    assert.equal(late, undefined);
    assert.equal((await device.get("/telemetry", left.body["access_token"]!)).status, 401);
    assert.equal((await device.refresh(left.body["refresh_token"]!)).status, 400);
  });

  test("a terminal that is denied, or whose person is disabled meanwhile, gets nothing", async () => {
    const control = await open();
    const { browser, device, server } = await signedIn(control, "dev");
    await using _server = server;
    const denied = await device.begin();
    await browser.request("POST", `/authentication/device_requests/${denied.user_code}`, { decision: "deny" });
    assert.equal((await device.poll(denied.device_code)).body["error"], "access_denied");
    const codes = await device.begin();
    await browser.request("POST", `/authentication/device_requests/${codes.user_code}`, { decision: "approve" });
    const { body } = await browser.request("GET", "/authentication/session");
    await control.change((transaction) => updatePerson(transaction, body.person.id, { disabled: true }));
    assert.equal((await device.poll(codes.device_code)).body["error"], "access_denied");
  });

  test("a terminal gets nothing once the session that approved it has ended, and no code works twice", async () => {
    const control = await open();
    const { browser, device, server } = await signedIn(control, "dev");
    await using _server = server;
    const approve = async () => {
      const codes = await device.begin();
      await browser.request("POST", `/authentication/device_requests/${codes.user_code}`, { decision: "approve" });
      return codes.device_code;
    };
    const code = await approve();
    const answers = await Promise.all([device.poll(code), device.poll(code), device.poll(code)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((left, right) => left - right),
      [200, 400, 400],
    );
    const late = await approve();
    const { body: session } = await browser.request("GET", "/authentication/session");
    await browser.request("DELETE", `/authentication/sessions/${session.id}`);
    assert.equal((await device.poll(late)).body["error"], "access_denied");
    assert.equal((await device.poll(late)).body["error"], "expired_token");
  });

  test("a logout at the provider ends the terminal's session", async () => {
    const control = await open();
    const { browser, device, person, server } = await signedIn(control, "dev");
    await using _server = server;
    const codes = await device.begin();
    await browser.request("POST", `/authentication/device_requests/${codes.user_code}`, { decision: "approve" });
    const { body: tokens } = await device.poll(codes.device_code);
    const token = await idp.sign({
      aud: clientId,
      sub: person.sub,
      jti: crypto.randomUUID(),
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    });
    assert.equal((await post(`${server.url}/sign-in/acme/backchannel-logout`, { logout_token: token })).status, 200);
    assert.equal((await device.get("/telemetry", tokens["access_token"]!)).status, 401);
    assert.equal((await device.refresh(tokens["refresh_token"]!)).status, 400);
  });

  test("only a person can sign a terminal in, and codes cannot be guessed", async () => {
    const control = await open();
    const first = (await bootstrap(control)) as InitialCredentials;
    await using server = await startProviderServer(control, idp, {}, { failedKeys: new FailedKeys(5) });
    const device = terminal(server.url);
    const codes = await device.begin();
    const byKey = await fetch(`${server.url}/authentication/device_requests/${codes.user_code}`, {
      headers: { authorization: `Bearer ${first.key}` },
    });
    assert.equal(byKey.status, 403);
    const statuses: number[] = [];
    for (let time = 0; time < 6; time += 1) statuses.push((await device.poll(`wrong-${time}`)).status);
    assert.deepEqual(statuses, [400, 400, 400, 400, 400, 429]);
    assert.equal((await device.ask({ grant_type: "password" })).body["error"], "unsupported_grant_type");
    assert.equal((await device.ask({})).body["error"], "unsupported_grant_type");
  });

  test("one address has only so many terminals that wait, and a person tries only so many codes", async () => {
    const control = await open();
    const { browser, device, server } = await signedIn(control, "dev");
    await using _server = server;
    const begun: Awaited<ReturnType<typeof device.begin>>[] = [];
    for (let time = 0; time < 12; time += 1) begun.push(await device.begin(`terminal ${time}`));
    const rows = await control.read((database) => database.selectFrom("device_codes").select("client").execute());
    assert.equal(rows.length, 10);
    assert.equal((await device.poll(begun[11]!.device_code)).body["error"], "authorization_pending");
    const statuses = new Set<number>();
    for (let time = 0; time < 25; time += 1)
      statuses.add((await browser.request("GET", "/authentication/device_requests/BBBB-BBBB")).status);
    assert.deepEqual([...statuses], [404, 429]);
  });
});

onEachDatabase("sessions in lists", ({ open }) => {
  test("a person sees and ends their own sessions only, an administrator those of the organization", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const open_ = async (name: string, ...groups: string[]) => {
      idp.person = newPerson(name, ...groups);
      const browser = new PersonBrowser(server.url, { "user-agent": `${name}'s browser` });
      assert.equal((await browser.signIn()).status, 303);
      return browser;
    };
    const viewer = await open_("viewer", "dev");
    const admin = await open_("admin", "ops");
    const stranger = await open_("stranger", "globex");
    const own = (await viewer.request("GET", "/authentication/sessions")).body.data;
    assert.deepEqual(
      own.map((each: TestJson) => [each.person, each.client, each.current]),
      [["viewer@example.com", "viewer's browser", true]],
    );
    const { id } = own[0];
    assert.equal((await viewer.request("GET", "/admin/v1/sessions")).status, 403);
    assert.equal((await admin.request("GET", `/admin/v1/sessions/${id}`)).body.id, id);
    assert.equal((await stranger.request("GET", `/admin/v1/sessions/${id}`)).status, 404);
    for (const [browser, path] of [
      [stranger, `/authentication/sessions/${id}`],
      [stranger, `/admin/v1/sessions/${id}`],
      [admin, `/authentication/sessions/${id}`],
    ] as const)
      assert.equal((await browser.request("DELETE", path)).status, 404, path);
    const seen = (await admin.request("GET", "/admin/v1/sessions?limit=1")).body;
    assert.deepEqual([seen.data.length, seen.has_more, seen.data[0].person], [1, true, "admin@example.com"]);
    const next = (await admin.request("GET", `/admin/v1/sessions?after=${seen.last_id}`)).body;
    assert.deepEqual([next.data.map((each: TestJson) => each.person), next.has_more], [["viewer@example.com"], false]);
    const ofPerson = (await admin.request("GET", `/admin/v1/sessions?person_id=${own[0].person_id}`)).body;
    assert.deepEqual(
      ofPerson.data.map((each: TestJson) => each.id),
      [id],
    );
    assert.equal((await admin.request("DELETE", `/admin/v1/sessions/${id}`)).status, 200);
    assert.equal((await viewer.request("GET", "/telemetry")).status, 401);
    const strangers = (await stranger.request("GET", "/admin/v1/sessions")).body.data;
    assert.deepEqual(
      strangers.map((each: TestJson) => each.person),
      ["stranger@example.com"],
    );
    assert.equal((await stranger.request("GET", "/admin/v1/sessions?organization_id=acme")).status, 403);
  });

  test("sessions that were opened with keys are in the list of their key and of the organization", async () => {
    const control = await open();
    const first = (await bootstrap(control)) as InitialCredentials;
    await using server = await startProviderServer(control, idp);
    const browser = new PersonBrowser(server.url);
    const signIn = await browser.request("POST", "/authentication/sessions", {
      key: first.key,
      operator_key: first.operatorKey,
    });
    assert.equal(signIn.status, 201);
    const own = (await browser.request("GET", "/authentication/sessions")).body.data;
    assert.deepEqual(
      own.map((each: TestJson) => [each.id, each.kind, each.key_name, each.current]),
      [[signIn.body.id, "keys", "first key", true]],
    );
    const all = (await browser.request("GET", "/admin/v1/sessions")).body.data;
    assert.deepEqual(
      all.map((each: TestJson) => each.id),
      [signIn.body.id],
    );
    assert.equal((await browser.request("DELETE", `/authentication/sessions/${signIn.body.id}`)).status, 200);
    assert.equal((await browser.request("GET", "/telemetry")).status, 401);
  });

  test("a person with several organizations chooses the one of the session", async () => {
    const control = await open();
    const { acme, browser, globex, server } = await signedIn(control, "both");
    await using _server = server;
    const first = (await browser.request("GET", "/authentication/session")).body;
    assert.equal(first.organization_id, acme);
    assert.equal((await browser.request("PATCH", "/authentication/session", { organization_id: globex })).status, 200);
    const second = (await browser.request("GET", "/authentication/session")).body;
    assert.deepEqual([second.organization_id, second.project, second.role], [globex, "web", "member"]);
    const other = `org_${"0".repeat(32)}`;
    const refused = await browser.request("PATCH", "/authentication/session", { organization_id: other });
    assert.equal(refused.status, 404);
  });
});

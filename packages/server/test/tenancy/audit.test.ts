import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/api/index.ts";
import { auditKindOf } from "../../src/api/audited-operations.ts";
import { AuditEvent } from "../../src/api/audit.ts";
import { satisfies } from "../../src/api/validate.ts";
import { TestBrowser } from "./session-server.ts";
import { onEachDatabase } from "./each-database.ts";
import { startAuditServer } from "./audit-server.ts";

/** Operations that change nothing that is administered: calls to models, queries, and telemetry of applications. */
const notAudited = [
  /^(?:cancel|compact|count|create)(?:ChatCompletion|Completion|Embeddings|Message|MessageTokens|Moderation|Response|ResponseTokens|Speech|Transcription|Translation)$/,
  /^deleteResponse$/,
  /^query(?:Conversations|LogHistogram|Metrics|TraceHistogram)$/,
  /^export(?:Logs|Metrics|Traces)$/,
  /^(?:loki(?!Query(?:Range)?ByForm)|prometheus)\w+(?:ByForm|Push|Write)$/,
  /^lokiPush$/,
  /^validateKey$/,
  /^createPasskeyChallenge$/,
  // Terminals repeat them; what the person decides is recorded.
  /^(?:createDeviceAuthorization|createTokens|revokeToken)$/,
];

test("every operation that is no GET is recorded, or is one of applications", () => {
  const forgotten = operations.filter(
    (each) =>
      each.method !== "GET" && auditKindOf(each) === undefined && !notAudited.some((known) => known.test(each.id)),
  );
  assert.deepEqual(
    forgotten.map(({ id }) => id),
    [],
  );
  const administrative = operations.filter(({ method, path }) => method !== "GET" && path.startsWith("/admin/"));
  assert.ok(administrative.length >= 15);
  for (const each of administrative) assert.equal(auditKindOf(each), "change", each.id);
});

test("the object of every administrative change has a route that shows it", () => {
  const shown = new Set(operations.filter(({ method }) => method === "GET").map(({ path }) => path));
  for (const { id, method, path } of operations) {
    const object = /^\/admin\/.*?\/\{\w+\}/.exec(path)?.[0];
    if (method === "GET" || object === undefined) continue;
    assert.ok(shown.has(object), `${id} needs GET ${object}, so that the audit log has the state before and after`);
  }
});

onEachDatabase("the audit log", ({ open }) => {
  test("records changes with their actor, their client and the object before and after", async () => {
    await using server = await startAuditServer(await open());
    const { acme, operator, events } = server;
    const path = `/admin/v1/keys/${acme.key.id}`;
    await operator("PATCH", path, { name: "renamed", limits: { requests_per_minute: 5 } });
    await acme.call("POST", `${path}/rotate`, {});

    const [created, updated, rotated] = await events(operator, `&target=${acme.key.id}`);
    assert.ok(satisfies(AuditEvent, created));
    assert.equal(created.action, "createKey");
    assert.equal(created.before, null);
    assert.equal(created.after?.["id"], acme.key.id);
    assert.equal(created.organization_id, acme.organization.id);
    assert.deepEqual(created.target, { kind: "key", id: acme.key.id, name: "acme admin" });

    assert.equal(updated!.action, "updateKey");
    assert.equal(updated!.outcome, "done");
    assert.deepEqual([updated!.actor.kind, updated!.actor.name], ["key", "operator"]);
    assert.equal(updated!.address, "127.0.0.1");
    assert.equal(updated!.user_agent, "audit-test");
    assert.deepEqual([updated!.before?.["name"], updated!.after?.["name"]], ["acme admin", "renamed"]);
    assert.deepEqual(updated!.after?.["limits"], { requests_per_minute: 5 });

    assert.equal(rotated!.action, "rotateKey");
    assert.deepEqual(rotated!.actor, { kind: "key", id: acme.key.id, name: "renamed" });
    assert.equal(rotated!.before?.["revoked_at"], null);
    assert.equal(typeof rotated!.after?.["revoked_at"], "number");
    assert.match(JSON.stringify(rotated!.details), /"created":\{"kind":"key","id":"key_/);
    assert.equal((await server.verify()).valid, true);
  });

  test("records what is created and deleted, and changes that were refused", async () => {
    await using server = await startAuditServer(await open());
    const { acme, operator, ordinary, events } = server;
    const group = { name: "errors", rules: [{ alert: "Down", expr: "up == 0" }] };
    const { body } = await acme.call("POST", "/admin/v1/alert_groups", group);
    await acme.call("DELETE", `/admin/v1/alert_groups/${body.id}`);
    assert.equal((await acme.call("DELETE", `/admin/v1/alert_groups/${body.id}`)).status, 404);
    assert.equal((await acme.call("POST", "/admin/v1/organizations", { name: "evil" })).status, 403);
    assert.equal((await acme.call("PATCH", `/admin/v1/keys/${acme.key.id}`, { nme: "x" })).status, 400);
    assert.equal((await ordinary("GET", "/admin/v1/keys")).status, 403);

    const all = (await events(operator)).slice(-6);
    assert.deepEqual(
      all.map(({ action, outcome, code, target }) => [action, outcome, code, target.kind]),
      [
        ["createAlertGroup", "done", null, "alert_group"],
        ["deleteAlertGroup", "done", null, "alert_group"],
        ["deleteAlertGroup", "refused", "not_found", "alert_group"],
        ["createOrganization", "refused", "permission_denied", "organization"],
        ["updateKey", "refused", "invalid_request", "key"],
        ["listKeys", "refused", "permission_denied", "key"],
      ],
    );
    assert.equal(all[0]!.after?.["name"], "errors");
    assert.equal(all[1]!.before?.["name"], "errors");
    assert.equal(all[1]!.after, null);
    assert.equal(all[1]!.target.name, "errors");
  });

  test("records signing in and out, and counts failed attempts instead of recording each", async () => {
    await using server = await startAuditServer(await open());
    const { acme, operator, events, url } = server;
    const browser = new TestBrowser(url, { "user-agent": "audit-test" });
    await browser.signIn({ key: acme.key.secret });
    await browser.request("DELETE", "/authentication/session");
    const wrong = server.as(undefined);
    for (let attempt = 0; attempt < 30; attempt += 1)
      assert.equal((await wrong("POST", "/authentication/sessions", { key: `sk-wrong-key-${attempt}` })).status, 401);

    const all = await events(operator, `&action=createSession`);
    const [signedIn, failed, counted, ...others] = all;
    assert.deepEqual(others, []);
    assert.deepEqual(signedIn!.actor, { kind: "key", id: acme.key.id, name: "acme admin" });
    assert.equal(signedIn!.organization_id, acme.organization.id);
    assert.equal(signedIn!.target.kind, "session");
    assert.deepEqual([failed!.actor.kind, failed!.code, failed!.count], ["anonymous", "invalid_api_key", 1]);
    assert.deepEqual([counted!.code, counted!.count, counted!.details["repeated"]], ["invalid_api_key", 29, true]);
    const [signedOut] = await events(operator, `&action=deleteSession`);
    assert.equal(signedOut!.target.id, signedIn!.target.id);
    assert.deepEqual(signedOut!.actor.id, acme.key.id);
  });

  test("records exports, and the first reading of a conversation in an hour", async () => {
    let now = 0;
    await using server = await startAuditServer(await open(), { now: () => now });
    const { ordinary, operator, events } = server;
    for (let repetition = 0; repetition < 3; repetition += 1) {
      await ordinary("POST", "/observability/traces?conversation_id=c1");
      await ordinary("POST", "/observability/traces?conversation_id=c2");
      await ordinary("POST", "/observability/traces?detail=false");
      await ordinary("POST", "/observability/export?signal=traces");
      await ordinary("POST", "/v1/chat/completions");
    }
    now = 3_600_001;
    await ordinary("POST", "/observability/traces?conversation_id=c1");
    const found = await events(operator, "&actor=first%20key");
    assert.deepEqual(
      found.filter(({ action }) => action === "queryTraces").map(({ target }) => target.id),
      ["c1", "c2", null, "c1"],
    );
    assert.equal(found.filter(({ action }) => action === "exportTelemetry").length, 3);
    assert.equal(found.filter(({ action }) => action === "createChatCompletion").length, 0);
  });

  test("no secret of any kind appears in it", async () => {
    const control = await open();
    await using server = await startAuditServer(control);
    const { acme, operator, url } = server;
    const secrets = [acme.key.secret, server.first.key, server.first.operatorKey!];
    const rotated = await acme.call("POST", `/admin/v1/keys/${acme.key.id}/rotate`, { grace_seconds: 60 });
    secrets.push(rotated.body.secret);
    const code = await acme.call("POST", "/authentication/sign_in_codes", {});
    secrets.push(code.body.code);
    const browser = new TestBrowser(url);
    await browser.signIn({ code: code.body.code });
    secrets.push(browser.cookie!.split("=")[1]!);
    // Secrets in the wrong places.
    await operator("DELETE", `/admin/v1/alert_groups/${acme.key.secret}`);
    await operator("POST", "/admin/v1/keys", { name: "x", secret: acme.key.secret });
    await operator("GET", "/admin/v1/keys", undefined, { "user-agent": `Bearer ${acme.key.secret}` });
    await server.as(`${acme.key.secret}x`)("GET", "/admin/v1/keys", undefined, {
      "user-agent": `tool ${acme.key.secret}`,
    });
    await server.trail.flush();
    const rows = await control.read((database) => database.selectFrom("audit_events").selectAll().execute());
    const text = JSON.stringify(rows);
    for (const secret of secrets) assert.ok(secret.length > 15 && !text.includes(secret), "a secret is recorded");
    assert.doesNotMatch(text, /secret_hash|"secret":/);
  });

  test("shows an organization its own entries only, without what belongs to operators", async () => {
    await using server = await startAuditServer(await open());
    const { acme, globex, operator, ordinary, events } = server;
    await operator("PATCH", `/admin/v1/organizations/${globex.organization.id}`, {
      limits: { requests_per_minute: 1 },
    });
    await globex.call("POST", "/admin/v1/projects", { name: "secret plan" });
    await acme.call("GET", `/admin/v1/keys/${globex.key.id}`);
    await acme.call("PATCH", `/admin/v1/keys/${globex.key.id}`, { name: "mine" });
    const ofAcme = await events(acme.call);
    assert.ok(ofAcme.length > 0);
    assert.ok(ofAcme.every(({ organization_id }) => organization_id === acme.organization.id));
    assert.doesNotMatch(JSON.stringify(ofAcme), /secret plan|globex/);
    const ofGlobex = await events(globex.call);
    const limited = ofGlobex.find(({ action }) => action === "updateOrganization")!;
    assert.deepEqual(limited.actor, { kind: "key", id: null, name: "operator" });
    assert.deepEqual([limited.address, limited.user_agent, limited.sequence, limited.hash], [null, null, null, null]);
    assert.deepEqual(limited.details, {});
    assert.ok(!ofGlobex.some(({ actor }) => actor.id === acme.key.id));
    // The filter finds no operator that the entries hide.
    const operatorId = (await events(operator, "&action=updateOrganization"))[0]!.actor.id!;
    assert.deepEqual(await events(globex.call, `&actor=${operatorId}`), []);
    assert.equal((await globex.call("GET", "/admin/v1/audit?organization_id=acme")).status, 403);
    assert.equal((await globex.call("GET", "/admin/v1/audit/verification")).status, 403);
    assert.equal((await ordinary("GET", "/admin/v1/audit")).status, 403);
  });

  test("names people, and has their roles before and after", async () => {
    const control = await open();
    await using server = await startAuditServer(control);
    const { acme, operator, events } = server;
    const organization_id = acme.organization.id;
    const ada = { organization_id, email: "ada@example.com", name: "Ada", role: "admin" };
    const { body: person } = await operator("POST", "/admin/v1/people", ada);
    const { body: key } = await operator("POST", "/admin/v1/keys", { organization_id, name: "mine" });
    await control.change((transaction) =>
      transaction.updateTable("keys").set({ person_id: person.id }).where("id", "=", key.id).execute(),
    );
    const membership = person.memberships[0]!.id;
    const role = { organization_id, name: "reviewer", permissions: ["telemetry_read"] };
    const { body: reviewer } = await operator("POST", "/admin/v1/roles", role);
    const asAda = server.as(key.secret);
    assert.equal((await asAda("POST", "/admin/v1/organizations", { name: "mine" })).status, 403);
    await operator("PATCH", `/admin/v1/roles/${reviewer.id}`, { permissions: ["inference"] });
    await operator("PATCH", `/admin/v1/memberships/${membership}`, { role: "viewer" });
    await operator("DELETE", `/admin/v1/memberships/${membership}`);
    const [refused] = await events(operator, `&actor=${person.id}`);
    assert.deepEqual(refused!.actor, { kind: "person", id: person.id, name: "ada@example.com" });
    assert.equal(refused!.details["key_id"], key.id);
    const states = async (action: string, member: string) =>
      (await events(operator, `&action=${action}`)).map(({ before, after }) => [before?.[member], after?.[member]]);
    assert.deepEqual(await states("updateMembership", "role"), [["admin", "viewer"]]);
    assert.deepEqual(await states("deleteMembership", "role"), [["viewer", undefined]]);
    assert.deepEqual((await states("updateRole", "permissions"))[0]![1], ["inference"].concat(["models_read"]));
  });

  test("finds entries by actor, action, object, outcome and time", async () => {
    await using server = await startAuditServer(await open());
    const { acme, operator, events } = server;
    await operator("PATCH", `/admin/v1/keys/${acme.key.id}`, { name: "renamed" });
    const actions = async (filter: string) => (await events(operator, filter)).map(({ action }) => action);
    assert.deepEqual(await actions("&action=updateKey"), ["updateKey"]);
    assert.deepEqual(await actions("&target=renamed"), ["updateKey"]);
    assert.deepEqual(await actions("&outcome=refused"), []);
    assert.deepEqual(await actions("&end=2020-01-01T00:00:00Z"), []);
    assert.deepEqual((await actions("&start=2020-01-01T00:00:00Z&actor=operator")).at(-1), "updateKey");
    const newest = await operator("GET", "/admin/v1/audit?order=desc&limit=1");
    assert.equal(newest.body.data[0]!.action, "updateKey");
    for (const [query, param] of [
      ["start=yesterday", "start"],
      ["outcome=good", "outcome"],
      [`actor=${"x".repeat(257)}`, "actor"],
      ["actor=%00", "actor"],
      ["after=1", "after"],
    ]) {
      const { body, status } = await operator("GET", `/admin/v1/audit?${query}`);
      assert.deepEqual([status, body.error.param], [400, param]);
    }
  });

  test("is bounded: a flood of refusals is counted, and texts of any kind are cut", async () => {
    const control = await open();
    const settings = { trusted_proxies: ["loopback"], max_header_bytes: 65_536 };
    await using server = await startAuditServer(control, { settings });
    const { acme, operator, events } = server;
    const wrong = server.as("sk-wrong");
    const from = (number: number) => ({ "x-forwarded-for": `2001:db8:${number.toString(16)}::1` });
    for (let round = 0; round < 4; round += 1) {
      const attempts = Array.from({ length: 100 }, (_, index) =>
        wrong("GET", "/admin/v1/keys", undefined, from(100 * round + index)),
      );
      for (const { status } of await Promise.all(attempts)) assert.equal(status, 401);
    }
    // What others do is still recorded.
    await acme.call("POST", "/admin/v1/organizations", { name: "evil" });
    for (let index = 0; index < 300; index += 1) await acme.call("DELETE", `/admin/v1/alert_groups/agrp_${index}`);
    await operator("PATCH", `/admin/v1/keys/${acme.key.id}`, { name: "renamed" });
    const all = await events(operator);
    const unknown = all.filter(({ code }) => code === "invalid_api_key");
    assert.equal(unknown.length, 101);
    assert.deepEqual([unknown.at(-1)!.count, unknown.at(-1)!.details], [300, { summary: true }]);
    assert.equal(unknown[7]!.address, "2001:db8:7::1");
    const missing = all.filter(({ code }) => code === "not_found");
    assert.equal(missing.length, 100);
    assert.equal(missing.at(-1)!.count, 201);
    assert.ok(all.some(({ code }) => code === "permission_denied"));
    assert.equal(all.filter(({ action }) => action === "updateKey").length, 1);

    const before = all.length;
    const long = encodeURIComponent(`${"\u0000\u0007👍".repeat(200)}x`);
    await operator("DELETE", `/admin/v1/alert_groups/${long}`, undefined, { "user-agent": "u".repeat(20_000) });
    await operator("PATCH", `/admin/v1/keys/${acme.key.id}`, { name: "n".repeat(128) });
    const rules = Array.from({ length: 20 }, (_, index) => ({
      alert: `Alert${index}`,
      expr: "up == 0",
      annotations: { description: "é".repeat(1000) },
    }));
    await acme.call("POST", "/admin/v1/alert_groups", { name: "large", rules });
    const added = (await events(operator)).slice(before);
    const strange = added.find(({ action }) => action === "deleteAlertGroup");
    assert.ok(strange!.target.id!.length <= 256 && strange!.user_agent!.length <= 256);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    assert.doesNotMatch(strange!.target.id!, /[\u0000-\u001f]/);
    const large = added.find(({ action }) => action === "createAlertGroup");
    assert.deepEqual(Object.keys(large!.after!), ["sha256", "bytes"]);
    assert.equal((await server.verify()).valid, true);
  });
});

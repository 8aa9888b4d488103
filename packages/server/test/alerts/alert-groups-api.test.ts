/** Groups of alert rules through the admin API: an organization's own, checked when they are written, evaluated at once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alertGroupRoutes } from "../../src/alerts/alert-group-routes.ts";
import { AppError } from "../../src/errors.ts";
import { startTestHttp } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { openAlerts, scopeOf, until, type AlertsFixture } from "./alerts-fixture.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
type Json = any;

describe("the API of alert groups", () => {
  let fixture: AlertsFixture;
  let http: Awaited<ReturnType<typeof startTestHttp>>;

  beforeTests(async (stack) => {
    fixture = stack.use(await openAlerts({ groups: [] }));
    const ids = { acme: "", globex: "" };
    for (const name of ["acme", "globex"] as const) ids[name] = (await scopeOf(fixture.control, name)).organizationId;
    http = await startTestHttp({
      routes: alertGroupRoutes(fixture.control),
      checkKey(secret) {
        const name = secret.replace(/^sk-/, "");
        if (name === "operator") return testKey({ organizationId: "org_operator", operator: true });
        if (name === "reader")
          return testKey({ organizationId: ids.acme, permissions: new Set(["telemetry_read"] as const) });
        if (name !== "acme" && name !== "globex") throw new AppError("invalid_api_key", "The API key is not known.");
        return testKey({ organizationId: ids[name], organizationName: name });
      },
    });
    stack.defer(() => http.close());
  });

  async function call(key: string, method: string, path = "", body?: unknown): Promise<{ status: number; body: Json }> {
    const response = await fetch(`${http.url}/admin/v1/alert_groups${path}`, {
      method,
      headers: { authorization: `Bearer sk-${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  }

  const group = { name: "g", interval: "10s", rules: [{ alert: "Always", expr: "vector(1)" }] };

  test("creates, lists, shows, changes and deletes groups, which are evaluated meanwhile", async () => {
    const created = await call("acme", "POST", "", group);
    assert.equal(created.status, 201);
    const { created_at, id, organization_id, updated_at, ...rest } = created.body;
    assert.deepEqual(rest, { object: "alert_group", ...group });
    await until(async () => (await fixture.groups("acme")).length === 1, "the new group");
    await until(async () => {
      fixture.clock.advance(10_000);
      return (await fixture.states()).join() === "firing";
    }, "the alert");
    assert.deepEqual(await fixture.groups("globex"), []);
    assert.deepEqual((await call("acme", "GET", `/${id}`)).body, created.body);
    const changed = await call("acme", "PATCH", `/${id}`, { rules: [{ alert: "Never", expr: "vector(1) > 2" }] });
    assert.equal(changed.body.rules[0].alert, "Never");
    assert.equal(changed.body.interval, "10s");
    await until(async () => (await fixture.groups("acme"))[0]!.rules[0]!.name === "Never", "the changed group");
    assert.equal((await call("acme", "DELETE", `/${id}`)).body.id, id);
    await until(async () => (await fixture.groups("acme")).length === 0, "the end of the group");
    assert.equal((await call("acme", "GET", `/${id}`)).status, 404);
    assert.ok(created_at > 0 && updated_at >= created_at && organization_id.startsWith("org_"));
  });

  test("keeps organizations apart", async () => {
    const { body: mine } = await call("acme", "POST", "", { ...group, name: "mine" });
    for (const [method, body] of [["GET"], ["PATCH", { interval: "20s" }], ["DELETE"]] as const) {
      const refused = await call("globex", method, `/${mine.id}`, body);
      assert.equal(refused.status, 404, method);
    }
    assert.deepEqual((await call("globex", "GET")).body.data, []);
    assert.equal((await call("globex", "POST", "", { ...group, organization_id: "acme" })).status, 403);
    assert.equal((await call("reader", "GET")).status, 403);
    assert.deepEqual(
      (await call("operator", "GET", "?organization_id=acme&name=mine")).body.data.map(({ id }: Json) => id as string),
      [mine.id],
    );
    assert.equal((await call("operator", "POST", "", { ...group, organization_id: "globex" })).status, 201);
    assert.equal((await call("acme", "POST", "", { ...group, name: "mine" })).status, 409);
  });

  test("pages through its lists", async () => {
    for (const name of ["page-1", "page-2", "page-3"]) await call("acme", "POST", "", { ...group, name });
    const { body: first } = await call("acme", "GET", "?limit=2&search=page-");
    assert.equal(first.has_more, true);
    const { body: second } = await call("acme", "GET", `?limit=2&search=page-&after=${first.last_id}`);
    assert.deepEqual(
      [...first.data, ...second.data].map(({ name }: Json) => name as string),
      ["page-1", "page-2", "page-3"],
    );
  });

  test("refuses what is invalid, with the group, the rule and the position", async () => {
    for (const [changes, expected] of [
      [{ rules: [{ alert: "A", expr: "rate(x[5m]" }] }, /^group "bad": rule "A": expr: 1:11: parse error/],
      [{ language: "logql", rules: [{ alert: "A", expr: '{a="b"}' }] }, /expr: 1:1: this is a log query/],
      [{ rules: [{ alert: "A", expr: "up", annotations: { x: "{{ nothing }}" } }] }, /function "nothing" not defined/],
      [
        { rules: [{ alert: "A", expr: "vector(1)", for: "300y" }] },
        /rule "A": for: "300y": duration out of range; expected a duration such as 5m, at most 292y/,
      ],
      [{ interval: "1s" }, /interval is "1s"; it must be at least 10s/],
      [{ rules: [] }, /rules/],
      [{ receivers: [] }, /receivers/],
    ] as const) {
      const answer = await call("acme", "POST", "", { ...group, name: "bad", ...changes });
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.match(answer.body.error.message, expected);
    }
  });
});

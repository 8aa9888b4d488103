import assert from "node:assert/strict";
import { after, test } from "node:test";
import { adminOperations } from "../../src/api/admin-operations.ts";
import type { Organization, Project } from "../../src/api/admin.ts";
import type { Key, KeyWithSecret } from "../../src/api/keys.ts";
import type { Operation } from "../../src/api/operation.ts";
import { satisfies } from "../../src/api/validate.ts";
import type { ErrorBody } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import { createKeyCheck } from "../../src/tenancy/key-check.ts";
import { recordedUsage } from "../../src/tenancy/recorded-usage.ts";
import { tenancyRoutes } from "../../src/tenancy/routes.ts";
import { startTestHttp } from "../support/test-http.ts";
import { onEachDatabase } from "./each-database.ts";

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Page {
  readonly data: readonly { readonly name: string }[];
  readonly has_more: boolean;
  readonly last_id: string;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Fails unless the answer has this status, and returns its body. */
async function expecting<Body>(status: number, call: Promise<Answer>): Promise<Body> {
  const answer = await call;
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body as Body;
}

async function refusal(status: number, call: Promise<Answer>): Promise<ErrorBody["error"]> {
  const body = await expecting<ErrorBody>(status, call);
  assert.deepEqual(Object.keys(body), ["error"]);
  assert.deepEqual(Object.keys(body.error).sort(), ["code", "message", "param", "type"]);
  return body.error;
}

function operationOf(method: string, path: string): Operation {
  const found = adminOperations.find(
    (each) =>
      each.method === method &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`).test(`/admin/v1${path}`),
  );
  assert.ok(found !== undefined, `${method} ${path}`);
  return found;
}

onEachDatabase("the admin API", ({ open }) => {
  const closing: (() => Promise<void>)[] = [];
  after(async () => {
    for (const close of closing) await close();
  });

  /** A server with two organizations: `operator` may do everything, `acme` and `globex` call as their admins. */
  async function start() {
    const control = await open();
    const first = await bootstrap(control);
    const keys = createKeyCheck({ control, logger: silentLogger });
    const http = await startTestHttp({ routes: tenancyRoutes(control, recordedUsage(control)), checkKey: keys.check });
    closing.push(async () => {
      await http.close();
      await keys.close();
    });
    const as =
      (secret: string): Call =>
      async (method, path, body) => {
        const response = await fetch(`${http.url}/admin/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const answered: unknown = await response.json();
        if (response.ok) assert.ok(satisfies(operationOf(method, path).answer.schema!, answered), "the answer's shape");
        return { status: response.status, body: answered };
      };
    const operator = as(first!.operatorKey!);
    const tenant = async (name: string) => {
      const organization = await expecting<Organization>(201, operator("POST", "/organizations", { name }));
      const key = await expecting<KeyWithSecret>(
        201,
        operator("POST", "/keys", { organization_id: name, name: "admin", permissions: ["admin"] }),
      );
      return { organization, key, call: as(key.secret) };
    };
    return { as, operator, ordinary: as(first!.key), acme: await tenant("acme"), globex: await tenant("globex") };
  }

  test("manages an organization, a project and a key through their lifecycle", async () => {
    const { operator, as } = await start();
    const created = await expecting<Organization>(
      201,
      operator("POST", "/organizations", { name: "initech", limits: { requests_per_minute: 9 } }),
    );
    const path = `/organizations/${created.id}`;
    assert.deepEqual(await expecting(200, operator("GET", path)), created);
    const renamed = await expecting<Organization>(
      200,
      operator("PATCH", path, { name: "initrode", allowed_models: ["a*"], limits: { requests_per_minute: null } }),
    );
    assert.deepEqual([renamed.name, renamed.allowed_models, renamed.limits], ["initrode", ["a*"], {}]);

    const project = await expecting<Project>(
      201,
      operator("POST", "/projects", { organization_id: created.id, name: "bot", settings: { retention_days: 3 } }),
    );
    const { settings } = await expecting<Project>(
      200,
      operator("PATCH", `/projects/${project.id}`, { settings: { record_content: true } }),
    );
    assert.deepEqual(settings, { retention_days: 3, record_content: true });

    const { secret, ...key } = await expecting<KeyWithSecret>(
      201,
      operator("POST", "/keys", { organization_id: "initrode", project_id: project.id, name: "bot" }),
    );
    assert.deepEqual(await expecting(200, operator("GET", `/keys/${key.id}`)), key);
    const listed = await expecting<{ data: Key[] }>(200, operator("GET", `/keys?project_id=${project.id}`));
    assert.deepEqual(listed.data, [key]);
    assert.match(
      (await refusal(403, as(secret)("GET", "/keys"))).message,
      /does not have the permission "configuration_read"/,
    );

    await expecting(200, operator("POST", `/keys/${key.id}/revoke`));
    assert.match((await refusal(401, as(secret)("GET", "/keys"))).message, /revoked/);
    await expecting(200, operator("POST", `/projects/${project.id}/archive`));
    await expecting(200, operator("POST", `${path}/archive`));
    await refusal(409, operator("PATCH", path, { name: "again" }));
  });

  test("shows limits and the month's tokens, and another organization's as unknown", async () => {
    const { acme, globex, operator } = await start();
    const key = await expecting<KeyWithSecret>(
      201,
      acme.call("POST", "/keys", { name: "k", limits: { tokens_per_month: 9 } }),
    );
    for (const path of [`/keys/${key.id}/usage`, `/organizations/${acme.organization.id}/usage`]) {
      const { data } = await expecting<{ data: { limit: string; value: number | null; used: number | null }[] }>(
        200,
        acme.call("GET", path),
      );
      const month = data.find(({ limit }) => limit === "tokens_per_month");
      assert.deepEqual([month!.value, month!.used], [path.startsWith("/keys") ? 9 : null, 0]);
      assert.deepEqual(await expecting(200, operator("GET", path)), await expecting(200, acme.call("GET", path)));
      assert.equal((await refusal(404, globex.call("GET", path))).code, "not_found");
    }
  });

  test("requires the permission admin", async () => {
    const { ordinary, as } = await start();
    for (const { method, path } of adminOperations) {
      const concrete = path.replace("/admin/v1", "").replace(/\{\w+\}/, "x");
      assert.equal((await refusal(403, ordinary(method, concrete))).code, "permission_denied");
      assert.equal((await refusal(401, as("sk-nobody")(method, concrete))).code, "invalid_api_key");
    }
  });

  test("shows an organization's admin only its own organization", async () => {
    const { acme, globex } = await start();
    const project = await expecting<Project>(201, globex.call("POST", "/projects", { name: "secret plans" }));
    const own = async (path: string) => (await expecting<{ data: Project[] }>(200, acme.call("GET", path))).data;
    assert.deepEqual(await own("/organizations?include_archived=true"), [acme.organization]);
    assert.deepEqual(await own("/organizations?name=globex"), []);
    for (const path of ["/projects?limit=100", "/keys?limit=100&include_revoked=true"]) {
      const owners = new Set((await own(path)).map((item) => item.organization_id));
      assert.deepEqual([...owners], [acme.organization.id]);
    }
    assert.deepEqual(await own(`/keys?project_id=${project.id}`), []);
    assert.deepEqual(await own(`/projects?after=${project.id}`), []);
  });

  test("answers for another organization's objects as for missing ones", async () => {
    const { acme, globex } = await start();
    const project = await expecting<Project>(201, globex.call("POST", "/projects", { name: "secret plans" }));
    const attempts: [method: string, path: (id: string) => string, id: string, body?: unknown][] = [
      ["GET", (id) => `/organizations/${id}`, globex.organization.id],
      ["PATCH", (id) => `/organizations/${id}`, globex.organization.id, { name: "mine" }],
      ["POST", (id) => `/organizations/${id}/archive`, globex.organization.id],
      ["GET", (id) => `/projects/${id}`, project.id],
      ["PATCH", (id) => `/projects/${id}`, project.id, { settings: { retention_days: 1 } }],
      ["POST", (id) => `/projects/${id}/archive`, project.id],
      ["GET", (id) => `/keys/${id}`, globex.key.id],
      ["PATCH", (id) => `/keys/${id}`, globex.key.id, { name: "mine" }],
      ["POST", (id) => `/keys/${id}/revoke`, globex.key.id],
      ["POST", (id) => `/keys/${id}/rotate`, globex.key.id, {}],
    ];
    for (const [method, path, id, body] of attempts) {
      const absent = `${id.slice(0, -1)}${id.endsWith("0") ? "1" : "0"}`;
      const foreign = await refusal(404, acme.call(method, path(id), body));
      const missing = await refusal(404, acme.call(method, path(absent), body));
      assert.deepEqual({ ...foreign, message: foreign.message.replace(id, absent) }, missing, `${method} ${path(id)}`);
    }
    const bind = (id: string) => refusal(404, acme.call("POST", "/keys", { name: "k", project_id: id }));
    const foreign = await bind(project.id);
    assert.equal(
      foreign.message.replace(project.id, ""),
      (await bind(acme.key.id.replace("key", "proj"))).message.replace(acme.key.id.replace("key", "proj"), ""),
    );
    await expecting(200, globex.call("GET", `/projects/${project.id}`));
  });

  test("confines an organization's admin to its organization", async () => {
    const { acme, globex, operator } = await start();
    const denied = async (code: string, ...call: Parameters<Call>) =>
      assert.equal((await refusal(403, acme.call(...call))).code, code);
    const foreign = globex.organization;
    await denied("organization_mismatch", "GET", `/projects?organization_id=${foreign.id}`);
    await denied("organization_mismatch", "GET", "/keys?organization_id=nobody");
    await denied("organization_mismatch", "POST", "/projects", { organization_id: foreign.name, name: "p" });
    await denied("organization_mismatch", "POST", "/keys", { organization_id: foreign.id, name: "k" });
    await denied("permission_denied", "POST", "/organizations", { name: "more" });
    await denied("permission_denied", "PATCH", `/organizations/${acme.organization.id}`, { limits: {} });
    await denied("permission_denied", "POST", `/organizations/${acme.organization.id}/archive`);
    await denied("permission_denied", "POST", "/keys", { name: "k", permissions: ["admin"], operator: true });
    const operators = await expecting<KeyWithSecret>(
      201,
      operator("POST", "/keys", { organization_id: "acme", name: "o", permissions: ["admin"], operator: true }),
    );
    await denied("permission_denied", "POST", `/keys/${operators.id}/revoke`);
    await denied("permission_denied", "POST", `/keys/${operators.id}/rotate`, {});
    await denied("permission_denied", "PATCH", `/keys/${operators.id}`, { name: "mine" });
    const key = await expecting<KeyWithSecret>(
      201,
      acme.call("POST", "/keys", { organization_id: "acme", name: "k", permissions: ["admin", "inference"] }),
    );
    assert.deepEqual([key.organization_id, key.operator], [acme.organization.id, false]);
  });

  test("refuses input outside the contract, with the field, the value and what is allowed", async () => {
    const { operator } = await start();
    const wrong: [path: string, body: unknown, param: string][] = [
      ["/organizations", {}, "name"],
      ["/organizations", { name: "" }, "name"],
      ["/organizations", { name: "x".repeat(129) }, "name"],
      ["/organizations", { name: "line\nbreak" }, "name"],
      ["/organizations", { name: "ends in a space " }, "name"],
      ["/organizations", { name: "a", color: "red" }, "color"],
      ["/organizations", { name: "a", limits: { requests_per_minute: 0 } }, "limits.requests_per_minute"],
      ["/organizations", { name: "a", limits: { requests_per_second: 1 } }, "limits.requests_per_second"],
      ["/organizations", { name: "a", allowed_models: [] }, "allowed_models"],
      ["/organizations", { name: "a", allowed_models: "gpt-*" }, "allowed_models"],
      ["/projects", { name: "p", settings: { retention_days: 0 } }, "settings.retention_days"],
      ["/projects", { name: "p", settings: { record_content: "yes" } }, "settings.record_content"],
      ["/projects", { name: "p", settings: { redact: ["names"] } }, "settings.redact[0]"],
      ["/keys", { name: "k", permissions: ["root"] }, "permissions[0]"],
      ["/keys", { name: "k", permissions: [] }, "permissions"],
      ["/keys", { name: "k", expires_at: "tomorrow" }, "expires_at"],
      ["/keys", { name: "k", project_id: "bot" }, "project_id"],
      ["/keys", { name: "k", secret: "sk-of-my-own" }, "secret"],
    ];
    for (const [path, body, param] of wrong) {
      const error = await refusal(400, operator("POST", path, body));
      assert.deepEqual([error.param, error.type], [param, "invalid_request_error"], JSON.stringify(body));
      assert.ok(error.message.includes(param), error.message);
    }
    for (const query of [
      "order=newest",
      `search=${"x".repeat(129)}`,
      "limit=0",
      "limit=101",
      "limit=ten",
      "after=x",
      "include_revoked=1",
      "project_id=' or 1=1",
    ]) {
      const error = await refusal(400, operator("GET", `/keys?${query}`));
      assert.equal(error.param, query.split("=")[0]);
    }
  });

  test("lists in pages", async () => {
    const { operator } = await start();
    const names: string[] = [];
    let path = "/organizations?limit=2";
    for (;;) {
      const page = await expecting<{ data: Organization[]; has_more: boolean; last_id: string }>(
        200,
        operator("GET", path),
      );
      names.push(...page.data.map(({ name }) => name));
      if (!page.has_more) break;
      path = `/organizations?limit=2&after=${page.last_id}`;
    }
    assert.deepEqual(names.sort(), ["acme", "default", "globex"]);
  });

  test("lists in pages with the newest first", async () => {
    const { operator } = await start();
    const first = await expecting<Page>(200, operator("GET", "/organizations?limit=2&order=desc"));
    const second = await expecting<Page>(
      200,
      operator("GET", `/organizations?limit=2&order=desc&after=${first.last_id}`),
    );
    const names = [...first.data, ...second.data].map(({ name }) => name);
    assert.deepEqual([names, second.has_more], [["globex", "acme", "default"], false]);
  });

  test("searches names and identifiers, in either case and with every character taken literally", async () => {
    const { operator, acme, globex } = await start();
    for (const name of ["night_shift", "nightXshift", "Übersicht"])
      await expecting(201, acme.call("POST", "/projects", { name }));
    const key = await expecting<KeyWithSecret>(201, acme.call("POST", "/keys", { name: "Night porter" }));
    const found = async (call: Call, path: string): Promise<string[]> =>
      (await expecting<Page>(200, call("GET", path))).data.map(({ name }) => name);
    assert.deepEqual(await found(acme.call, "/projects?search=NIGHT"), ["night_shift", "nightXshift"]);
    assert.deepEqual(await found(acme.call, "/projects?search=night_"), ["night_shift"]);
    assert.deepEqual(await found(acme.call, `/projects?search=${encodeURIComponent("Über")}`), ["Übersicht"]);
    assert.deepEqual(await found(acme.call, `/projects?search=${encodeURIComponent("' or 1=1 --")}`), []);
    assert.deepEqual(await found(acme.call, `/keys?search=${key.id}`), ["Night porter"]);
    const ending = key.redacted_secret.slice(-4);
    assert.ok((await found(acme.call, `/keys?search=${ending}`)).includes("Night porter"));
    assert.deepEqual(await found(operator, "/organizations?search=LOBE"), ["globex"]);
    assert.deepEqual(await found(globex.call, "/keys?search=porter"), []);
  });
});

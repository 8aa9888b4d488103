/** SCIM against a server with two tenants, in the requests that the documentation of Okta and of Entra ID gives. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { describe, test } from "node:test";
import { clientId, clientSecret, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { PersonBrowser, type TestJson } from "../sign-in/person-browser.ts";
import { newPerson } from "../sign-in/provider-server.ts";
import { providerSettings } from "../support/provider-settings.ts";
import { startAuditServer } from "../tenancy/audit-server.ts";

const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

let idp: TestIdentityProvider;
let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startAuditServer>>;
let acme: Provisioner;
let globex: Provisioner;

beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-scim-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  const provider = providerSettings({
    issuer: idp.issuer,
    client_id: clientId,
    client_secret: clientSecret,
    scopes: ["email", "profile", "groups"],
    rules: [
      { values: ["owners"], organization: "acme", role: "owner" },
      { values: ["engineers", "60f1-object-id"], organization: "acme", role: "member" },
      { values: ["viewers"], organization: "acme", role: "viewer" },
      { values: ["engineers"], organization: "globex", role: "admin" },
    ],
  });
  server = stack.use(await startAuditServer(control, { providers: { acme: provider } }));
  [acme, globex] = [await provisioner("acme"), await provisioner("globex")];
});

/** Calls as a provider with a key of the organization. */
async function provisioner(organization: string) {
  const key = { organization_id: organization, name: "scim", permissions: ["provision"] };
  const { body } = await server.operator("POST", "/admin/v1/keys", key);
  return Object.assign(caller(body.secret), { secret: body.secret });
}
type Provisioner = Awaited<ReturnType<typeof provisioner>>;

function caller(secret: string) {
  return async (method: string, path: string, sent?: unknown): Promise<{ status: number; body: TestJson }> => {
    const response = await fetch(`${server.url}/scim/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/scim+json; charset=utf-8" },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    });
    const text = await response.text();
    if (text !== "") assert.equal(response.headers.get("content-type"), "application/scim+json");
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
  };
}

const patch = (...Operations: object[]) => ({ schemas: [patchSchema], Operations });

async function expecting(status: number, answer: ReturnType<Provisioner>): Promise<TestJson> {
  const { body, status: found } = await answer;
  assert.equal(found, status, JSON.stringify(body));
  return body;
}

/** A user as Okta creates one. */
const oktaUser = (name: string) => ({
  schemas: [userSchema],
  userName: `${name}@example.com`,
  name: { givenName: name, familyName: "Okta" },
  emails: [{ primary: true, value: `${name}@example.com`, type: "work" }],
  displayName: `${name} Okta`,
  locale: "en-US",
  externalId: `00u-${name}`,
  groups: [],
  password: "1mz050nq",
  active: true,
});
const add = (name: string, by = acme) => expecting(201, by("POST", "/Users", oktaUser(name)));

async function rolesOf(email: string, organization = "acme"): Promise<readonly string[]> {
  const path = `/admin/v1/people?organization_id=${organization}&search=${encodeURIComponent(email)}&include_disabled=true`;
  const { body } = (await server.operator("GET", path)) as TestJson;
  return (body.data[0]?.memberships ?? []).map(({ role }: { role: string }) => role);
}

describe("as Okta", () => {
  test("a user is looked up, created, replaced, deactivated and activated", async () => {
    const none = await expecting(
      200,
      acme("GET", `/Users?filter=${encodeURIComponent('userName eq "ada@example.com"')}&startIndex=1&count=100`),
    );
    assert.deepEqual([none.totalResults, none.Resources, none.startIndex], [0, [], 1]);
    const ada = await add("ada");
    assert.equal(ada.meta.location, `${server.url}/scim/v2/Users/${ada.id}`);
    assert.equal(ada.password, undefined);
    assert.deepEqual([ada.active, ada.groups, ada.externalId], [true, [], "00u-ada"]);
    const again = await expecting(409, acme("POST", "/Users", { ...oktaUser("ada"), userName: "ADA@example.com" }));
    assert.deepEqual([again.scimType, again.status], ["uniqueness", "409"]);
    const found = await expecting(
      200,
      acme("GET", `/Users?filter=${encodeURIComponent('userName eq "ADA@example.com"')}`),
    );
    assert.deepEqual(
      found.Resources.map(({ id }: TestJson) => id),
      [ada.id],
    );
    const renamed = { ...ada, name: { givenName: "Ada", familyName: "Lovelace" }, displayName: undefined };
    const replaced = await expecting(200, acme("PUT", `/Users/${ada.id}`, renamed));
    assert.equal(replaced.name.familyName, "Lovelace");
    const off = patch({ op: "replace", value: { active: false } });
    assert.equal((await expecting(200, acme("PATCH", `/Users/${ada.id}`, off))).active, false);
    const on = patch({ op: "replace", value: { active: true } });
    assert.equal((await expecting(200, acme("PATCH", `/Users/${ada.id}`, on))).active, true);
  });

  test("groups give the roles of the rules, and take them", async () => {
    const [bob, carol] = [await add("bob"), await add("carol")];
    const group = await expecting(
      201,
      acme("POST", "/Groups", { displayName: "engineers", members: [{ value: bob.id, display: "bob" }] }),
    );
    assert.deepEqual(await rolesOf("bob@example.com"), ["member"]);
    assert.deepEqual(await rolesOf("bob@example.com", "globex"), []);
    const path = `/Groups/${group.id}`;
    await expecting(
      200,
      acme("PATCH", path, patch({ op: "add", path: "members", value: [{ value: carol.id, display: "carol" }] })),
    );
    assert.deepEqual(await rolesOf("carol@example.com"), ["member"]);
    await expecting(200, acme("PATCH", path, patch({ op: "remove", path: `members[value eq "${bob.id}"]` })));
    assert.deepEqual(await rolesOf("bob@example.com"), []);
    const shown = await expecting(200, acme("GET", `/Users/${carol.id}`));
    assert.deepEqual(shown.groups, [{ value: group.id, display: "engineers" }]);
    const renamed = patch({ op: "replace", value: { id: group.id, displayName: "viewers" } });
    await expecting(200, acme("PATCH", path, renamed));
    assert.deepEqual(await rolesOf("carol@example.com"), ["viewer"]);
    await expecting(200, acme("PATCH", path, patch({ op: "replace", path: "members", value: [{ value: bob.id }] })));
    assert.deepEqual([await rolesOf("bob@example.com"), await rolesOf("carol@example.com")], [["viewer"], []]);
    assert.equal((await acme("DELETE", path)).status, 204);
    assert.deepEqual(await rolesOf("bob@example.com"), []);
  });
});

describe("as Entra ID", () => {
  test("a user is created and changed by paths, with text as booleans and unknown attributes", async () => {
    const dora = await expecting(
      201,
      acme("POST", "/Users", {
        schemas: [userSchema, enterprise],
        externalId: "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
        userName: "dora@example.com",
        active: true,
        emails: [{ primary: true, type: "work", value: "dora@example.com" }],
        meta: { resourceType: "User" },
        name: { formatted: "Dora Entra", familyName: "Entra", givenName: "Dora" },
        roles: [],
        [enterprise]: { department: "Sales" },
      }),
    );
    const path = `/Users/${dora.id}`;
    const changed = await expecting(
      200,
      acme(
        "PATCH",
        path,
        patch(
          { op: "Replace", path: 'emails[type eq "work"].value', value: "dora.entra@example.com" },
          { op: "Replace", path: "name.familyName", value: "Updated" },
          { op: "Add", path: 'emails[type eq "home"].value', value: "dora@home.example" },
          { op: "Add", path: `${enterprise}:department`, value: "Research" },
          { op: "Add", value: { displayName: "Dora", "name.givenName": "D.", title: "Dr" } },
        ),
      ),
    );
    assert.deepEqual(changed.name, { formatted: "Dora Entra", familyName: "Updated", givenName: "D." });
    assert.deepEqual(changed.emails, [
      { primary: true, type: "work", value: "dora.entra@example.com" },
      { type: "home", value: "dora@home.example" },
    ]);
    assert.equal(changed.displayName, "Dora");
    // Nobody has signed in with the address yet, so it changes.
    const { body } = (await server.operator("GET", "/admin/v1/people?search=dora.entra")) as TestJson;
    assert.equal(body.data.length, 1);
    const off = patch({ op: "Replace", path: "active", value: "False" });
    assert.equal((await expecting(200, acme("PATCH", path, off))).active, false);
    assert.equal((await acme("DELETE", path)).status, 204);
    const gone = await expecting(404, acme("GET", path));
    assert.deepEqual(gone.schemas, ["urn:ietf:params:scim:api:messages:2.0:Error"]);
  });

  test("groups are found by their names, and rules compare object IDs", async () => {
    const erin = await add("erin");
    const group = await expecting(
      201,
      acme("POST", "/Groups", { displayName: "Staff", externalId: "60f1-object-id", meta: { resourceType: "Group" } }),
    );
    const filter = encodeURIComponent('displayName eq "staff"');
    const found = await expecting(200, acme("GET", `/Groups?excludedAttributes=members&filter=${filter}`));
    assert.deepEqual([found.totalResults, found.Resources[0].id, found.Resources[0].members], [1, group.id, undefined]);
    const member = [{ $ref: null, value: erin.id }];
    await expecting(200, acme("PATCH", `/Groups/${group.id}`, patch({ op: "Add", path: "members", value: member })));
    assert.deepEqual(await rolesOf("erin@example.com"), ["member"]);
    const isMember = encodeURIComponent(`id eq "${group.id}" and members eq "${erin.id}"`);
    assert.equal((await expecting(200, acme("GET", `/Groups?filter=${isMember}`))).totalResults, 1);
    await expecting(200, acme("PATCH", `/Groups/${group.id}`, patch({ op: "Remove", path: "members", value: member })));
    assert.deepEqual(await rolesOf("erin@example.com"), []);
  });
});

test("deactivating a user ends sessions and personal keys at once, and the provider lets nobody back in", async () => {
  const finn = await add("finn");
  const group = await expecting(
    201,
    acme("POST", "/Groups", { displayName: "engineers", members: [{ value: finn.id }] }),
  );
  idp.person = newPerson("finn", "engineers");
  const browser = new PersonBrowser(server.url);
  assert.equal((await browser.signIn()).status, 303);
  const { body: key } = await browser.request("POST", "/authentication/keys", { name: "laptop" });
  const whoHasKey = () => server.as(key.secret)("POST", "/authentication/validate");
  assert.equal((await whoHasKey()).status, 200);
  // The rules also give a role in the other organization, which this provider cannot take.
  const { body: session } = await browser.request("GET", "/authentication/session");
  assert.deepEqual(session.organizations.map(({ name }: TestJson) => name).toSorted(), ["acme", "globex"]);
  await expecting(200, acme("PATCH", `/Users/${finn.id}`, patch({ op: "replace", value: { active: false } })));
  assert.equal((await browser.request("GET", "/authentication/session")).status, 401);
  assert.equal((await whoHasKey()).status, 401);
  assert.equal((await new PersonBrowser(server.url).signIn()).status, 303);
  assert.deepEqual(await rolesOf("finn@example.com", "globex"), ["admin"]);
  const inside = new PersonBrowser(server.url);
  await inside.signIn();
  const { body: left } = await inside.request("GET", "/authentication/session");
  assert.deepEqual(
    left.organizations.map(({ name }: TestJson) => name),
    ["globex"],
  );
  // Another organization's provider deactivates the person as well: now nothing is left.
  const other = await add("finn", globex);
  await expecting(200, globex("PATCH", `/Users/${other.id}`, patch({ op: "replace", value: { active: false } })));
  assert.equal((await inside.request("GET", "/authentication/session")).status, 401);
  assert.equal((await new PersonBrowser(server.url).signIn()).status, 403);
  await acme("DELETE", `/Groups/${group.id}`);
});

test("a provider reaches its own organization only", async () => {
  const gina = await add("gina");
  const group = await expecting(201, acme("POST", "/Groups", { displayName: "secret", members: [{ value: gina.id }] }));
  for (const [method, path, body] of [
    ["GET", `/Users/${gina.id}`],
    ["PUT", `/Users/${gina.id}`, oktaUser("gina")],
    ["PATCH", `/Users/${gina.id}`, patch({ op: "replace", value: { active: false } })],
    ["DELETE", `/Users/${gina.id}`],
    ["GET", `/Groups/${group.id}`],
    ["PUT", `/Groups/${group.id}`, { displayName: "mine" }],
    ["PATCH", `/Groups/${group.id}`, patch({ op: "replace", value: { displayName: "mine" } })],
    ["DELETE", `/Groups/${group.id}`],
  ] as const)
    assert.equal((await globex(method, path, body)).status, 404, `${method} ${path}`);
  const filters = [`/Users?filter=${encodeURIComponent(`id eq "${gina.id}"`)}`, "/Users", "/Groups"];
  for (const path of filters) {
    const list = await expecting(200, globex("GET", path));
    assert.ok(!JSON.stringify(list).includes(gina.id), path);
  }
  const stolen = await expecting(400, globex("POST", "/Groups", { displayName: "g", members: [{ value: gina.id }] }));
  assert.equal(stolen.scimType, "invalidValue");
  // A person of another organization is taken in without telling who it is, and its address and name do not change.
  const taken = { ...oktaUser("gina"), displayName: "Not Gina", name: undefined };
  const own = await expecting(201, globex("POST", "/Users", taken));
  assert.equal(own.displayName, "Not Gina");
  const renamed = { ...taken, userName: "mallory@example.com", emails: [] };
  await expecting(200, globex("PUT", `/Users/${own.id}`, renamed));
  const { body } = (await server.operator("GET", "/admin/v1/people?search=gina")) as TestJson;
  assert.deepEqual(
    body.data.map(({ email, name }: TestJson) => [email, name]),
    [
      ["gina@example.com", "gina Okta"],
      ["mallory@example.com", "Not Gina"],
    ],
  );
  assert.equal((await expecting(200, acme("GET", `/Users/${gina.id}`))).userName, "gina@example.com");
});

test("only a key with the permission is let in, and only an owner or an operator gives it", async () => {
  const { body: ordinary } = await server.operator("POST", "/admin/v1/keys", {
    organization_id: "acme",
    name: "admin",
    permissions: ["admin"],
  });
  const refused = await expecting(403, caller(ordinary.secret)("GET", "/Users"));
  assert.match(refused.detail, /does not have the permission "provision"/);
  assert.equal((await caller("sk-wrong")("GET", "/Users")).status, 401);
  const asked = { name: "scim", permissions: ["provision"] };
  const own = await server.acme.call("POST", "/admin/v1/keys", asked);
  assert.equal(own.status, 403, JSON.stringify(own.body));
});

test("addresses of resources do not repeat a host that anybody may have sent", async () => {
  const { hostname, port } = new URL(server.url);
  const headers = { authorization: `Bearer ${acme.secret}`, host: "evil.example" };
  const asked = request({ hostname, port, path: "/scim/v2/ServiceProviderConfig", headers }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const { meta } = (await json(response)) as TestJson;
  assert.equal(meta.location, "http://127.0.0.1:4141/scim/v2/ServiceProviderConfig");
});

test("the last owner stays", async () => {
  const hana = await add("hana");
  const group = await expecting(201, acme("POST", "/Groups", { displayName: "owners", members: [{ value: hana.id }] }));
  assert.deepEqual(await rolesOf("hana@example.com"), ["owner"]);
  const off = patch({ op: "replace", value: { active: false } });
  for (const answer of [
    acme("PATCH", `/Users/${hana.id}`, off),
    acme("DELETE", `/Users/${hana.id}`),
    acme("PUT", `/Groups/${group.id}`, { displayName: "owners", members: [] }),
    acme("DELETE", `/Groups/${group.id}`),
  ])
    assert.match((await expecting(409, answer)).detail, /without an owner/);
  const ivan = await add("ivan");
  await expecting(
    200,
    acme("PATCH", `/Groups/${group.id}`, patch({ op: "add", path: "members", value: [{ value: ivan.id }] })),
  );
  await expecting(200, acme("PATCH", `/Users/${hana.id}`, off));
  assert.deepEqual(await rolesOf("hana@example.com"), []);
});

test("a provider cannot give an account that somebody uses another address", async () => {
  const jack = await add("jack");
  await expecting(201, acme("POST", "/Groups", { displayName: "viewers", members: [{ value: jack.id }] }));
  idp.person = newPerson("jack", "viewers");
  assert.equal((await new PersonBrowser(server.url).signIn()).status, 303);
  const renamed = { ...oktaUser("victim"), externalId: "00u-jack" };
  const answer = await expecting(200, acme("PUT", `/Users/${jack.id}`, renamed));
  assert.equal(answer.userName, "victim@example.com");
  const { body } = (await server.operator("GET", "/admin/v1/people?search=victim")) as TestJson;
  assert.deepEqual(
    body.data.map(({ email }: TestJson) => email),
    ["jack@example.com"],
  );
});

test("lists have pages, and bad requests get SCIM's errors", async () => {
  const page = await expecting(200, acme("GET", "/Users?startIndex=2&count=1&attributes=userName"));
  assert.deepEqual([page.startIndex, page.itemsPerPage], [2, 1]);
  assert.deepEqual(Object.keys(page.Resources[0]).toSorted(), ["id", "schemas", "userName"]);
  assert.equal((await expecting(200, acme("GET", "/Users?count=0"))).itemsPerPage, 0);
  const long = "x".repeat(600);
  const user = oktaUser("kim");
  for (const [method, path, body, type] of [
    ["GET", `/Users?filter=${encodeURIComponent('userName sw "a"')}`, undefined, "invalidFilter"],
    ["GET", `/Users?filter=${encodeURIComponent('userName eq "a" or id eq "b"')}`, undefined, "invalidFilter"],
    ["GET", `/Users?filter=${"(".repeat(3000)}`, undefined, "invalidFilter"],
    ["GET", "/Users?count=many", undefined, "invalidValue"],
    ["POST", "/Users", {}, "invalidValue"],
    ["POST", "/Users", { ...user, userName: long }, "invalidValue"],
    ["POST", "/Users", { ...user, userName: "kim", emails: [] }, "invalidValue"],
    ["POST", "/Users", { ...user, active: "maybe" }, "invalidValue"],
    ["POST", "/Users", { ...user, emails: Array.from({ length: 50 }, () => ({ value: "a@b.c" })) }, "invalidValue"],
    [
      "POST",
      "/Groups",
      { displayName: "g", members: Array.from({ length: 1001 }, () => ({ value: "x" })) },
      "invalidValue",
    ],
    ["PATCH", "/Users/none", patch(), "invalidValue"],
    ["PATCH", "/Groups/none", patch({ op: "move", path: "members" }), "invalidValue"],
    ["PATCH", "/Groups/none", patch({ op: "remove" }), "noTarget"],
  ] as const) {
    const { body: error, status } = await acme(method, path, body);
    assert.deepEqual([status, error.status, error.scimType], [400, "400", type], `${method} ${path}`);
  }
  assert.equal((await acme("GET", "/Bulk")).status, 404);
  assert.equal((await expecting(200, acme("GET", "/ServiceProviderConfig"))).patch.supported, true);
  assert.equal((await expecting(200, acme("GET", "/ResourceTypes"))).totalResults, 2);
  assert.equal((await expecting(200, acme("GET", "/Schemas"))).totalResults, 2);
});

test("changes are in the audit log, before and after, for their organization only", async () => {
  const lena = await add("lena");
  await expecting(200, acme("PATCH", `/Users/${lena.id}`, patch({ op: "replace", value: { active: false } })));
  const events: TestJson[] = await server.events(server.acme.call);
  const own = events.filter(({ target }) => target?.id === lena.id);
  assert.deepEqual(
    own.map(({ action, actor, outcome }) => [action, actor.kind, actor.name, outcome]),
    [
      ["scimCreateUser", "key", "scim", "done"],
      ["scimPatchUser", "key", "scim", "done"],
    ],
  );
  assert.deepEqual([own[1]?.before.active, own[1]?.after.active], [true, false]);
  const others: TestJson[] = await server.events(server.globex.call);
  assert.ok(!JSON.stringify(others).includes(lena.id));
});

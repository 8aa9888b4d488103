import assert from "node:assert/strict";
import { after, test } from "node:test";
import { beforeEachTest } from "../../../../test/support/hooks.ts";
import type { Key, KeyWithSecret } from "../../src/api/keys.ts";
import type { Project } from "../../src/api/admin.ts";
import type { Membership, Person, Role } from "../../src/api/people.ts";
import { peopleOperations } from "../../src/api/people-operations.ts";
import { personalKeyOperations } from "../../src/api/personal-keys.ts";
import { onEachDatabase } from "./each-database.ts";
import { expecting, membershipOf, refusal, startPeopleServer } from "./people-server.ts";

onEachDatabase("people", ({ open }) => {
  let server: Awaited<ReturnType<typeof startPeopleServer>>;
  // The database server is started after hooks of this suite.
  beforeEachTest(async () => {
    server ??= await startPeopleServer(await open());
  });
  after(() => server.close());

  test("an administrator adds, lists, changes and disables people", async () => {
    const { admin, name, organization } = await server.newOrganization();
    const email = `Ada@${name}.example`;
    const ada = await expecting<Person>(201, admin("POST", "/admin/v1/people", { email, name: "Ada", role: "viewer" }));
    assert.deepEqual([ada.email, ada.name, ada.operator], [email.toLowerCase(), "Ada", false]);
    assert.deepEqual(
      ada.memberships.map(({ organization_id: id, project_id: project, role, source }) => [id, project, role, source]),
      [[organization.id, null, "viewer", "admin"]],
    );
    const again = await expecting<Person>(201, admin("POST", "/admin/v1/people", { email, role: "member" }));
    assert.deepEqual([again.id, again.name, membershipOf(again).role], [ada.id, "Ada", "member"]);
    const { data } = await expecting<{ data: Person[] }>(200, admin("GET", "/admin/v1/people?search=ada"));
    assert.deepEqual(data, [again]);

    const renamed = await expecting<Person>(200, admin("PATCH", `/admin/v1/people/${ada.id}`, { name: "Ada L." }));
    assert.equal(renamed.name, "Ada L.");
    await expecting(200, admin("PATCH", `/admin/v1/people/${ada.id}`, { disabled: true }));
    assert.match((await refusal(401, server.asPerson(ada)("GET", "/admin/v1/projects"))).message, /disabled/);
    assert.deepEqual((await expecting<{ data: Person[] }>(200, admin("GET", "/admin/v1/people?search=ada"))).data, []);
    const all = await expecting<{ data: Person[] }>(
      200,
      admin("GET", "/admin/v1/people?search=ada&include_disabled=true"),
    );
    assert.equal(all.data.length, 1);
    await expecting(200, admin("PATCH", `/admin/v1/people/${ada.id}`, { disabled: false }));
    await expecting(200, server.asPerson(ada)("GET", "/admin/v1/projects"));
  });

  test("nobody grants, changes or removes more than they have", async () => {
    const { add, asOwner, owner } = await server.newOrganization();
    const [administrator, member, viewer] = [await add("admin"), await add("member"), await add("viewer")];
    const asAdmin = server.asPerson(administrator);
    for (const caller of [member, viewer]) {
      const call = server.asPerson(caller);
      const itself = `/admin/v1/memberships/${membershipOf(caller).id}`;
      for (const role of ["owner", "admin"]) {
        assert.match((await refusal(403, call("PATCH", itself, { role }))).message, /permission "admin"/);
        await refusal(403, call("POST", "/admin/v1/memberships", { person_id: caller.id, role }));
        await refusal(403, call("POST", "/admin/v1/people", { email: caller.email, role }));
      }
      await refusal(403, call("POST", "/admin/v1/roles", { name: "root", permissions: ["admin"] }));
      await refusal(403, call("POST", "/admin/v1/keys", { name: "k" }));
    }
    const itself = `/admin/v1/memberships/${membershipOf(administrator).id}`;
    assert.match((await refusal(403, asAdmin("PATCH", itself, { role: "owner" }))).message, /permission "owner"/);
    await refusal(403, asAdmin("POST", "/admin/v1/people", { email: administrator.email, role: "owner" }));
    await refusal(403, asAdmin("DELETE", `/admin/v1/memberships/${membershipOf(owner).id}`));
    await refusal(403, asAdmin("PATCH", `/admin/v1/memberships/${membershipOf(owner).id}`, { role: "viewer" }));
    await refusal(403, asAdmin("PATCH", `/admin/v1/people/${owner.id}`, { disabled: true }));
    await refusal(403, asAdmin("PATCH", `/admin/v1/people/${member.id}`, { email: "other@example.com" }));
    await refusal(403, asOwner("PATCH", `/admin/v1/people/${owner.id}`, { operator: true }));
    await refusal(403, asOwner("POST", "/admin/v1/people", { email: owner.email, role: "owner", operator: true }));

    const promoted = await expecting<Membership>(
      200,
      asOwner("PATCH", `/admin/v1/memberships/${membershipOf(member).id}`, { role: "owner" }),
    );
    assert.equal(promoted.role, "owner");
    await expecting(200, server.asPerson(member)("PATCH", itself, { role: "owner" }));
  });

  test("a role of an organization grants what it has, and no more can be granted with it", async () => {
    const { add, asOwner, admin } = await server.newOrganization();
    const role = await expecting<Role>(
      201,
      asOwner("POST", "/admin/v1/roles", { name: "gatekeeper", permissions: ["admin", "telemetry_read"] }),
    );
    const keeper = await add("gatekeeper");
    const call = server.asPerson(keeper);
    assert.equal(membershipOf(keeper).role, role.id);
    await expecting(201, call("POST", "/admin/v1/people", { email: `x@${role.id}.example`, role: "billing" }));
    for (const more of ["admin", "member", "owner"]) {
      await refusal(403, call("POST", "/admin/v1/people", { email: `y@${role.id}.example`, role: more }));
    }
    const more = { permissions: ["admin", "telemetry_read", "content_read"] };
    await refusal(403, call("PATCH", `/admin/v1/roles/${role.id}`, more));
    await refusal(403, call("POST", "/admin/v1/roles", { name: "more", ...more }));
    await refusal(403, call("POST", "/admin/v1/keys", { name: "k", permissions: ["telemetry_read"] }));
    await expecting(201, call("POST", "/admin/v1/keys", { name: "k", role: "gatekeeper" }));
    await refusal(400, asOwner("POST", "/admin/v1/roles", { name: "o", permissions: ["owner"] }));
    await refusal(409, asOwner("POST", "/admin/v1/roles", { name: "admin", permissions: ["inference"] }));
    await refusal(409, asOwner("PATCH", "/admin/v1/roles/viewer", { permissions: ["admin"] }));

    await expecting(200, admin("PATCH", `/admin/v1/roles/${role.id}`, { permissions: ["configuration_read"] }));
    await refusal(403, call("POST", "/admin/v1/people", { email: `z@${role.id}.example`, role: "billing" }));
    await expecting(200, call("GET", "/admin/v1/people"));
    assert.match((await refusal(409, admin("DELETE", `/admin/v1/roles/${role.id}`))).message, /in use/);
    await expecting(200, admin("DELETE", `/admin/v1/memberships/${membershipOf(keeper).id}`));
    const { data } = await expecting<{ data: Key[] }>(200, admin("GET", "/admin/v1/keys?name=k"));
    await expecting(200, admin("POST", `/admin/v1/keys/${data[0]!.id}/revoke`));
    await expecting(200, admin("DELETE", `/admin/v1/roles/${role.id}`));
  });

  test("the last owner stays", async () => {
    const { add, asOwner, operator, owner, admin } = { ...(await server.newOrganization()), ...server };
    const membership = `/admin/v1/memberships/${membershipOf(owner).id}`;
    for (const call of [asOwner, operator]) {
      assert.match((await refusal(409, call("DELETE", membership))).message, /without an owner/);
      await refusal(409, call("PATCH", membership, { role: "admin" }));
      await refusal(409, call("PATCH", `/admin/v1/people/${owner.id}`, { disabled: true }));
    }
    // Who cannot sign in does not count.
    const second = await add("owner");
    await expecting(200, asOwner("PATCH", `/admin/v1/people/${second.id}`, { disabled: true }));
    await refusal(409, asOwner("DELETE", membership));
    await expecting(200, asOwner("PATCH", `/admin/v1/people/${second.id}`, { disabled: false }));
    await refusal(403, admin("POST", "/admin/v1/people", { email: owner.email, role: "owner" }));
    await expecting(200, asOwner("DELETE", membership));
    assert.match((await refusal(403, asOwner("GET", "/admin/v1/people"))).message, /not a member/);
  });

  test("the first owner comes from a key with the permission admin", async () => {
    await expecting(201, server.operator("POST", "/admin/v1/organizations", { name: "unowned" }));
    const { secret } = await expecting<KeyWithSecret>(
      201,
      server.operator("POST", "/admin/v1/keys", { organization_id: "unowned", name: "a", permissions: ["admin"] }),
    );
    const admin = server.as(secret);
    const first = { email: "first@unowned.example", role: "owner" };
    await expecting(201, admin("POST", "/admin/v1/people", first));
    await refusal(403, admin("POST", "/admin/v1/people", { ...first, email: "second@unowned.example" }));
  });

  test("a role in a project reaches that project only", async () => {
    const { add, admin, name, project, organization } = await server.newOrganization();
    const other = await expecting<Project>(201, admin("POST", "/admin/v1/projects", { name: "other" }));
    const bound = await expecting<Key>(201, admin("POST", "/admin/v1/keys", { name: "o", project_id: other.id }));
    const colleague = await add("member");
    const lead = await add("admin", { project_id: project.id });
    const call = server.asPerson(lead);
    const projects = await expecting<{ data: Project[] }>(200, call("GET", "/admin/v1/projects"));
    assert.deepEqual(
      projects.data.map(({ id }) => id),
      [project.id],
    );
    await expecting(200, call("PATCH", `/admin/v1/projects/${project.id}`, { settings: { retention_days: 9 } }));
    for (const [method, path, body] of [
      ["GET", `/admin/v1/projects/${other.id}`],
      ["PATCH", `/admin/v1/projects/${other.id}`, { settings: {} }],
      ["POST", `/admin/v1/projects/${other.id}/archive`],
      ["GET", `/admin/v1/keys/${bound.id}`],
      ["POST", `/admin/v1/keys/${bound.id}/revoke`],
      ["POST", "/admin/v1/keys", { name: "k", project_id: other.id }],
      ["GET", `/admin/v1/keys?project_id=${other.id}`],
      ["GET", `/admin/v1/people/${colleague.id}`],
      ["DELETE", `/admin/v1/memberships/${membershipOf(colleague).id}`],
      ["POST", "/admin/v1/memberships", { person_id: colleague.id, project_id: other.id, role: "viewer" }],
    ] as const) {
      await refusal(404, call(method, path, body));
    }
    for (const [method, path, body] of [
      ["POST", "/admin/v1/projects", { name: "new" }],
      ["POST", "/admin/v1/roles", { name: "r", permissions: ["inference"] }],
      ["PATCH", `/admin/v1/people/${lead.id}`, { name: "x" }],
    ] as const) {
      await refusal(403, call(method, path, body));
    }
    // A request that names another project has no role there.
    const elsewhere = server.asPerson(lead, { project: "other" });
    assert.equal((await refusal(403, elsewhere("GET", "/admin/v1/projects"))).code, "project_mismatch");
    // What the caller creates belongs to the project.
    const key = await expecting<KeyWithSecret>(201, call("POST", "/admin/v1/keys", { name: "k" }));
    assert.equal(key.project_id, project.id);
    const grant = { person_id: colleague.id, role: "admin" };
    const added = await expecting<Membership>(201, call("POST", "/admin/v1/memberships", grant));
    assert.equal(added.project_id, project.id);

    // The colleague is a member, and an administrator in requests that name the project.
    await refusal(403, server.asPerson(colleague)("POST", "/admin/v1/keys", { name: "k" }));
    const inProject = server.asPerson(colleague, { project: "bot" });
    await expecting(201, inProject("POST", "/admin/v1/keys", { name: "k" }));
    await refusal(404, inProject("GET", `/admin/v1/keys/${bound.id}`));
    await refusal(403, inProject("POST", "/admin/v1/roles", { name: "r", permissions: ["inference"] }));
    const people = await expecting<{ data: Person[] }>(200, inProject("GET", "/admin/v1/people"));
    assert.deepEqual(new Set(people.data.map(({ id }) => id)), new Set([lead.id, colleague.id]));
    assert.ok(people.data.every(({ memberships }) => memberships.every((each) => each.project_id === project.id)));
    assert.equal(
      (await refusal(403, server.asPerson(lead, { account: "org-0" })("GET", "/admin/v1/keys"))).param,
      "x-account",
    );
    await expecting(200, server.asPerson(lead, { account: name })("GET", `/admin/v1/organizations/${organization.id}`));
  });

  test("a personal key has no more permissions than the person, and ends with the person", async () => {
    const { add, asOwner, admin } = await server.newOrganization();
    const member = await add("member");
    const call = server.asPerson(member);
    const key = await expecting<KeyWithSecret>(201, call("POST", "/authentication/keys", { name: "laptop" }));
    assert.deepEqual([key.person_id, key.permissions], [member.id, ["inference", "telemetry_write", "telemetry_read"]]);
    const identity = await expecting<{ person_id: string; permissions: string[] }>(
      200,
      server.as(key.secret)("POST", "/authentication/validate"),
    );
    assert.equal(identity.person_id, member.id);
    assert.deepEqual(identity.permissions, [
      "inference",
      "models_read",
      "telemetry_write",
      "telemetry_read",
      "content_read",
      "spend_read",
    ]);
    const more = { name: "k", permissions: ["admin"] };
    assert.match((await refusal(403, call("POST", "/authentication/keys", more))).message, /permission "admin"/);
    await refusal(403, server.as(key.secret)("POST", "/authentication/keys", { name: "copy" }));
    await refusal(403, asOwner("POST", `/admin/v1/keys/${key.id}/rotate`, {}));
    await refusal(404, asOwner("POST", `/authentication/keys/${key.id}/revoke`));
    await refusal(403, admin("GET", "/authentication/keys"));

    // The key follows the person's role at once.
    const membership = `/admin/v1/memberships/${membershipOf(member).id}`;
    await expecting(200, asOwner("PATCH", membership, { role: "viewer" }));
    const less = await expecting<{ permissions: string[] }>(
      200,
      server.as(key.secret)("POST", "/authentication/validate"),
    );
    assert.deepEqual(less.permissions, ["models_read", "telemetry_read", "spend_read"]);
    await expecting(200, asOwner("PATCH", membership, { role: "member" }));
    const { data } = await expecting<{ data: Key[] }>(200, call("GET", "/authentication/keys"));
    assert.deepEqual(
      data.map(({ id }) => id),
      [key.id],
    );

    await expecting(200, asOwner("DELETE", membership));
    await refusal(401, server.as(key.secret)("POST", "/authentication/validate"));
    // Who has left is no longer known there, and the key does not come back with a new role.
    await refusal(404, asOwner("POST", "/admin/v1/memberships", { person_id: member.id, role: "member" }));
    await expecting(201, asOwner("POST", "/admin/v1/people", { email: member.email, role: "member" }));
    assert.match((await refusal(401, server.as(key.secret)("POST", "/authentication/validate"))).message, /revoked/);

    const second = await expecting<KeyWithSecret>(201, call("POST", "/authentication/keys", { name: "second" }));
    await expecting(200, asOwner("PATCH", `/admin/v1/people/${member.id}`, { disabled: true }));
    await refusal(401, server.as(second.secret)("POST", "/authentication/validate"));
    await refusal(401, call("GET", "/authentication/keys"));
    await expecting(200, asOwner("PATCH", `/admin/v1/people/${member.id}`, { disabled: false }));
    assert.match((await refusal(401, server.as(second.secret)("POST", "/authentication/validate"))).message, /revoked/);
  });

  test("a key with a role has what the role grants to keys", async () => {
    const { asOwner, admin, project } = await server.newOrganization();
    const create = (body: object) => admin("POST", "/admin/v1/keys", { name: "k", ...body });
    const key = await expecting<KeyWithSecret>(201, create({ role: "member", project_id: project.id }));
    assert.deepEqual([key.role, key.permissions], ["member", []]);
    const identity = await expecting<{ role: string; permissions: string[] }>(
      200,
      server.as(key.secret)("POST", "/authentication/validate"),
    );
    assert.equal(identity.role, "member");
    assert.ok(identity.permissions.includes("inference") && !identity.permissions.includes("personal_keys"));
    await refusal(403, server.as(key.secret)("GET", "/authentication/keys"));
    assert.equal((await refusal(400, create({ role: "owner" }))).param, "role");
    assert.equal((await refusal(400, create({ role: "none" }))).param, "role");
    assert.equal((await refusal(400, create({ role: "viewer", permissions: ["inference"] }))).param, "role");
    assert.equal((await refusal(400, create({ role: "admin", project_id: project.id }))).param, "project_id");
    const viewer = await expecting<KeyWithSecret>(201, create({ role: "viewer" }));
    assert.match(
      (await refusal(403, server.as(viewer.secret)("POST", "/admin/v1/projects", { name: "p" }))).message,
      /with the role "viewer" does not have the permission "admin"/,
    );
    const rotated = await expecting<KeyWithSecret>(201, asOwner("POST", `/admin/v1/keys/${viewer.id}/rotate`, {}));
    assert.equal(rotated.role, "viewer");
  });

  test("one organization's people, memberships and roles do not exist for another", async () => {
    const acme = await server.newOrganization();
    const globex = await server.newOrganization();
    const role = await expecting<Role>(
      201,
      acme.asOwner("POST", "/admin/v1/roles", { name: "own", permissions: ["inference"] }),
    );
    const person = await acme.add("member");
    const own = await expecting<KeyWithSecret>(
      201,
      server.asPerson(person)("POST", "/authentication/keys", { name: "k" }),
    );
    const parts: Record<string, string> = {
      person_id: person.id,
      membership_id: membershipOf(person).id,
      role_id: role.id,
      key_id: own.id,
    };
    for (const { example, id, method, path } of [...peopleOperations, ...personalKeyOperations]) {
      if (!path.includes("{")) continue;
      const concrete = path.replace(/\{(\w+)\}/, (_, name: string) => parts[name]!);
      for (const call of [globex.admin, globex.asOwner]) {
        const answer = await call(method, concrete, example);
        assert.ok([403, 404].includes(answer.status), `${id}: ${answer.status}`);
        if (call === globex.asOwner) assert.equal(answer.status, 404, id);
      }
    }
    for (const [path, body] of [
      ["/admin/v1/people", { email: "a@b.example", role: "viewer", project_id: acme.project.id }],
      ["/admin/v1/memberships", { person_id: person.id, role: "viewer" }],
    ] as const) {
      await refusal(404, globex.asOwner("POST", path, body));
    }
    for (const path of ["people", "memberships", "roles"]) {
      await refusal(403, globex.asOwner("GET", `/admin/v1/${path}?organization_id=${acme.organization.id}`));
      const { data } = await expecting<{ data: { organization_id?: string | null; id: string }[] }>(
        200,
        globex.asOwner("GET", `/admin/v1/${path}`),
      );
      assert.ok(data.length > 0 && data.every((each) => each.organization_id !== acme.organization.id));
      assert.ok(data.every(({ id }) => !Object.values(parts).includes(id)));
    }
    assert.equal(
      (await refusal(400, globex.asOwner("POST", "/admin/v1/people", { email: "c@d.example", role: "own" }))).param,
      "role",
    );

    // A person of both organizations is administered by operators; each organization sees its own memberships.
    const shared = await expecting<Person>(
      201,
      globex.asOwner("POST", "/admin/v1/people", { email: person.email, role: "viewer" }),
    );
    assert.deepEqual(
      [shared.id, shared.memberships.map((each) => each.organization_id)],
      [person.id, [globex.organization.id]],
    );
    await refusal(403, globex.asOwner("PATCH", `/admin/v1/people/${person.id}`, { disabled: true }));
    await refusal(403, acme.asOwner("PATCH", `/admin/v1/people/${person.id}`, { disabled: true }));
    const inGlobex = server.asPerson(person, { account: globex.name });
    await refusal(403, inGlobex("POST", "/authentication/keys", { name: "k" }));
    await expecting(200, inGlobex("GET", "/admin/v1/projects"));
    await expecting(200, globex.asOwner("DELETE", `/admin/v1/memberships/${membershipOf(shared).id}`));
    await expecting(200, server.as(own.secret)("POST", "/authentication/validate"));
  });
});

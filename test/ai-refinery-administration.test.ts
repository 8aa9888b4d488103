/** The administration requests of the AI Refinery SDK (`airefinery-sdk`), unchanged, against the complete server. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { governanceOperations } from "../packages/server/src/api/governance.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs, python } from "./support/needs.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const run = promisify(execFile);
const skip = needs("python");

/** Prints what each step found. Importing the SDK takes seconds, so one process runs all of them. */
const program = `
import asyncio, json, sys
from air import AIRefinery, AsyncAIRefinery
from air.governance.exceptions import *
admin, operator, url, other = sys.argv[1:]
governance = AIRefinery(api_key=admin, base_url=url).governance
found = {}
def failure(work):
    try:
        work()
    except GovernanceError as error:
        return [type(error).__name__, error.status_code, str(error)]
me = governance.organizations.me()
found["organization"] = [me.name, me.status, governance.organizations.get(org_id=me.id).id == me.id]
found["organizations"] = [each.name for each in governance.organizations.list()]
ada = governance.users.create(email="ada@example.com", display_name="Ada", role="ORG_ADMIN")
found["created"] = [ada.email, ada.display_name, ada.status, ada.role, ada.org_id == me.id]
found["duplicate"] = failure(lambda: governance.users.create(email="ada@example.com"))
bob = governance.users.create(email="bob@example.com")
found["users"] = [[each.email, each.role] for each in governance.users.list()]
found["page"] = [each.email for each in governance.users.list(offset=1, limit=1)]
governance.memberships.update_role(user_id=bob.id, role="ORG_VIEWER")
found["role"] = governance.users.get(user_id=bob.id).role
found["memberships"] = [[each.user_id == bob.id, each.role] for each in governance.memberships.list()]
found["operator role"] = failure(lambda: governance.memberships.update_role(user_id=bob.id, role="SUPER_ADMIN"))
found["disabled"] = governance.users.update(user_id=bob.id, display_name="Bob B.", status="inactive").status
governance.users.update(user_id=bob.id, status="active")
governance.memberships.delete(user_id=bob.id)
found["removed"] = failure(lambda: governance.users.get(user_id=bob.id))
governance.users.delete(user_id=ada.id)
found["left"] = [each.email for each in governance.users.list()]
found["service"] = failure(governance.users.me)
found["projects"] = [[each.name, each.status, each.workspace_id == me.id] for each in governance.projects.list()]
found["project"] = governance.projects.get(project_id=governance.projects.list()[0].id).name
found["not ours"] = [
    failure(lambda: governance.organizations.create(name="mine")),
    failure(lambda: governance.organizations.get(org_id=other)),
    failure(lambda: governance.users.list(org_id=other)),
    failure(lambda: governance.memberships.create(user_id=ada.id, org_id=other)),
]
found["unsupported"] = [
    failure(lambda: governance.users.create(email="c@example.com", external_id="x")),
    failure(governance.workspaces.list),
    failure(governance.models.list),
    failure(lambda: governance.organizations.update(org_id=me.id, display_name="x")),
]
keys = governance.api_keys
created = keys.create(organization_id=me.id, label="night shift", lifespans=30)
found["key"] = [created.label, created.role, created.permission, created.organization_id == me.id]
found["own key"] = AIRefinery(api_key=created.api_key, base_url=url).governance.api_keys.validate()["organization_id"] == me.id
found["listed"] = [each.role for each in keys.list()]
inspected = keys.inspect(api_key=created.api_key)
found["inspected"] = [inspected.api_key_id == created.api_key_id, inspected.user_id]
found["of the operator"] = failure(lambda: keys.inspect(api_key=operator))
keys.revoke(api_key_id=created.api_key_id)
found["revoked"] = failure(AIRefinery(api_key=created.api_key, base_url=url).governance.api_keys.validate)[1]
root = AIRefinery(api_key=operator, base_url=url).governance
found["new organization"] = root.organizations.create(name="initech").name
found["all organizations"] = [each.name for each in root.organizations.list()]
async def main():
    client = AsyncAIRefinery(api_key=admin, base_url=url).governance
    carol = await client.users.create(email="carol@example.com", role="ORG_VIEWER")
    return [carol.role, [each.email for each in await client.users.list()]]
found["asynchronous"] = asyncio.run(main())
print(json.dumps(found))
`;

describe("the administration requests of the AI Refinery SDK", { skip }, () => {
  let server: RunningServer;

  async function created(path: string, body: object): Promise<Record<string, string>> {
    const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
    assert.equal(answer.status, 201, await answer.clone().text());
    return (await answer.json()) as Record<string, string>;
  }

  beforeTests(async (stack) => {
    server = stack.use(await startServer());
  });

  test("answer in its shapes", async () => {
    const { id } = await created("/organizations", { name: "acme" });
    const { id: other } = await created("/organizations", { name: "globex" });
    const { secret } = await created("/keys", {
      organization_id: id,
      name: "admin",
      permissions: ["admin", "inference", "telemetry_read", "telemetry_write"],
    });
    const env = { ...process.env, AIR_SILENT: "1" };
    const { stdout } = await run(python, ["-c", program, secret!, server.operatorKey, server.url, other!], { env });
    const found = JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, unknown>;
    const messages = (name: string): string => (found[name] as string[][]).map((each) => each.join(" ")).join("\n");
    const text = (name: string): string => (found[name] as string[]).join(" ");
    assert.match(text("duplicate"), /DuplicateResourceError 400 email is "ada@example.com"; the organization has this/);
    assert.match(text("operator role"), /400 role is "SUPER_ADMIN"; expected ORG_ADMIN, ORG_MEMBER, ORG_VIEWER/);
    assert.match(text("removed"), /ResourceNotFoundError 404 The person "pers_\w+" does not exist/);
    assert.match(text("service"), /404 .* service, which has no person/);
    assert.match(
      messages("not ours"),
      /PermissionDeniedError 403 Only an operator.*\nResourceNotFoundError 404.*\nPermissionDeniedError 403.*\nPermissionDeniedError 403/,
    );
    assert.match(
      messages("unsupported"),
      /external_id is not supported.*\n.*404.*no workspaces.*\n.*404.*GET \/v1\/models.*\n.*405.*Operators change/,
    );
    assert.match(text("of the operator"), /404 The organization has no such API key/);
    for (const name of [
      "duplicate",
      "operator role",
      "removed",
      "service",
      "not ours",
      "unsupported",
      "of the operator",
    ])
      delete found[name];
    assert.deepEqual(found, {
      organization: ["acme", "active", true],
      organizations: ["acme"],
      created: ["ada@example.com", "Ada", "active", "ORG_ADMIN", true],
      users: [
        ["ada@example.com", "ORG_ADMIN"],
        ["bob@example.com", "ORG_MEMBER"],
      ],
      page: ["bob@example.com"],
      role: "ORG_VIEWER",
      memberships: [
        [false, "ORG_ADMIN"],
        [true, "ORG_VIEWER"],
      ],
      disabled: "inactive",
      left: [],
      projects: [["default", "active", true]],
      project: "default",
      key: ["night shift", "ORG_MEMBER", "READ_WRITE", true],
      "own key": true,
      listed: ["ORG_ADMIN"],
      inspected: [true, null],
      revoked: 401,
      "new organization": "initech",
      "all organizations": ["default", "acme", "globex", "initech"],
      asynchronous: ["ORG_VIEWER", ["carol@example.com"]],
    });
  });

  test("reach no object of another organization", async () => {
    const acme = await created("/organizations", { name: "acme two" });
    const globex = await created("/organizations", { name: "globex two" });
    const person = await created("/people", { organization_id: acme["id"], email: "dan@example.com", role: "member" });
    const project = await created("/projects", { organization_id: acme["id"], name: "bot" });
    const key = await created("/keys", { organization_id: globex["id"], name: "admin", permissions: ["admin"] });
    const theirs: Record<string, string> = { user_id: person["id"]!, project_id: project["id"]!, org_id: acme["id"]! };
    const bodies: Record<string, object> = {
      sdkUpdateUser: { status: "inactive" },
      sdkCreateMembership: { user_id: person["id"] },
      sdkUpdateMembershipRole: { user_id: person["id"], role: "ORG_VIEWER" },
      sdkDeleteMembership: { user_id: person["id"] },
    };
    for (const { id, method, path } of governanceOperations) {
      if (!path.includes("{") && bodies[id] === undefined) continue;
      const response = await fetch(
        `${server.url}${path.replace(/\{(\w+)\}/, (_, name: string) => theirs[name] ?? "none")}`,
        {
          method,
          headers: { authorization: `Bearer ${key["secret"]}`, "content-type": "application/json" },
          ...(bodies[id] === undefined ? {} : { body: JSON.stringify(bodies[id]) }),
        },
      );
      assert.equal(response.status, 404, `${id}: ${await response.text()}`);
    }
  });
});

/** A server of the admin API whose callers are operators, keys and people, with an organization for every test. */
import assert from "node:assert/strict";
import type { KeyWithSecret } from "../../src/api/keys.ts";
import type { Organization, Project } from "../../src/api/admin.ts";
import type { Membership, Person } from "../../src/api/people.ts";
import { AppError, type ErrorBody } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { keyOfPerson } from "../../src/person.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createKeyCheck } from "../../src/tenancy/key-check.ts";
import { loadPerson } from "../../src/tenancy/load-person.ts";
import { recordedUsage } from "../../src/tenancy/recorded-usage.ts";
import { tenancyRoutes } from "../../src/tenancy/routes.ts";
import { startTestHttp } from "../support/test-http.ts";

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Fails unless the answer has this status, and returns its body. */
export async function expecting<Body>(status: number, call: Promise<Answer>): Promise<Body> {
  const answer = await call;
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body as Body;
}

export async function refusal(status: number, call: Promise<Answer>): Promise<ErrorBody["error"]> {
  return (await expecting<ErrorBody>(status, call)).error;
}

/** What stands in for a sign-in: the identifier of a person, and the organization and the project that the request names. */
interface PersonCredentials {
  readonly person: string;
  readonly account?: string;
  readonly project?: string;
}

export async function startPeopleServer(control: ControlDatabase) {
  const first = await bootstrap(control);
  const keys = createKeyCheck({ control, logger: silentLogger });
  const checkPerson = async ({ account, person, project }: PersonCredentials) => {
    const known = await control.read((database) => loadPerson(database, person));
    if (known === undefined || known.refusal !== undefined) {
      throw new AppError("invalid_api_key", known?.refusal ?? "The person does not exist.");
    }
    return keyOfPerson(known.person, { account, project });
  };
  const http = await startTestHttp({
    routes: tenancyRoutes(control, recordedUsage(control)),
    checkKey: (secret) =>
      secret.startsWith("{") ? checkPerson(JSON.parse(secret) as PersonCredentials) : keys.check(secret),
  });

  const as =
    (secret: string, project?: string): Call =>
    async (method, path, body) => {
      const response = await fetch(`${http.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${secret}`,
          "content-type": "application/json",
          ...(project === undefined ? {} : { "x-project": project }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    };
  const operator = as(first!.operatorKey!);
  const asPerson = ({ id }: { readonly id: string }, at: Omit<PersonCredentials, "person"> = {}): Call =>
    as(JSON.stringify({ person: id, ...at }), at.project);
  let organizations = 0;

  /** A new organization with a project, its administrator's key, and an owner. */
  async function newOrganization() {
    const name = `org-${++organizations}`;
    const organization = await expecting<Organization>(201, operator("POST", "/admin/v1/organizations", { name }));
    const key = await expecting<KeyWithSecret>(
      201,
      operator("POST", "/admin/v1/keys", { organization_id: name, name: "admin", permissions: ["admin"] }),
    );
    const admin = as(key.secret);
    const project = await expecting<Project>(201, admin("POST", "/admin/v1/projects", { name: "bot" }));
    const add = (role: string, rest: object = {}) =>
      expecting<Person>(
        201,
        operator("POST", "/admin/v1/people", {
          organization_id: name,
          email: `${role}-${Math.random().toString(36).slice(2)}@${name}.example`,
          role,
          ...rest,
        }),
      );
    const owner = await add("owner");
    return { name, organization, key, admin, project, add, owner, asOwner: asPerson(owner) };
  }

  return {
    as,
    asPerson,
    operator,
    newOrganization,
    async close() {
      await http.close();
      await keys.close();
    },
  };
}

export function membershipOf(person: Person): Membership {
  return person.memberships[0]!;
}

/** A server with people who have accounts, in two organizations, for tests of passwords and one-time codes. */
import assert from "node:assert/strict";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { startSessionServer, TestBrowser } from "../tenancy/session-server.ts";

export const goodPassword = "seven quiet lanterns";

export async function startAccountServer(
  control: ControlDatabase,
  options: { accounts?: boolean; publicUrl?: string } = {},
) {
  const operatorKey = (await bootstrap(control))!.operatorKey!;
  for (const name of ["acme", "globex"]) await createOrganization(control, { name });
  const clock = { ms: Date.now() };
  const server = await startSessionServer(control, {
    ...options,
    passwordCost: { N: 2 ** 8, r: 8, p: 1 },
    now: () => clock.ms,
    settings: { trusted_proxies: ["127.0.0.1"] },
  });
  let people = 0;

  async function admin(method: string, path: string, body?: unknown, key = operatorKey) {
    const response = await fetch(`${server.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }

  async function add(organization = "acme", role = "viewer") {
    const email = `person-${++people}@${organization}.example`;
    const { body, status } = await admin("POST", "/people", { email, organization_id: organization, role });
    assert.equal(status, 201);
    return { id: body["id"]!, email };
  }

  async function link(id: string): Promise<string> {
    const { body, status } = await admin("POST", `/people/${id}/account_link`);
    assert.equal(status, 201, JSON.stringify(body));
    assert.equal(new URLSearchParams(new URL(body["url"]!).hash.slice(1)).get("link"), body["token"]);
    return body["token"]!;
  }

  /** A browser in a network of its own. */
  let networks = 0;
  function browser(address = `203.0.${Math.floor(++networks / 250)}.${(networks % 250) + 1}`) {
    return new TestBrowser(server.url, { "x-forwarded-for": address });
  }

  /** A person with a password, and a browser that is signed in. */
  async function join(organization?: string, role?: string) {
    const person = await add(organization, role);
    const own = browser();
    const answer = await own.request("POST", "/authentication/account_links", {
      body: { token: await link(person.id), password: goodPassword },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return { ...person, browser: own };
  }

  const signIn = (by: TestBrowser, email: string, rest: { password?: string; code?: string } = {}) =>
    by.request("POST", "/authentication/account_sessions", { body: { email, password: goodPassword, ...rest } });

  return { ...server, operatorKey, clock, admin, add, link, browser, join, signIn };
}

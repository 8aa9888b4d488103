/** A person signs in to the console in a real browser with a real identity provider, is promoted, and loses the session. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clientId, clientSecret, TestIdentityProvider } from "../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";
import { assertAccessible, launchBrowser, openConsole, type Browser, type Page } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";

describe("a person in the console", { skip: needs("chromium") }, () => {
  let idp: TestIdentityProvider;
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    idp = stack.use(await TestIdentityProvider.start());
    const acme = {
      label: "Acme",
      issuer: idp.issuer,
      client_id: clientId,
      client_secret: clientSecret,
      scopes: ["email", "profile", "groups"],
      rules: [{ values: ["dev"], organization: "default", role: "viewer" }],
    };
    const down = { label: "Broken", issuer: "http://127.0.0.1:1", client_id: "none" };
    const yaml = JSON.stringify({ sign_in: { providers: { acme, down } } });
    server = stack.use(await startConsoleServer(yaml, { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  const views = async (page: Page): Promise<string> => {
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    return (await page.getByRole("navigation").getByRole("listitem").allInnerTexts()).join(" ");
  };

  test("signs in as a viewer, may not administer, is promoted, and is signed out by an administrator", async () => {
    idp.person = { sub: "alice", email: "alice@example.com", email_verified: true, name: "Alice", groups: ["dev"] };
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    await page.goto(`${server.url}/console/`);
    await page.getByText("It is unavailable at the moment").waitFor();
    await assertAccessible(page);
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.waitForURL(`${server.url}/console/**`);
    assert.ok(!(await views(page)).includes("Playground"));
    const refused = await page.evaluate<number>(
      "fetch('../admin/v1/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then((answer) => answer.status)",
    );
    assert.equal(refused, 403);
    const { person } = await page.evaluate<{ person: { id: string } }>(
      "fetch('../authentication/session').then((answer) => answer.json())",
    );
    await administer(server, "memberships", { person_id: person.id, organization_id: "default", role: "admin" });
    await page.goto(`${server.url}/console/preferences`);
    assert.ok((await views(page)).includes("Playground"));
    await page.getByText("Browser (this one)").waitFor();
    const list = await fetch(`${server.url}/admin/v1/sessions?person_id=${person.id}`, {
      headers: { authorization: `Bearer ${server.operatorKey}` },
    });
    const { data } = (await list.json()) as { data: { id: string }[] };
    assert.equal(data.length, 1);
    await fetch(`${server.url}/admin/v1/sessions/${data[0]!.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${server.operatorKey}` },
    });
    await page.reload();
    await page.getByRole("link", { name: "Sign in with Acme" }).waitFor();
    assert.deepEqual(
      console.problems.filter((problem) => !problem.includes(idp.issuer)),
      [],
    );
  });

  test("signs a terminal in, after signing in on the way", async () => {
    idp.person = { sub: "bob", email: "bob@example.com", email_verified: true, name: "Bob", groups: ["dev"] };
    const begun = await fetch(`${server.url}/authentication/device_authorization`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "laptop <b>" }),
    });
    const codes = (await begun.json()) as { device_code: string; verification_uri_complete: string };
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    await page.goto(codes.verification_uri_complete);
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.getByText("laptop <b>").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("The terminal is signed in").waitFor();
    const tokens = await fetch(`${server.url}/authentication/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: codes.device_code,
      }),
    });
    assert.equal(tokens.status, 200);
  });
});

/** Signing in to the console in a real browser: links, keys, permissions, the end of sessions, other origins. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openControlDatabase } from "../../server/src/tenancy/control-database.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

interface CreatedKey {
  readonly id: string;
  readonly secret: string;
}

describe("signing in to the console", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("server:\n  max_failed_keys_per_minute: 1000\n", { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  const newKey = (fields: object): Promise<CreatedKey> =>
    administer<CreatedKey>(server, "keys", { organization_id: "default", name: "a key", ...fields });

  async function newLink(body: object = {}): Promise<string> {
    const response = await server.call("/authentication/sign_in_codes", body);
    return ((await response.json()) as { url: string }).url;
  }

  async function enterKeys(page: Page, key: string, operatorKey = ""): Promise<void> {
    await page.getByLabel("API key").fill(key);
    await page.getByLabel("Operator key").fill(operatorKey);
    await page.getByRole("button", { name: "Sign in" }).click();
  }

  const navigation = async (page: Page): Promise<string[]> => {
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    const links = await page.getByRole("navigation").getByRole("listitem").allInnerTexts();
    return links.map((text) => text.trim());
  };

  test("a link signs in with both keys, and its code stays neither in the address nor in the history", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page, context } = console;
    const link = await newLink({ operator_key: server.operatorKey });
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    await page.goto(link);
    await page.waitForURL("**/console/overview");
    assert.ok((await navigation(page)).includes("Administration"));
    const code = new URL(link).hash.slice("#code=".length);
    assert.ok(code.length > 20 && !sent.some((url) => url.includes(code)));
    assert.equal(await page.evaluate<number>("history.length"), 2, "about:blank and the console");
    await page.goBack();
    assert.equal(page.url(), "about:blank");
    const cookies = await context.cookies();
    assert.deepEqual(
      cookies.map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path })),
      [{ httpOnly: true, sameSite: "Strict", path: "/" }],
    );
    assert.deepEqual(console.problems, []);
  });

  test("a used link and an expired one say so, unless someone is signed in already", async () => {
    const link = await newLink();
    await using first = await openConsole(browser, { url: server.url });
    await first.page.goto(link);
    await first.page.waitForURL("**/console/overview");
    await first.page.goto("about:blank");
    await first.page.goto(link);
    await first.page.waitForURL("**/console/overview");

    const expired = await newLink();
    const control = await openControlDatabase({ dataDirectory: server.dataDirectory });
    await control.write((transaction) => transaction.updateTable("sign_in_codes").set({ expires_at: 1 }).execute());
    await control.close();
    for (const each of [link, expired]) {
      await using second = await openConsole(browser, { url: server.url });
      await second.page.goto(each);
      await second.page.getByText("This sign-in code is wrong, was already used, or has expired.").waitFor();
      assert.equal(new URL(second.page.url()).hash, "");
      // A new link in the same tab.
      await second.page.goto(await newLink());
      await second.page.waitForURL("**/console/overview");
      assert.deepEqual(second.problems, []);
    }
  });

  test("keys sign in, and lead to the address that was asked for", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    await page.goto(`${server.url}/console/logs?search=fathom&from=now-3h`);
    await enterKeys(page, server.key, server.operatorKey);
    await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor();
    assert.match(page.url(), /\/console\/logs\?search=fathom&from=now-3h/);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("wrong keys are reported at their field", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    await page.goto(`${server.url}/console/`);
    await enterKeys(page, "sk-wrong");
    await page.getByText("Incorrect API key").waitFor();
    assert.equal(await page.getByLabel("API key").getAttribute("aria-invalid"), "true");
    await enterKeys(page, server.key, "sk-wrong");
    await page.getByText("Incorrect API key").waitFor();
    assert.equal(await page.getByLabel("Operator key").getAttribute("aria-invalid"), "true");
    assert.equal(await page.getByLabel("API key").getAttribute("aria-invalid"), "false");
    await enterKeys(page, server.key, server.key);
    await page.getByText('does not have the permission "admin"').waitFor();
    await enterKeys(page, server.key);
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("too many attempts and an unreachable server are reported", async () => {
    await using throttled = await startConsoleServer("server:\n  max_failed_keys_per_minute: 1\n", {
      telemetry: false,
    });
    await using console = await openConsole(browser, { url: throttled.url });
    const { page, context } = console;
    await page.goto(`${throttled.url}/console/`);
    await enterKeys(page, "sk-wrong");
    await page.getByText("Incorrect API key").waitFor();
    await enterKeys(page, "sk-wrong");
    await page.getByText(/More than 1 requests per minute.* Try again in \d+ s\./).waitFor();
    await context.setOffline(true);
    await enterKeys(page, throttled.key);
    await page.getByText("cannot be reached. Check that it is running").waitFor();
    await context.setOffline(false);
    await enterKeys(page, throttled.key);
    await page.getByRole("navigation", { name: "Views" }).waitFor();
  });

  test("revoking the key ends the session, and signing in again leads back to the same view", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    const { id, secret } = await newKey({});
    await page.goto(`${server.url}/console/models?from=now-3h`);
    await enterKeys(page, secret);
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
    await administer(server, `keys/${id}/revoke`, {});
    await page.reload();
    await page.getByText("Your session has ended. This API key has been revoked.").waitFor();
    await enterKeys(page, server.key);
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
    assert.match(page.url(), /\/console\/models\?from=now-3h/);
    assert.deepEqual(console.problems, []);
  });

  test("a session that ends while the console is open shows the reason with the next request", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    const { id, secret } = await newKey({});
    await page.goto(`${server.url}/console/preferences`);
    await enterKeys(page, secret);
    await page.getByRole("heading", { level: 1, name: "Preferences" }).waitFor();
    await administer(server, `keys/${id}/revoke`, {});
    // Its view asks the server.
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByText("Your session has ended. This API key has been revoked.").waitFor();
    await enterKeys(page, server.key);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("signing out ends the session in every tab", async () => {
    await using console = await openConsole(browser, server);
    const { page, context } = console;
    await console.open("models");
    const other = await context.newPage();
    await other.goto(`${server.url}/console/preferences`);
    await other.getByRole("heading", { level: 1, name: "Preferences" }).waitFor();
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByText("first key").last().waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Sounding" }).waitFor();
    assert.equal(new URL(page.url()).pathname, "/console/");
    assert.deepEqual(await context.cookies(), []);
    await other.getByRole("link", { name: "Overview" }).click();
    await other.getByText("You have been signed out.").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("permissions decide which views there are, and a direct link says what is missing", async () => {
    const cases = [
      {
        permissions: ["telemetry_read"],
        views: ["Overview", "Traces", "Conversations", "Logs", "Metrics", "Spend", "Preferences"],
        missing: ["playground/chat", 'Playground needs the permission "inference"'],
      },
      {
        permissions: ["inference"],
        views: ["Playground", "Models", "Preferences"],
        missing: ["traces", 'Traces needs the permission "telemetry_read"'],
      },
      {
        permissions: ["admin"],
        operator: true,
        views: ["Spend", "Models", "Administration", "Preferences"],
        missing: ["logs", 'Logs needs the permission "telemetry_read"'],
      },
    ] as const;
    for (const { views, missing, ...fields } of cases) {
      const { secret } = await newKey(fields);
      await using console = await openConsole(browser, { url: server.url, key: secret });
      const { page } = console;
      await console.open("");
      assert.deepEqual(await navigation(page), [...views]);
      const [address, message] = missing;
      await console.open(address);
      await page.getByText(message).waitFor();
      assert.deepEqual(console.problems, []);
    }
  });

  test("two tenants have two sessions, and a bound key shows its project", async () => {
    await administer(server, "organizations", { name: "acme" });
    const project = await administer<{ id: string }>(server, "projects", { organization_id: "acme", name: "support" });
    const { secret } = await newKey({
      organization_id: "acme",
      project_id: project.id,
      permissions: ["telemetry_read", "inference"],
    });
    await using own = await openConsole(browser, server);
    await using acme = await openConsole(browser, { url: server.url, key: secret });
    for (const [{ page, open }, organization, project_] of [
      [own, "default", "all"],
      [acme, "acme", "support"],
    ] as const) {
      await open("preferences");
      await page.getByRole("button", { name: "Account" }).click();
      const facts = page.getByRole("definition");
      assert.deepEqual((await facts.allInnerTexts()).slice(0, 2), [organization, project_]);
    }
    const seen = await acme.page.evaluate<{ status: number; code: string }>(
      `fetch("/v1/models", { headers: { "x-project": "other" } }).then(async (answer) => ({ status: answer.status, code: (await answer.json()).error.code }))`,
    );
    assert.deepEqual(seen, { status: 403, code: "project_mismatch" });
  });

  test("pages of another port of the same host cannot use the session", async () => {
    await using console = await openConsole(browser, server);
    const { page, context } = console;
    await console.open("preferences");
    const evil = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>evil</p>"));
    evil.listen(0, "127.0.0.1");
    await once(evil, "listening");
    try {
      await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
      const statuses: number[] = [];
      context.on("response", (response) => statuses.push(response.status()));
      const target = `${server.url}/authentication/session`;
      const attempt = `(method) => fetch(${JSON.stringify(target)}, { method, mode: "no-cors", credentials: "include" }).then(() => {}, () => {})`;
      await page.evaluate(`Promise.all(["GET", "POST"].map(${attempt}))`);
      // The cookie is sent, since other ports are the same site.
      assert.deepEqual(
        statuses.toSorted((left, right) => left - right),
        [403, 405],
      );
      await page.evaluate(
        `document.body.innerHTML = '<form method="post" action="${server.url}/authentication/sign_in_codes"></form>'; document.forms[0].submit()`,
      );
      await page.getByText("cross_origin").waitFor();
    } finally {
      evil.closeAllConnections();
      evil.close();
    }
    await console.open("preferences");
    await page.getByRole("heading", { level: 1, name: "Preferences" }).waitFor();
  });

  for (const theme of ["light", "dark"] as const) {
    test(`the page is accessible in the ${theme} theme, and fits a small screen`, async () => {
      await using console = await openConsole(browser, {
        url: server.url,
        theme,
        viewport: { width: 390, height: 800 },
      });
      const { page } = console;
      await console.open("");
      assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
      await assertAccessible(page);
      await enterKeys(page, "sk-wrong");
      await page.getByText("Incorrect API key").waitFor();
      await assertAccessible(page);
      assert.deepEqual(console.problems, []);
    });
  }
});

/** In a real browser, an operator creates an account, invites a person, and both sign in with passwords and one-time codes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { totpCode, totpStep } from "../../server/src/sign-in/totp.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";
import { assertAccessible, launchBrowser, openConsole, type Browser, type Page } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";

const password = "seven quiet lanterns";

describe("accounts in the console", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("", { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  async function enter(page: Page, email: string): Promise<void> {
    await page.getByLabel("Mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in with the password" }).click();
  }

  test("the link of the first start leads to an owner's account, who invites others and requires codes", async () => {
    const response = await server.call("/authentication/sign_in_codes", { operator_key: server.operatorKey });
    const { url } = (await response.json()) as { url: string };
    await using console = await openConsole(browser, { url: server.url });
    const { page } = console;
    await page.goto(url);
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByRole("link", { name: "Create your account" }).click();
    await page.getByRole("button", { name: "Create your account" }).click();
    await page.getByLabel("Mail address").fill("ada@example.com");
    await page.getByLabel("New password").fill("too short");
    await page.getByRole("button", { name: "Create and sign in" }).click();
    await page.getByText("The password has 9 characters").waitFor();
    await page.getByLabel("New password").fill(password);
    await page.getByRole("button", { name: "Create and sign in" }).click();
    await page.getByText("Not required").waitFor();
    await assertAccessible(page);

    await page.getByRole("button", { name: "Require one-time codes" }).click();
    const shown = await page.locator("dialog code").innerText();
    const secret = shown.replaceAll(" ", "");
    await page.getByLabel("Code of the app").fill(totpCode(secret, totpStep(Date.now() / 1000)));
    await page.getByLabel("Current password").fill(password);
    await assertAccessible(page);
    await page.getByRole("button", { name: "Require", exact: true }).click();
    await page.getByText("10 recovery codes are left").waitFor();
    const [recoveryCode] = (await page.locator(".administration-secret code").innerText()).split(" ");

    const add = { email: "bob@example.com", role: "viewer" };
    const { id } = await page.evaluate<{ id: string }>(
      `fetch("../admin/v1/people", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify(add))} }).then((answer) => answer.json())`,
    );
    await page.goto(`${server.url}/console/administration/people/${id}`);
    await page.getByRole("button", { name: "Link to choose a password" }).click();
    const link = await page.locator("dialog code").innerText();

    await using invited = await openConsole(browser, { url: server.url });
    await invited.page.goto(link);
    assert.equal(await invited.page.getByLabel("Mail address").inputValue(), "bob@example.com");
    assert.ok(!invited.page.url().includes("link="), "the token stays neither in the address nor in the history");
    await assertAccessible(invited.page);
    const field = invited.page.getByLabel("Password", { exact: true });
    await field.fill(password);
    assert.equal(await field.getAttribute("type"), "password");
    await invited.page.getByLabel("Show it").check();
    assert.equal(await field.getAttribute("type"), "text");
    await assertAccessible(invited.page);
    await invited.page.getByLabel("Show it").uncheck();
    assert.deepEqual([await field.getAttribute("type"), await field.inputValue()], ["password", password]);
    await invited.page.getByRole("button", { name: "Save and sign in" }).click();
    await invited.page.getByRole("navigation", { name: "Views" }).waitFor();

    await using again = await openConsole(browser, { url: server.url });
    await again.page.goto(`${server.url}/console/`);
    await enter(again.page, "ada@example.com");
    await again.page.getByLabel("One-time code").fill(recoveryCode!);
    await assertAccessible(again.page);
    await again.page.getByRole("button", { name: "Sign in with the password" }).click();
    await again.page.getByRole("navigation", { name: "Views" }).waitFor();
  });
});

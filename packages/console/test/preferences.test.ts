/** The view "Preferences" in a real browser: theme, times and density outlive a reload; who is signed in; the server. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

describe("the view Preferences", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("", { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  const style = (property: string) =>
    `getComputedStyle(document.documentElement).getPropertyValue("${property}").trim()`;

  test("changes theme and density at once, and keeps them", async () => {
    await using console = await openConsole(browser, { ...server, theme: "light" });
    const { page } = console;
    await console.open("preferences");
    const background = "getComputedStyle(document.body).backgroundColor";
    const light = await page.evaluate<string>(background);
    await page.getByRole("radio", { name: "Dark" }).check();
    await page.getByRole("radio", { name: "Compact" }).check();
    const dark = await page.evaluate<string>(background);
    assert.notEqual(dark, light);
    assert.equal(await page.evaluate<string>(style("--row-height")), "28px");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Preferences" }).waitFor();
    assert.equal(await page.evaluate<string>(background), dark);
    assert.equal(await page.getByRole("radio", { name: "Dark" }).isChecked(), true);
    assert.equal(await page.getByRole("radio", { name: "Compact" }).isChecked(), true);
    assert.deepEqual(console.problems, []);
  });

  test("shows times in UTC, and moves between choices with the arrow keys", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("preferences");
    await page.getByRole("radio", { name: "Local time" }).focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.getByRole("radio", { name: "UTC" }).isChecked(), true);
    await page.reload();
    assert.equal(await page.getByRole("radio", { name: "UTC" }).isChecked(), true);
    assert.deepEqual(console.problems, []);
  });

  test("shows whose key is signed in, what it may do, and the version of the server", async () => {
    const permissions = ["inference"];
    const key = await administer<{ secret: string }>(server, "keys", { name: "reader", permissions });
    await using console = await openConsole(browser, { url: server.url, key: key.secret });
    const { page } = console;
    await console.open("preferences");
    await page.getByText("reader", { exact: true }).first().waitFor();
    const rows = await page.getByRole("list", { name: "Permissions" }).getByRole("listitem").allInnerTexts();
    const allowed = rows.filter((row) => row.includes(": yes")).map((row) => row.trim().split(/\s+/).at(-1));
    assert.deepEqual(allowed, ["inference", "models_read"]);
    await page.getByText("0.0.0-test").waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      await using console = await openConsole(browser, { ...server, theme, viewport: { width: 390, height: 800 } });
      const { page } = console;
      await console.open("preferences");
      await page.getByText("0.0.0-test").waitFor();
      await assertAccessible(page);
      assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
      assert.deepEqual(console.problems, []);
    });
  }
});

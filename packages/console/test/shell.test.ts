/** The frame of the console in a real browser: navigation, addresses, shortcuts, the palette, both themes, small screens. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

describe("the console's frame", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("", { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  test("is one page at every address, with a strict content security policy", async () => {
    for (const path of ["/console/", "/console/traces/4bf92f3577b34da6a3ce929d0e0e4736"]) {
      const response = await fetch(server.url + path);
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-type") ?? "", /text\/html/);
      const policy = response.headers.get("content-security-policy") ?? "";
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /unsafe/);
    }
    for (const path of ["/", "/console"]) {
      const moved = await fetch(server.url + path, { redirect: "manual" });
      assert.equal(moved.status, 307);
      assert.equal(new URL(moved.headers.get("location")!, moved.url).pathname, "/console/");
    }
    assert.equal((await fetch(`${server.url}/console/assets/none.js`)).status, 404);
  });

  test("shows the views that the key may use, at addresses that work after a reload", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("");
    await page.waitForURL("**/console/overview");
    await page.getByRole("link", { name: "Models" }).click();
    await page.waitForURL("**/console/models");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Administration" }).count(), 0);
    await console.open("administration");
    await page.getByText('Administration needs the permission "configuration_read"').waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("switches views with the keyboard, but not while someone types", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview");
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await page.waitForURL("**/console/logs**");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Views, models" }).pressSequentially("gl");
    assert.match(page.url(), /\/console\/logs/);
    await page.getByRole("combobox", { name: "Views, models" }).fill("metr");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/metrics**");
    assert.deepEqual(console.problems, []);
  });

  test("finds models in the palette", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Views, models" }).fill("model trial");
    await page.getByRole("option", { name: "sounding-trial" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("option", { name: "sounding-trial" }).click();
    await page.waitForURL("**/console/models/sounding-trial");
  });

  test("opens a trace by its ID from the palette", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Views, models" }).fill("4BF92F3577B34DA6A3CE929D0E0E4736");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/traces/4bf92f3577b34da6a3ce929d0e0e4736");
  });

  test("selects a time range that the address keeps", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces");
    await page.getByRole("button", { name: "Last hour" }).click();
    await page.getByRole("textbox", { name: "Other range" }).fill("nonsense");
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("textbox", { name: "Other range" }).getAttribute("aria-invalid"), "true");
    await page.getByRole("textbox", { name: "Other range" }).fill("45m");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/traces?from=now-45m");
    await page.reload();
    await page.getByRole("button", { name: "Last 45m" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      await using console = await openConsole(browser, { ...server, theme, viewport: { width: 390, height: 800 } });
      const { page } = console;
      await console.open("models");
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.equal(overflow, 0);
      await page.getByRole("button", { name: "Navigation" }).click();
      await page.getByRole("link", { name: "Traces" }).waitFor();
      await assertAccessible(page);
      assert.deepEqual(console.problems, []);
    });
  }
});

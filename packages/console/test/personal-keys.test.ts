/** In a real browser, people create, use and revoke API keys of their own, if their role includes that. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";
import { assertAccessible, launchBrowser, openConsole, type Browser } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { openAsPerson } from "./support/open-as-person.ts";

describe("keys of people in the console", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    [server, browser] = await useAll(stack, [startConsoleServer("", { telemetry: false }), launchBrowser()]);
  });

  async function statusWith(secret: string): Promise<number> {
    const response = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    await response.arrayBuffer();
    return response.status;
  }

  test("are created with an expiry, shown once, and revoked", async () => {
    await using console = await openAsPerson(browser, server, { email: "ada@example.com", role: "member" });
    const { page } = console;
    await console.open("preferences");
    await page.getByRole("button", { name: "New key" }).click();
    const dialog = page.getByRole("dialog");
    assert.equal(await dialog.getByRole("checkbox", { name: /^admin/ }).count(), 0, "only what the person has");
    await dialog.getByLabel("Name").fill("notebook");
    await dialog.getByRole("checkbox", { name: /^telemetry_write/ }).uncheck();
    await dialog.getByLabel("Expires").selectOption({ label: "In 7 days" });
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Create" }).click();
    const secret = await dialog.locator("code", { hasText: /^sk-/ }).innerText();
    assert.match(secret, /^sk-/);
    assert.equal(await statusWith(secret), 200);
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.getByText("You have not copied the secret.").waitFor();
    await dialog.getByRole("button", { name: "Close without copying" }).click();

    const list = page.getByRole("list", { name: "Your keys" });
    const shown = await list.getByRole("listitem").innerText();
    assert.match(shown, /notebook .*until .*inference, telemetry_read/s);
    assert.ok(!(await page.content()).includes(secret), "the page has the secret no longer");
    await assertAccessible(page);

    await page.getByRole("button", { name: "Revoke notebook" }).click();
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await list.getByRole("listitem").waitFor({ state: "detached" });
    assert.equal(await statusWith(secret), 401);
    assert.deepEqual(console.problems, []);
  });

  test("are explained to whose role has none, and absent for a key", async () => {
    await using viewer = await openAsPerson(browser, server, { email: "bob@example.com", role: "viewer" });
    await viewer.open("preferences");
    const section = viewer.page.getByRole("region", { name: "Your keys" });
    await section.getByText("does not include keys of your own").waitFor();
    assert.equal(await section.getByRole("button").count(), 0);
    await using keyed = await openConsole(browser, server);
    await keyed.open("preferences");
    await keyed.page.getByRole("region", { name: "Sessions" }).waitFor();
    assert.equal(await keyed.page.getByRole("region", { name: "Your keys" }).count(), 0);
    assert.deepEqual([...viewer.problems, ...keyed.problems], []);
  });
});

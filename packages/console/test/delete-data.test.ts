/** Deleting an organization's data in the view "Administration", in a real browser with real telemetry. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { otlpSender } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";

describe("deleting data in the console", () => {
  let server: RunningServer;
  let browser: Browser;
  before(async () => {
    server = await startConsoleServer();
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await server[Symbol.asyncDispose]();
  });

  test("counts what is selected, wants the name typed, and shows the receipt", async () => {
    const acme = await administer<{ id: string }>(server, "organizations", { name: "acme" });
    const organization_id = acme.id;
    const permissions = ["admin", "telemetry_write"];
    const { secret } = await administer<{ secret: string }>(server, "keys", {
      organization_id,
      name: "k",
      permissions,
    });
    const unixNano = BigInt(Date.now()) * 1_000_000n;
    const attributes = [{ key: "user.id", value: { stringValue: "u-1" } }];
    await otlpSender(server.url, secret).logs({ "service.name": "app" }, [
      { unixNano, body: "of the user", more: { attributes } },
      { unixNano, body: "of others" },
    ]);
    await using console = await openConsole(browser, { url: server.url, key: secret });
    const { page } = console;
    await console.open(`administration/organizations/${acme.id}`);
    await page.getByRole("button", { name: "Delete data" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("From").fill("yesterday");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText(/start is "yesterday"/).waitFor();
    await dialog.getByLabel("From").fill("");
    await dialog.getByLabel("End user").fill("u-1");
    await dialog.getByRole("button", { name: "Count" }).click();
    await dialog.getByText("0 spans, 1 log records and 0 metric points").waitFor();
    await assertAccessible(page);
    assert.equal(await dialog.getByRole("button", { name: "Delete" }).isDisabled(), true);
    await dialog.getByLabel("Type acme to confirm").fill("acme");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Deletions" }).waitFor();
    await page.getByRole("cell", { name: "one end user" }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(
      console.problems.filter((problem) => !problem.includes("400")),
      [],
    );
  });
});

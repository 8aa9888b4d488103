/** Deleting an organization's data in the view "Administration", in a real browser with real telemetry. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { otlpSender } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

describe("deleting data in the console", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("telemetry: { sweep_delay_ms: 1000 }"));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
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
    await dialog.getByText("0 spans, 1 log record and 0 metric points").waitFor();
    await assertAccessible(page);
    assert.equal(await dialog.getByRole("button", { name: "Delete" }).isDisabled(), true);
    await dialog.getByLabel("Type acme to confirm").fill("acme");
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Deletions" }).waitFor();
    await page.getByRole("rowheader", { name: "one end user" }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(
      console.problems.filter((problem) => !problem.includes("400")),
      [],
    );
  });

  test("deletes a conversation from its page, and shows the receipt until the data is gone from the disk", async () => {
    const { id, secret } = await createOrganization("talkative", ["admin", "telemetry_write", "telemetry_read"]);
    await sendTurns(secret, "talk/1", 2);
    await sendTurns(secret, "talk/2", 1);
    await using console = await openConsole(browser, { url: server.url, key: secret });
    const { page } = console;
    await console.open("conversations/talk/1");
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete the conversation" });
    await dialog.getByText("talk/1").waitFor();
    await dialog.getByText("2 spans, 0 log records and 0 metric points are deleted.").waitFor();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL("**/console/administration/deletions/*");
    await page.getByText("The data is gone from the disk.").waitFor({ timeout: 240_000 });
    await page.getByText("2 spans, 0 log records and 0 metric points").waitFor();
    await assertAccessible(page);
    await console.open("conversations/talk/1");
    await page.getByText("This conversation was not found").waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete" }).count(), 0);
    await console.open("conversations/talk/2");
    await page.getByRole("article", { name: "Turn 1" }).waitFor();
    await console.open(`administration/organizations/${id}`);
    await page.getByRole("rowheader", { name: "one conversation" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Delete", exact: true }).count(), 0, "not an operator");
    assert.deepEqual(console.problems, []);
  });

  test("does not offer to delete a conversation without the permission admin", async () => {
    const { secret } = await createOrganization("reader", ["telemetry_write", "telemetry_read"]);
    await sendTurns(secret, "talk/3", 1);
    await using console = await openConsole(browser, { url: server.url, key: secret });
    await console.open("conversations/talk/3");
    await console.page.getByText("Model calls").waitFor();
    assert.equal(await console.page.getByRole("button", { name: "Delete" }).count(), 0);
  });

  test("deletes a project and an organization, and keeps the receipt of what no longer exists", async () => {
    const { id, secret } = await createOrganization("leaving", ["telemetry_write"]);
    const project = await administer<{ id: string }>(server, "projects", { organization_id: id, name: "trial" });
    await sendTurns(secret, "talk/4", 1, "trial");
    await using console = await openConsole(browser, { url: server.url, key: server.operatorKey });
    const { page } = console;
    const confirm = async (title: string, name: string, counted: string) => {
      const dialog = page.getByRole("dialog", { name: title });
      await dialog.getByText(counted).waitFor();
      const button = dialog.getByRole("button", { name: "Delete" });
      assert.equal(await button.isDisabled(), true);
      await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
      await assertAccessible(page);
      await button.click();
      await page.waitForURL("**/console/administration/deletions/*");
      await page.getByText("The data is gone from the disk.").waitFor({ timeout: 240_000 });
    };
    await console.open(`administration/projects/${project.id}`);
    await page.getByRole("button", { name: "Delete" }).click();
    await confirm("Delete the project", "trial", "1 span, 0 log records and 0 metric points are deleted.");
    await console.open(`administration/organizations/${id}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await confirm("Delete the organization", "leaving", "0 spans, 0 log records and 0 metric points are deleted.");
    await page.getByRole("link", { name: "All deletions" }).click();
    await page.getByRole("row", { name: `organization ${id}` }).waitFor();
    await page.getByRole("row", { name: `project trial ${id}` }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(console.problems, []);
  });

  async function createOrganization(name: string, permissions: readonly string[]) {
    const { id } = await administer<{ id: string }>(server, "organizations", { name });
    const body = { organization_id: id, name: "k", permissions };
    const { secret } = await administer<{ secret: string }>(server, "keys", body);
    return { id, secret };
  }

  /** Sends a conversation of one trace with one span for each turn. */
  async function sendTurns(key: string, conversation: string, turns: number, project = "app"): Promise<void> {
    const spans = Array.from({ length: turns }, (_, index) => ({
      traceId: randomBytes(16).toString("hex"),
      spanId: "1".repeat(16),
      name: "chat large",
      startUnixNano: BigInt(Date.now() - 60_000 + index) * 1_000_000n,
      duration: 1_000_000n,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.conversation.id": conversation },
    }));
    await otlpSender(server.url, key).spans({ "service.name": "app", "project.name": project }, spans);
  }
});

/** The view "Spend" in a real browser: costs by day and group, filters, the calls behind them, and the file. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";

const dayMs = 86_400_000;
const users = ["ada@example.com", "bob@example.com", "=cmd"];
const models = ["large", "small", "unpriced"];

/** Calls of twelve days, as an application reports them. */
async function sendCalls(server: RunningServer): Promise<void> {
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const spans = Array.from({ length: 120 }, (_, index) => {
    const model = models[index % 3]!;
    const end = BigInt(Date.now() - Math.floor(index / 10) * dayMs - 60_000) * 1_000_000n;
    const cost = { key: "gen_ai.usage.cost", value: { doubleValue: model === "large" ? 0.25 : 0.000_000_001 } };
    return {
      traceId: (index + 1).toString(16).padStart(32, "a"),
      spanId: (index + 1).toString(16).padStart(16, "0"),
      name: `chat ${model}`,
      startTimeUnixNano: `${end - 1_000_000_000n}`,
      endTimeUnixNano: `${end}`,
      attributes: [
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.request.model", model),
        attribute("user.id", users[index % users.length]!),
        ...(index % 2 === 0 ? [attribute("sounding.metadata.team", "search")] : []),
        { key: "gen_ai.usage.input_tokens", value: { intValue: "1000" } },
        ...(model === "unpriced" ? [] : [cost]),
      ],
    };
  });
  const resource = { attributes: [attribute("service.name", "shop")] };
  const response = await server.call("/v1/traces", { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  assert.equal(response.status, 200, await response.text());
}

describe("spend", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    [server, browser] = await useAll(stack, [startConsoleServer(), launchBrowser()]);
    await sendCalls(server);
  });

  const rowOf = async (page: Page, name: string): Promise<string[]> => {
    const row = page.getByRole("region", { name: "Spend by group" }).getByRole("row", { name });
    return row.getByRole("cell").allInnerTexts();
  };
  const until = (page: Page, text: string) =>
    page.getByRole("region", { name: "Spend by group" }).getByText(text, { exact: true }).first().waitFor();

  test("shows exact sums by model, and unknown costs as such", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("spend");
    await until(page, "large");
    assert.match(page.url(), /from=now-30d/);
    await page.getByText("10.00000004", { exact: true }).waitFor();
    await page.getByText("40 of unknown cost: their models have no price").waitFor();
    assert.deepEqual(await rowOf(page, "large"), ["large", "10.00", "", "40", "", "40k", "0"]);
    const unpriced = await rowOf(page, "unpriced");
    assert.deepEqual([unpriced[1], unpriced[4]], ["unknown", "40"]);
    assert.deepEqual(console.problems, []);
  });

  test("leads from a group and from a day to the calls", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("spend?by=user&model=large");
    await page.getByRole("link", { name: "ada@example.com" }).click();
    await page.waitForURL(/\/traces\?.*model=large.*user_id=ada/);
    await page.getByText("chat large").first().waitFor();
    await page.goBack();
    const chart = page.getByRole("img", { name: "Cost by day" });
    await chart.waitFor();
    const box = (await chart.boundingBox())!;
    await page.mouse.click(box.x + box.width - 30, box.y + box.height / 2);
    await page.waitForURL(/\/traces\?model=large.*from=20.*to=20/);
    await page.getByText("chat large").first().waitFor();
    await console.open("spend?by=tag&tag=team");
    await page.getByRole("link", { name: "search" }).click();
    await page.waitForURL(/attributes=.*sounding\.metadata\.team/);
    assert.deepEqual(console.problems, []);
  });

  test("filters by a group, and removes the filter", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("spend");
    await page.getByRole("button", { name: "Only large" }).click();
    await page.waitForURL(/model=large/);
    await page.getByRole("heading", { name: "By user" }).waitFor();
    await until(page, "ada@example.com");
    await page.getByRole("button", { name: "Remove the filter by Model" }).click();
    await page.getByRole("combobox", { name: "Group by" }).selectOption("tag");
    await until(page, "search");
    await page.getByRole("textbox", { name: "Name of the tag" }).fill("none");
    await page.keyboard.press("Enter");
    await page.waitForURL(/tag=none/);
    await until(page, "(none)");
  });

  test("saves exact amounts as CSV", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("spend?by=user&model=small");
    await until(page, "bob@example.com");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\r\n");
    assert.equal(
      lines[0],
      "day,user,currency,cost,calls,unpriced_calls,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens",
    );
    assert.equal(lines.length, 13);
    assert.match(lines[1]!, /^\d{4}-\d\d-\d\d,bob@example\.com,USD,0\.00000000\d,\d,0,\d000,0,0,0$/);
  });

  test("shows another organization nothing of it, and an operator what each organization spent", async () => {
    const { id } = await administer<{ id: string }>(server, "organizations", { name: "other" });
    const { secret } = await administer<{ secret: string }>(server, "keys", { name: "theirs", organization_id: id });
    await using console = await openConsole(browser, { url: server.url, key: secret });
    await console.open("spend?by=organization");
    await console.page.getByRole("heading", { name: "No model was called in this time range" }).waitFor();
    assert.equal(await console.page.getByRole("option", { name: "By organization" }).count(), 0);
    await using operator = await openConsole(browser, { url: server.url });
    const data = { key: server.key, operator_key: server.operatorKey };
    const signedIn = await operator.context.request.post(`${server.url}/authentication/sessions`, { data });
    assert.equal(signedIn.status(), 201);
    await operator.open("spend?by=organization");
    await until(operator.page, "default");
    assert.equal((await rowOf(operator.page, "default"))[1], "10.00");
  });

  for (const [theme, width] of [
    ["light", 1280],
    ["dark", 390],
  ] as const) {
    test(`is accessible in the ${theme} theme, ${width} pixels wide`, async () => {
      await using console = await openConsole(browser, { ...server, theme, viewport: { width, height: 844 } });
      await console.open("spend");
      await until(console.page, "large");
      await assertAccessible(console.page);
      const overflow = await console.page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.ok(overflow <= 0, `the page is ${overflow} pixels too wide`);
    });
  }
});

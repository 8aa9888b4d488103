/** The overview in a real browser: an empty server that waits for its first call, and one with telemetry. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const prices = "telemetry:\n  token_prices:\n    gpt-4o: { input: 2.5, output: 10 }\n";

/** Waits until the span of the server's own call can be queried. */
async function untilCallIsStored(server: RunningServer): Promise<void> {
  for (;;) {
    const query = { trace: "inference_traces", project_name: "default", detail: false };
    const response = await server.call("/observability/traces", query);
    if (((await response.json()) as { traces: unknown[] }).traces.length > 0) return;
  }
}

describe("the overview", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    [server, browser] = await useAll(stack, [startConsoleServer(prices), launchBrowser()]);
    await sendDemo(server);
    await server.call("/v1/chat/completions", {
      model: "sounding-trial",
      messages: [{ role: "user", content: "Hello!" }],
    });
    await untilCallIsStored(server);
  });

  test("shows calls, errors, tokens and cost by model and project, and zooms", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview");
    const row = page.getByRole("region", { name: "By model" }).getByRole("row", { name: /gpt-4o / });
    await row.waitFor();
    const [model, calls, , p50, , , , , cost] = await row.getByRole("cell").allInnerTexts();
    assert.equal(model, "gpt-4o");
    assert.match(calls!, /^[\d,]+$/);
    assert.match(p50!, /s$/);
    assert.ok(Number(cost) > 0, `the cost is ${cost}`);
    await page.getByRole("region", { name: "By project" }).getByRole("link", { name: "demo" }).waitFor();
    const chart = await page.getByRole("img", { name: "Calls by model over time" }).boundingBox();
    await page.mouse.move(chart!.x + 120, chart!.y + 60);
    await page.mouse.down();
    await page.mouse.move(chart!.x + 220, chart!.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=20.*to=20/);
    await page.goBack();
    await page.getByRole("button", { name: "Last hour" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("counts the calls of the selected project only", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview?project=default");
    await page.getByRole("region", { name: "By model" }).getByRole("link", { name: "sounding-trial" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "gpt-4o", exact: true }).count(), 0);
    await page.getByRole("combobox", { name: "Project" }).selectOption("demo");
    await page.waitForURL("**project=demo");
    await page.getByRole("link", { name: "gpt-4o", exact: true }).waitFor();
  });

  test("shows another organization nothing of it", async () => {
    const { id } = await administer<{ id: string }>(server, "organizations", { name: "other" });
    const { secret } = await administer<{ secret: string }>(server, "keys", { name: "theirs", organization_id: id });
    await using console = await openConsole(browser, { url: server.url, key: secret });
    await console.open("overview");
    await console.page.getByRole("heading", { name: "Waiting for your first call…" }).waitFor();
    assert.equal(await console.page.getByText("demo", { exact: true }).count(), 0);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme`, async () => {
      await using console = await openConsole(browser, { ...server, theme });
      await console.open("overview");
      await console.page.getByRole("heading", { name: "By project" }).waitFor();
      await assertAccessible(console.page);
    });
  }
});

describe("the overview of a new server without any configuration", { skip: needs("chromium") }, () => {
  let browser: Browser;
  beforeTests(async (stack) => void (browser = stack.use(await launchBrowser())));

  test("opens the trace of the first call, which the printed curl makes", { skip: needs("curl") }, async () => {
    await using server = await startConsoleServer();
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("overview");
    await page.getByRole("heading", { name: "Waiting for your first call…" }).waitFor();
    for (const language of ["TypeScript", "Python"]) {
      await page.getByRole("button", { name: language, exact: true }).click();
      assert.match(await page.locator("pre").first().innerText(), /OpenAI\(/);
    }
    await assertAccessible(page);
    await page.getByRole("button", { name: "curl", exact: true }).click();
    const code = await page.locator("pre").first().innerText();
    const { stdout } = await promisify(execFile)("sh", ["-c", code], {
      env: { PATH: process.env["PATH"], SOUNDING_API_KEY: server.key },
    });
    assert.match(stdout, /"chat\.completion"/);
    await page.waitForURL(/\/console\/traces\/[0-9a-f]{32}/);
    await page.getByRole("complementary", { name: "Span details" }).getByText("sounding-trial").first().waitFor();
    await console.open("overview");
    await page.getByRole("region", { name: "By model" }).getByRole("link", { name: "sounding-trial" }).waitFor();
    await page.getByText("no call has a known cost").waitFor();
    assert.deepEqual(console.problems, []);
  });
});

describe("the overview without a telemetry store", { skip: needs("chromium") }, () => {
  test("says what is missing, and still shows the health of the server", async () => {
    await using server = await startConsoleServer("", { telemetry: false });
    const browser = await launchBrowser();
    try {
      await using console = await openConsole(browser, { url: server.url });
      const data = { key: server.key, operator_key: server.operatorKey };
      assert.equal(
        (await console.context.request.post(`${server.url}/authentication/sessions`, { data })).status(),
        201,
      );
      await console.open("overview");
      await console.page.getByRole("alert").getByText("telemetry", { exact: false }).first().waitFor();
      await console.page
        .getByRole("region", { name: "Server" })
        .getByText("Control database", { exact: true })
        .waitFor();
    } finally {
      await browser.close();
    }
  });
});

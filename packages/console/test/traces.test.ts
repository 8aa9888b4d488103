/** The list of traces in a real browser, against a real server with the sample telemetry. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { otlpSender } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const configuration = `
telemetry:
  token_prices: { gpt-4o: { input: 2.5, output: 10 } }
  trace_presets: { search_traces: { description: Traces of searches., services: [knowledge-base] } }
`;
const hostileName = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const bidi = "\u202egnp.exe\u202c \u0000 ‮ end";
const traceId = (number: number): string => number.toString(16).padStart(32, "a");

describe("the list of traces", { skip: needs("chromium"), timeout: 300_000 }, () => {
  let server: RunningServer;
  let browser: Browser;
  /** The key of another organization, which has hostile telemetry. */
  let otherKey: string;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer(configuration));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
    await sendDemo(server);
    const { id } = await administer<{ id: string }>(server, "organizations", { name: "hostile" });
    const permissions = ["telemetry_read", "telemetry_write"];
    const body = { organization_id: id, name: "all", permissions };
    otherKey = (await administer<{ secret: string }>(server, "keys", body)).secret;
    const start = BigInt(Date.now() - 60_000) * 1_000_000n;
    const megabyte = "<b>x</b>".repeat(131_072);
    await otlpSender(server.url, otherKey).spans({ "service.name": hostileName, "project.name": "hostile" }, [
      { traceId: traceId(1), spanId: "1".repeat(16), name: hostileName, startUnixNano: start },
      {
        traceId: traceId(2),
        spanId: "2".repeat(16),
        name: bidi,
        startUnixNano: start,
        attributes: { [hostileName]: bidi },
      },
      {
        traceId: traceId(3),
        spanId: "3".repeat(16),
        name: megabyte,
        startUnixNano: start,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": megabyte.slice(0, 5000),
          "session.id": hostileName,
          text: megabyte,
        },
      },
    ]);
  });

  const rows = (page: Page) =>
    page
      .getByRole("table", { name: "Traces" })
      .getByRole("row")
      .filter({ has: page.getByRole("link") });
  const chart = (page: Page) => page.getByRole("img", { name: /^Traces over time/ });
  async function countOf(page: Page): Promise<number> {
    await rows(page).first().waitFor();
    const name = await chart(page).getAttribute("aria-label");
    return Number(/: (?<count>\d+),/.exec(name ?? "")?.groups?.["count"]);
  }

  test("shows time, name, service, project, status, duration, spans, models, tokens and cost", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces?model=gpt-4o");
    await rows(page).first().waitFor();
    const cells = await rows(page).first().getByRole("cell").allInnerTexts();
    assert.match(cells[0]!, /^\d\d:\d\d:\d\d\.\d\d\d$/);
    assert.deepEqual(cells.slice(1, 4), ["POST /chat", "support-web", "demo"]);
    assert.match(cells[5]!, /\d (ms|s)|min/);
    assert.match(cells[6]!, /^\d+$/);
    assert.match(cells[7]!, /gpt-4o/);
    assert.match(cells[9]!, /^\d/);
    await page.getByRole("img", { name: /^Durations of traces/ }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("loads further pages while one scrolls, until every trace was shown once", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces?from=now-3h");
    const count = await countOf(page);
    assert.ok(count > 100, "the sample has more than a page");
    await page.getByText("100 traces, more follow below").waitFor();
    const links = new Set<string>();
    const whole = page.getByText(new RegExp(`^${count} traces$`));
    for (let top = 0; !(await whole.isVisible()) || top < count * 36; top += 360) {
      await page.evaluate(`document.querySelector(".traces-table .virtual-list").scrollTo(0, ${top})`);
      await rows(page)
        .and(page.locator(`[aria-rowindex="${Math.min(count, Math.floor(top / 36) + 1) + 1}"]`))
        .waitFor();
      const found = await page.evaluate<string[]>(
        "[...document.querySelectorAll('.traces-name > a')].map(({ href }) => href)",
      );
      for (const link of found) links.add(link);
    }
    assert.equal(links.size, count);
    assert.deepEqual(console.problems, []);
  });

  test("filters from its address and by its controls, and removes filters by their chips", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces");
    const all = await countOf(page);
    await page.getByRole("combobox", { name: "Span status" }).selectOption("Error");
    await page.waitForURL(/status=error/);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("combobox", { name: "Filter by" }).selectOption("Service");
    await page.locator('datalist option[value="support-agents"]').waitFor({ state: "attached" });
    await page.getByRole("combobox", { name: "Service" }).fill("support-agents");
    await page.keyboard.press("Enter");
    await page.waitForURL(/service_name=support-agents/);
    await chart(page)
      .and(page.locator(`:not([aria-label*=": ${all},"])`))
      .waitFor();
    const filtered = await countOf(page);
    assert.ok(filtered > 0 && filtered < all);
    await page.reload();
    await rows(page).first().waitFor();
    assert.equal(await countOf(page), filtered);
    await page.getByRole("button", { name: "Remove the filter Service" }).click();
    await page.waitForURL((url) => !url.search.includes("service_name"));
    await page.goBack();
    await page.getByRole("button", { name: "Remove the filter Service" }).waitFor();
    await page.getByRole("button", { name: "Clear all" }).click();
    await page.waitForURL((url) => url.search === "");
    assert.deepEqual(console.problems, []);
  });

  test("filters by preset, project, duration, attribute, conversation and text", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces");
    await rows(page).first().waitFor();
    await page.getByRole("combobox", { name: "Kind of traces" }).selectOption("Search traces");
    await page.waitForURL(/trace=search_traces/);
    await page.getByRole("combobox", { name: "Project" }).selectOption("demo");
    await page.waitForURL(/project=demo/);
    const add = async (field: string, values: Record<string, string>) => {
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.getByRole("combobox", { name: "Filter by" }).selectOption(field);
      for (const [label, value] of Object.entries(values)) await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByRole("button", { name: "Add filter" }).click();
    };
    await add("Span duration", { "At least (ms)": "1" });
    await page.waitForURL(/min_duration_ms=1/);
    await add("Attribute", { Name: "http.route", Value: "/search" });
    await page.waitForURL(/attributes=/);
    await page.getByRole("searchbox").fill("post");
    await page.keyboard.press("Enter");
    await page.waitForURL(/search=post/);
    await rows(page).first().waitFor();
    assert.equal(
      await page
        .getByRole("group", { name: "Filters" })
        .getByRole("button", { name: /^Remove/ })
        .count(),
      2,
    );
    await console.open("traces?search=no-such-text");
    await page.getByRole("heading", { name: "No traces match" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await rows(page).first().waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("opens a trace by its ID in the search, with the keyboard, and returns to the same place", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces");
    await rows(page).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("j");
    const second = await rows(page).nth(1).getByRole("link").getAttribute("href");
    assert.equal(await rows(page).nth(1).getAttribute("aria-current"), "true");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${second}`);
    await page.goBack();
    await rows(page).nth(1).waitFor();
    assert.equal(await rows(page).nth(1).getAttribute("aria-current"), "true");
    await page.getByRole("searchbox").fill(`00-${second!.slice(-32)}-${"b".repeat(16)}-01`);
    await page.waitForURL(`**${second}`);
    assert.deepEqual(console.problems, []);
  });

  test("zooms to a part of the chart, which can be undone", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    // All traces stay in this range, however long the test takes. They are in its last third.
    await console.open("traces?from=now-3h");
    const all = await countOf(page);
    const box = (await chart(page).boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.75, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 40, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=2.*to=2/);
    await chart(page)
      .and(page.locator(`:not([aria-label*=": ${all},"])`))
      .waitFor();
    assert.ok((await countOf(page)) < all);
    await page.goBack();
    await chart(page)
      .and(page.locator(`[aria-label*=": ${all},"]`))
      .waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("adds new traces at the top while it is live, without moving what one reads", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("traces?live=1");
    await rows(page).first().waitFor();
    const send = (number: number, name: string) =>
      otlpSender(server.url, server.key).spans({ "service.name": "live" }, [
        { traceId: traceId(number), spanId: "1".repeat(16), name, startUnixNano: BigInt(Date.now()) * 1_000_000n },
      ]);
    await send(100, "first of the live ones");
    await page.getByRole("link", { name: "first of the live ones" }).waitFor({ timeout: 30_000 });
    const scrolled = "document.querySelector('.traces-table .virtual-list')";
    await page.evaluate(`${scrolled}.scrollTo(0, 720)`);
    const topRow = `[...document.querySelectorAll('.traces-table a')].find((link) => link.getBoundingClientRect().top >= ${scrolled}.getBoundingClientRect().top).href`;
    const read = await page.evaluate<string>(topRow);
    await send(101, "second of the live ones");
    await page.getByRole("button", { name: "1 new" }).waitFor({ timeout: 30_000 });
    assert.equal(await page.evaluate<string>(topRow), read);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByRole("link", { name: "second of the live ones" }).waitFor();
    await page.getByRole("button", { name: "1 new" }).waitFor({ state: "detached" });
    assert.deepEqual(console.problems, []);
  });

  test("shows hostile telemetry as text, and only to its organization", async () => {
    await using console = await openConsole(browser, { url: server.url, key: otherKey });
    const { page } = console;
    await console.open("traces");
    await page.getByRole("link", { name: hostileName }).waitFor();
    assert.equal(await rows(page).count(), 3);
    assert.equal(await page.locator("table img, .traces-table img, .traces-table b, .traces-table script").count(), 0);
    assert.equal(await page.title(), "Traces · Sounding");
    assert.equal(await page.getByText("POST /chat").count(), 0);
    const longest = await page.evaluate<number>(
      "Math.max(...[...document.querySelectorAll('.traces-row')].map((row) => row.textContent.length))",
    );
    assert.ok(longest < 2_000, `a row has ${longest} characters`);
    await console.open(
      `traces?service_name=${encodeURIComponent(hostileName)}&attributes=${encodeURIComponent("[1]")}&min_duration_ms=x&status=nothing`,
    );
    await page.getByRole("button", { name: "Remove the filter Service" }).waitFor();
    await page.getByRole("link", { name: hostileName }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("says what to do without telemetry, after a failure, and when there is too much", async () => {
    const { id } = await administer<{ id: string }>(server, "organizations", { name: "empty" });
    const body = { organization_id: id, name: "all", permissions: ["telemetry_read"] };
    const { secret } = await administer<{ secret: string }>(server, "keys", body);
    await using console = await openConsole(browser, { url: server.url, key: secret });
    const { page } = console;
    await console.open("traces");
    await page.getByRole("heading", { name: "No traces in this time range" }).waitFor();
    await page.getByText(`OTEL_EXPORTER_OTLP_ENDPOINT=${server.url}`).waitFor();
    await assertAccessible(page);
    const error = { message: "The query took longer than 30 s.", code: "upstream_timeout", type: "x", param: null };
    await page.route("**/observability/traces", (route) =>
      route.request().method() === "GET" ? route.continue() : route.fulfill({ status: 504, json: { error } }),
    );
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("This time range has too much data").waitFor();
    await page.getByText("The query took longer than 30 s.").waitFor();
    await page.unroute("**/observability/traces");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "No traces in this time range" }).waitFor();
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, with filters, and fits a small screen`, async () => {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 800 },
      ]) {
        await using console = await openConsole(browser, { ...server, theme, viewport });
        const { page } = console;
        await console.open('traces?status=error&operation=chat&attributes={"gen_ai.provider.name":"openai"}');
        await rows(page).first().waitFor();
        await page.keyboard.press("j");
        await assertAccessible(page);
        await page.getByRole("button", { name: "Filter", exact: true }).click();
        await page.getByRole("combobox", { name: "Filter by" }).waitFor();
        await assertAccessible(page);
        assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
        assert.deepEqual(console.problems, []);
      }
    });
  }
});

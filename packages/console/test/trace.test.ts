/** The view of one trace in a real browser: waterfall, details, logs, hostile content, thousands of spans. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { largeTrace, sendTrace, spanId } from "./support/send-trace.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const prices = "telemetry: { token_prices: { gpt-4o: { input: 2.5, output: 10 } } }";

const text = (content: string) => ({ type: "text", content });
const chat = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.usage.input_tokens": 1200,
  "gen_ai.usage.output_tokens": 240,
};
const recorded = {
  ...chat,
  "gen_ai.system_instructions": JSON.stringify([text("You help in a shop.")]),
  "gen_ai.input.messages": JSON.stringify([
    { role: "user", parts: [text("Where is my order?")] },
    { role: "assistant", parts: [{ type: "tool_call", id: "c1", name: "find_order", arguments: { id: 4711 } }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: { status: "shipped" } }] },
  ]),
  "gen_ai.output.messages": JSON.stringify([
    { role: "assistant", parts: [text("It arrives tomorrow.")], finish_reason: "stop" },
  ]),
};

const checkout = [
  { id: 1, name: "POST /checkout", startMs: 0, endMs: 1000 },
  { id: 2, parent: 1, name: "chat gpt-4o", service: "agents", startMs: 100, endMs: 600, attributes: recorded },
  { id: 3, parent: 2, name: "embed", service: "search", startMs: 150, endMs: 300 },
  {
    id: 4,
    parent: 1,
    name: "charge card",
    service: "billing",
    startMs: 700,
    endMs: 900,
    failed: "card declined",
    events: [
      {
        name: "exception",
        attributes: {
          "exception.type": "CardDeclined",
          "exception.message": "The bank refused",
          "exception.stacktrace": "CardDeclined: The bank refused\n    at charge (/app/charge.ts:41:11)",
        },
      },
    ],
    links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }],
  },
  { id: 5, parent: 1, name: "chat gpt-4o", service: "agents", startMs: 910, endMs: 950, attributes: chat },
];

describe("the console's view of a trace", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  let checkoutId: string;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer(prices));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
    checkoutId = await sendTrace(server, checkout);
  });

  const row = (page: Page, name: string) => page.getByRole("treeitem").filter({ hasText: name });
  const details = (page: Page) => page.getByRole("complementary", { name: "Span details" });

  test("shows what a trace is about, and its spans as a tree", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    await page.getByRole("heading", { level: 1, name: "POST /checkout" }).waitFor();
    for (const fact of ["1 s", "billing", "gpt-4o", "2 calls · 2,400 → 480 tokens", "0.0108", "shop"])
      await page.locator(".trace-facts").getByText(fact, { exact: true }).waitFor();
    const names = await page.getByRole("treeitem").locator(".trace-name").allInnerTexts();
    assert.deepEqual(
      names.map((name) => name.trim()),
      ["POST /checkout", "chat gpt-4o", "embed", "charge card", "chat gpt-4o"],
    );
    assert.equal(await row(page, "embed").getAttribute("aria-level"), "3");
    assert.equal(await row(page, "charge card").getByLabel("Failed").count(), 1);
    assert.deepEqual(console.problems, []);
  });

  test("shows a recorded call as a conversation, and otherwise how to record it", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    await row(page, "chat gpt-4o").first().click();
    await page.waitForURL(`**/traces/${checkoutId}?span=${spanId(2)}`);
    for (const shown of ["You help in a shop.", "Where is my order?", "find_order", "It arrives tomorrow."])
      await details(page).getByText(shown, { exact: true }).first().waitFor();
    await details(page).getByText("1,200 in · 240 out").waitFor();
    const link = details(page).getByRole("link", { name: "Open in playground" });
    assert.match(
      (await link.getAttribute("href"))!,
      new RegExp(`playground/chat\\?from_trace=${checkoutId}&from_span=${spanId(2)}$`),
    );
    await row(page, "chat gpt-4o").last().click();
    await details(page).getByText("sounding project update shop --record-content").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("shows exceptions and links, and keeps the selection in the address", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}?span=${spanId(4)}`);
    await details(page).getByRole("heading", { name: "CardDeclined" }).waitFor();
    await details(page).getByText("at charge (/app/charge.ts:41:11)").waitFor();
    await details(page).getByText("card declined", { exact: true }).waitFor();
    const link = details(page).getByRole("link", { name: "Trace 0af7651916cd43dd8448eb211c80319c" });
    assert.match(
      (await link.getAttribute("href"))!,
      /traces\/0af7651916cd43dd8448eb211c80319c\?span=b7ad6b7169203331$/,
    );
    assert.equal(await row(page, "charge card").getAttribute("aria-selected"), "true");
    await page.keyboard.press("Escape");
    await details(page).waitFor({ state: "detached" });
    await page.reload();
    await page.locator('[role=treeitem][aria-selected="true"]').waitFor();
    assert.equal(await details(page).count(), 0);
    await page.keyboard.press("Enter");
    await details(page).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("is read with the keyboard: select, fold, search, fit", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    await row(page, "embed").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    assert.match(page.url(), new RegExp(`span=${spanId(2)}&details=0`));
    await page.keyboard.press("[");
    await row(page, "embed").waitFor({ state: "detached" });
    await page.keyboard.press("j");
    assert.match(page.url(), new RegExp(`span=${spanId(4)}`));
    await page.keyboard.press("/");
    await page.keyboard.type("embed");
    await page.getByText("1 match", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await row(page, "embed").waitFor();
    assert.match(page.url(), new RegExp(`search=embed`));
    assert.match(page.url(), new RegExp(`span=${spanId(3)}`));
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.waitForURL(/zoom=/);
    await page.locator("h1").click();
    await page.keyboard.press("f");
    await page.waitForURL((url) => !url.searchParams.has("zoom"));
    assert.deepEqual(console.problems, []);
  });

  test("zooms where the time axis is dragged over, at an address that works", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    const axis = (await page.locator(".trace-axis").boundingBox())!;
    await page.mouse.move(axis.x + axis.width * 0.7, axis.y + 5);
    await page.mouse.down();
    await page.mouse.move(axis.x + axis.width * 0.9, axis.y + 5, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/zoom=\d+-\d+/);
    const [start = 0, end = 0] = new URL(page.url()).searchParams.get("zoom")!.split("-").map(Number);
    assert.ok(Math.abs(start - 700e6) < 20e6 && Math.abs(end - 900e6) < 20e6, `${start}-${end}`);
    // A span before the part has no bar there, the one within fills it.
    await page.reload();
    await row(page, "charge card").locator(".trace-bar").waitFor();
    assert.equal(await row(page, "embed").locator(".trace-bar").count(), 0);
    await page.locator(".trace-minimap").dblclick();
    await page.waitForURL((url) => !url.searchParams.has("zoom"));
    assert.deepEqual(console.problems, []);
  });

  test("shows the trace's logs, which select their spans, and its JSON", async () => {
    const logRecords = [
      {
        timeUnixNano: String(BigInt(Date.now()) * 1_000_000n),
        severityNumber: 17,
        body: { stringValue: "The bank refused the card" },
        traceId: checkoutId,
        spanId: spanId(4),
      },
    ];
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "billing" } }] };
    const sent = await server.call("/v1/logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
    assert.equal(sent.status, 200);
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    const tabs = page.getByRole("navigation", { name: "Parts of the trace" });
    await tabs.getByRole("link", { name: "Logs" }).click();
    await page.getByText("The bank refused the card").click();
    await details(page).getByRole("heading", { name: "charge card" }).waitFor();
    assert.match(page.url(), /tab=logs/);
    await page.keyboard.press("Escape");
    await details(page).waitFor({ state: "detached" });
    await tabs.getByRole("link", { name: "Raw JSON" }).click();
    await page.getByText(`"traceID": "${checkoutId}",`).waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `trace-${checkoutId}.json`);
    assert.deepEqual(console.problems, []);
  });

  test("shows spans that arrive while it is open, without losing the selection", async () => {
    const startMs = Date.now() - 2_000;
    const traceId = await sendTrace(server, [{ id: 1, name: "first", startMs: 0, endMs: 1000 }], { startMs });
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${traceId}?span=${spanId(1)}`);
    await page.getByText("Receiving").waitFor();
    await sendTrace(server, [{ id: 2, parent: 1, name: "second", startMs: 100, endMs: 900 }], { traceId, startMs });
    await row(page, "second").waitFor();
    assert.equal(await row(page, "first").getAttribute("aria-selected"), "true");
    await details(page).getByRole("heading", { name: "first" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("appears when its first span arrives; says so if there is none", async () => {
    const traceId = "5b8efff798038103d269b633813fc60c";
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${traceId}`);
    await page.getByRole("heading", { name: "This trace was not found" }).waitFor();
    await sendTrace(server, [{ id: 1, name: "at last", startMs: 0, endMs: 10 }], { traceId });
    await page.getByRole("heading", { level: 1, name: "at last" }).waitFor();
    await console.open("traces/not-an-id");
    await page.getByRole("heading", { name: "This is not a trace ID" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("of another organization is not found", async () => {
    const organization = await administer<{ id: string }>(server, "organizations", { name: "other" });
    const { secret } = await administer<{ secret: string }>(server, "keys", {
      organization_id: organization.id,
      name: "reader",
      permissions: ["telemetry_read"],
    });
    await using console = await openConsole(browser, { ...server, key: secret });
    const { page } = console;
    await console.open(`traces/${checkoutId}`);
    await page.getByRole("heading", { name: "This trace was not found" }).waitFor();
    assert.equal(await page.getByText("POST /checkout").count(), 0);
    assert.deepEqual(console.problems, []);
  });

  test("shows 10,000 spans: scrolling, folding and searching", async () => {
    const traceId = await sendTrace(server, largeTrace(10_000));
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${traceId}`);
    await page.getByRole("definition").filter({ hasText: "10,000" }).waitFor();
    await page.getByRole("tree", { name: "Spans" }).focus();
    await page.keyboard.press("End");
    await row(page, "last step").waitFor();
    const rows = await page.getByRole("treeitem").count();
    assert.ok(rows < 100, `${rows} rows are rendered`);
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Fold", exact: true }).click();
    await page.getByRole("button", { name: "Fold all", exact: true }).click();
    assert.deepEqual(await page.locator('[aria-level="3"]').count(), 0);
    await row(page, "batch 1").first().getByText("+19").waitFor();
    await page.getByRole("searchbox", { name: "Search spans" }).fill("step 7777");
    await page.keyboard.press("Enter");
    await row(page, "step 7777").waitFor();
    await page.getByRole("searchbox", { name: "Search spans" }).fill("The last step failed");
    await page.keyboard.press("Enter");
    await row(page, "last step").waitFor();
    await page.waitForURL(`**span=${spanId(10_000)}**`);
    assert.deepEqual(console.problems, []);
  });

  test("shows hostile content as text", async () => {
    const markup = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    const bidi = "\u202egnp.exe\u202c \u2067abc";
    const long = `${"a".repeat(500_000)}<b>${"b".repeat(500_000)}`;
    const traceId = await sendTrace(server, [
      {
        id: 1,
        name: markup,
        service: bidi,
        startMs: 0,
        endMs: 10,
        failed: markup,
        attributes: {
          [markup]: markup,
          [bidi]: bidi,
          long,
          "gen_ai.operation.name": "chat",
          "gen_ai.input.messages": JSON.stringify([{ role: markup, parts: [text(markup), text(long)] }]),
          "gen_ai.output.messages": `{"not": "closed`,
        },
        events: [
          { name: "exception", attributes: { "exception.type": markup, "exception.stacktrace": long } },
          { name: markup, attributes: { __proto__: markup, constructor: bidi } },
        ],
      },
      { id: 2, parent: 1, name: "x".repeat(100_000), startMs: 1, endMs: 2 },
    ]);
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${traceId}?span=${spanId(1)}`);
    await details(page).getByRole("heading", { name: markup }).first().waitFor();
    await row(page, "xxx").waitFor();
    assert.equal(await page.locator("main img, main script, main b").count(), 0);
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    assert.equal(overflow, 0);
    const shown = (await page.locator("main").innerText()).length;
    assert.ok(shown < 50_000, `${shown} characters are shown`);
    await page.getByRole("link", { name: "Raw JSON" }).click();
    await page.getByText('"batches": [').waitFor();
    assert.notEqual(await page.title(), "owned");
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      await using console = await openConsole(browser, { ...server, theme });
      const { page } = console;
      for (const span of [2, 4]) {
        await console.open(`traces/${checkoutId}?span=${spanId(span)}&search=chat`);
        await details(page).waitFor();
        await assertAccessible(page);
      }
      await console.open(`traces/${checkoutId}?tab=json`);
      await page.getByText('"batches": [').waitFor();
      await assertAccessible(page);
      await page.setViewportSize({ width: 390, height: 800 });
      await console.open(`traces/${checkoutId}`);
      await row(page, "charge card").click();
      await details(page).getByRole("heading", { name: "CardDeclined" }).waitFor();
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      assert.equal(overflow, 0);
      await assertAccessible(page);
      await details(page).getByRole("button", { name: "Close the details" }).click();
      await details(page).waitFor({ state: "detached" });
      assert.deepEqual(console.problems, []);
    });
  }

  test("shows the traces of sounding demo", async () => {
    await sendDemo(server);
    const answer = await server.call("/observability/traces", {
      trace: "error_traces",
      detail: false,
      time_window: "6h",
    });
    const { traces } = (await answer.json()) as { traces: { traceID: string; rootTraceName: string }[] };
    const demo = traces.find(({ rootTraceName }) => rootTraceName === "POST /chat")!;
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`traces/${demo.traceID}`);
    await page.getByText("support-agents").first().waitFor();
    await page.getByLabel("Failed").first().waitFor();
    assert.deepEqual(console.problems, []);
  });
});

/** The view "Metrics" in a real browser, with sample telemetry, real calls and pushed metrics of two organizations. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import type { Browser, Locator, Page } from "playwright-core";
import { startScriptedUpstream, type ScriptedUpstream } from "../../server/test/support/scripted-upstream.ts";
import { otlpSender } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const requests = "sum by (model_key) (increase(inference_requests_total[5m]))";
const buckets = "sum by (le) (increase(inference_duration_seconds_bucket[5m]))";
const hostile = `<img src=x onerror="document.title='hacked'">\u202e"} or {a="`;

function address(queries: readonly string[], parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters);
  for (const each of queries) query.append("query", each);
  return `metrics?${query.toString()}`;
}

function parametersOf(page: Page): URLSearchParams {
  return new URL(page.url()).searchParams;
}

/** The editor, once CodeMirror is there. */
async function editorOf(page: Page, name = "Query in PromQL"): Promise<Locator> {
  await page.locator(".query-editor[data-ready=true]").first().waitFor();
  return page.getByRole("textbox", { name });
}

/** Replaces the text as a person does. */
async function retype(editor: Locator, text: string): Promise<void> {
  await editor.press("Control+a");
  await editor.press("Backspace");
  await editor.pressSequentially(text);
}

const result = (page: Page): Locator => page.getByRole("region", { name: "Result" });

describe("the view Metrics", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;
  let browser: Browser;
  let strangerKey: string;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => {
      const { user } = exchange.json as { user?: string };
      if (user === "fails") return exchange.answer({ error: { message: "broken" } }, 500);
      const message = { role: "assistant", content: "Yes." };
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      return exchange.answer({
        id: "c1",
        object: "chat.completion",
        created: 1,
        model: "vendor",
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      });
    });
    stack.defer(() => upstream.close());
    server = stack.use(
      await startConsoleServer(`
engines: { vendor: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [vendor-model] } }
models: { assistant: { targets: [{ engine: vendor, model: vendor-model }], retries: { attempts: 1 } } }
`),
    );
    await sendDemo(server);
    for (const user of ["works", "fails"]) {
      await server.call("/v1/chat/completions", {
        model: "assistant",
        user,
        messages: [{ role: "user", content: "Hello?" }],
      });
    }
    const organization = await administer<{ id: string }>(server, "organizations", { name: "strangers" });
    const permissions = ["telemetry_read", "telemetry_write"];
    const key = await administer<{ secret: string }>(server, "keys", {
      organization_id: organization.id,
      name: "all",
      permissions,
    });
    strangerKey = key.secret;
    await pushMetrics();
    const counted = 'sum(count_over_time(inference_requests_total{model_key="assistant"}[1h]))';
    while ((await value(counted)) !== "2") {
      // Spans of calls are stored in batches, within a second.
    }
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  async function value(query: string): Promise<string | undefined> {
    const response = await fetch(`${server.url}/prometheus/api/v1/query?${new URLSearchParams({ query }).toString()}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
    return data.result[0]?.value[1];
  }

  /** A gauge with many series, one with hostile labels, a native histogram, and one of another organization. */
  async function pushMetrics(): Promise<void> {
    const unixNano = BigInt(Date.now()) * 1_000_000n;
    const startUnixNano = unixNano - 600_000_000_000n;
    const counter = (name: string, attributes: Record<string, unknown>) => ({
      name,
      attributes,
      sum: 3,
      unixNano,
      startUnixNano,
    });
    const own = otlpSender(server.url, server.key);
    await own.metrics({ "service.name": "pusher" }, [
      ...Array.from({ length: 60 }, (_, index) => counter("many.things", { thing: `thing-${index}` })),
      counter("hostile.things", { thing: hostile }),
      counter("hostile.things", { thing: "x".repeat(50_000) }),
      counter("hostile.things", { thing: `${"x".repeat(50_000)}y` }),
    ]);
    await otlpSender(server.url, strangerKey).metrics({ "service.name": "stranger" }, [counter("secret.things", {})]);
    const point = {
      startTimeUnixNano: String(startUnixNano),
      timeUnixNano: String(unixNano),
      count: "6",
      sum: 20,
      scale: 0,
      positive: { offset: 0, bucketCounts: ["1", "2", "3"] },
    };
    const metric = { name: "native.size", exponentialHistogram: { aggregationTemporality: 2, dataPoints: [point] } };
    const response = await fetch(`${server.url}/v1/metrics`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
      body: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] }),
    });
    assert.equal(response.status, 200);
  }

  describe("gallery", () => {
    test("shows the metrics by group with their values, and asks for those in sight only", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      const asked = new Set<string>();
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().endsWith("/observability/metrics"))
          asked.add((request.postDataJSON() as { metric: string }).metric);
      });
      await console.open("metrics");
      const card = page.getByRole("article", { name: "inference requests total" });
      await card.locator("canvas").waitFor();
      const calls = Number((await card.locator("strong").textContent())!.replace(",", ""));
      assert.ok(calls > 100, `${calls} calls`);
      const last = page.getByRole("article", { name: "transcription realtime factor" });
      assert.ok(!asked.has("transcription_realtime_factor"));
      await last.scrollIntoViewIfNeeded();
      await last.locator("canvas").waitFor();
      assert.ok(asked.has("transcription_realtime_factor"));
      assert.deepEqual(console.problems, []);
    });

    test("filters by group, service and model, in the address", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open("metrics?model_key=assistant");
      const card = page.getByRole("article", { name: "inference requests total" });
      await card.locator("strong", { hasText: /^2$/ }).waitFor();
      await page.getByText(/metrics cannot be filtered by model and are not shown/).waitFor();
      await page.getByLabel("Model", { exact: true }).selectOption("gpt-4o");
      await page.waitForURL(/model_key=gpt-4o/);
      await card.locator("strong", { hasNotText: /^2$/ }).waitFor();
      await page.getByLabel("Group", { exact: true }).selectOption("Agents");
      await page.getByRole("heading", { level: 2, name: "Inference" }).waitFor({ state: "detached" });
      await page.goBack();
      await page.getByRole("heading", { level: 2, name: "Inference" }).waitFor();
      assert.deepEqual(console.problems, []);
    });

    test("opens a metric in the explorer", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open("metrics");
      await page.getByRole("link", { name: "Explore inference model usage" }).click();
      await page.waitForURL(/query=/);
      assert.match(parametersOf(page).get("query")!, /^sum by \(model_key\) \(rate\(inference_requests_total/);
      await page.getByRole("button", { name: "gpt-4o-mini" }).waitFor();
    });
  });

  describe("editor", () => {
    test("completes metrics, labels, values and functions of the server, and runs with Enter", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open("metrics?query=");
      const editor = await editorOf(page);
      const option = (name: string | RegExp): Locator => page.getByRole("option", { name });
      await editor.pressSequentially("histogram_qu");
      await option("histogram_quantile").first().waitFor();
      await retype(editor, "many_th");
      await option("many_things_total").click();
      await editor.pressSequentially("{th");
      await option(/^thing$/).waitFor();
      await editor.pressSequentially('ing="thing-5');
      await option("thing-59").waitFor();
      await retype(editor, 'many_things_total{thing="thing-7"}');
      await page.keyboard.press("Escape");
      await page.keyboard.press("Enter");
      await page.waitForURL(/thing-7/);
      await result(page).locator("canvas").waitFor();
      await page.getByRole("button", { name: "many_things_total" }).waitFor();
      assert.deepEqual(console.problems, []);
    });

    test("does not open other views while someone types", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open("metrics?query=");
      const editor = await editorOf(page);
      await editor.pressSequentially("g l?");
      assert.match(page.url(), /metrics/);
      assert.equal(await page.getByRole("dialog").count(), 0);
    });

    test("marks errors in the text, and shows the server's message", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address(["rte(inference_requests_total[5m])"]));
      await page
        .getByRole("alert")
        .filter({ hasText: /unknown function with name "rte", did you mean "rate"/ })
        .waitFor();
      await page.locator(".cm-lintRange-error").first().waitFor();
      await page.getByRole("heading", { name: "The query has an error" }).waitFor();
      const editor = await editorOf(page);
      await retype(editor, "rate(inference_requests_total[5m])");
      await page.getByRole("alert").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Run" }).click();
      await result(page).locator("canvas").waitFor();
      assert.deepEqual(console.problems, []);
    });

    test("remembers queries of this organization, and offers examples", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open("metrics?query=");
      await page.getByRole("button", { name: /Tokens per minute/ }).click();
      await page.getByRole("button", { name: "input" }).waitFor();
      await page.getByRole("link", { name: "Explore with PromQL" }).click();
      await page.getByRole("heading", { name: "Queries to begin with" }).waitFor();
      await page.getByRole("button", { name: "History of Query" }).click();
      await page.getByRole("button", { name: /^sum by \(token_type\)/ }).click();
      await page.getByRole("button", { name: "output" }).waitFor();
      assert.match(parametersOf(page).get("query")!, /token_usage_total/);
    });
  });

  describe("explorer", () => {
    test("shows several queries as lines, stacked and as a table; the address has it all", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address([requests, "sum(increase(inference_requests_total[5m]))"]));
      await page.getByRole("button", { name: "A: gpt-4o-mini" }).click();
      await page.waitForURL(/hide=/);
      await page.getByRole("button", { name: "Stacked" }).click();
      await page.waitForURL(/view=stacked/);
      await page.reload();
      const hidden = page.getByRole("button", { name: "A: gpt-4o-mini", pressed: false });
      await hidden.waitFor();
      await page.getByRole("button", { name: "Stacked", pressed: true }).waitFor();
      await page.getByRole("button", { name: "Table" }).click();
      await page.getByRole("row", { name: /^A \{model_key="gpt-4o-mini"\}/ }).waitFor();
      await page.goBack();
      await hidden.waitFor();
      await page.getByRole("button", { name: "Remove Query B" }).click();
      await page.getByRole("button", { name: "gpt-4o-mini", exact: true }).waitFor();
      assert.deepEqual(parametersOf(page).getAll("query"), [requests]);
      assert.deepEqual(console.problems, []);
    });

    test("evaluates at one time, with the same number as the API", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(
        address(['sum(increase(inference_requests_total{model_key="assistant"}[1h]))'], { mode: "instant" }),
      );
      await page.getByRole("row", { name: "{} 2" }).waitFor();
    });

    test("uses the step that is given, and says when it is too small", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address([requests], { from: "now-7d" }));
      await result(page).locator("canvas").waitFor();
      const field = page.getByRole("textbox", { name: "Step" });
      const sent = page.waitForRequest((request) => request.url().endsWith("query_range"));
      await field.fill("30m");
      await field.press("Enter");
      assert.equal(new URLSearchParams((await sent).postData() ?? "").get("step"), "1800");
      await field.fill("1s");
      await field.press("Enter");
      await page.getByText(/points per series; at most 11,000 are possible/).waitFor();
    });

    test("draws heat maps of classic and native histograms, and says what they need", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address([buckets], { view: "heatmap" }));
      const map = page.getByRole("img", { name: /Heat map of \d+ buckets/ });
      await map.waitFor();
      assert.ok(Number(/of (\d+) buckets/.exec((await map.getAttribute("aria-label"))!)![1]) > 10);
      await console.open(address(["native_size"], { view: "heatmap" }));
      await page.getByRole("img", { name: /Heat map of 3 buckets .* greatest count is 3$/ }).waitFor();
      await console.open(address([requests], { view: "heatmap" }));
      await page.getByRole("heading", { name: "The result has no histograms" }).waitFor();
      assert.deepEqual(console.problems, []);
    });

    test("marks calls on the chart, each a link to its trace", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      const query =
        'sum by (status) (rate(inference_duration_seconds_bucket{model_key="assistant",status!="success"}[5m]))';
      await console.open(address([query]));
      const point = page.getByRole("link", { name: /^Trace of .*failed, assistant$/ });
      await point.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(/console\/traces\/[0-9a-f]{32}\?span=[0-9a-f]{16}$/);
      const [trace_id] = /[0-9a-f]{32}/.exec(page.url())!;
      const response = await server.call("/observability/traces", { trace: "error_traces", trace_id });
      const traces = await response.text();
      assert.match(traces, /chat assistant|vendor-model|assistant/);
      await page.goBack();
      await page.getByRole("button", { name: "Exemplars" }).click();
      await point.waitFor({ state: "detached" });
      assert.match(page.url(), /exemplars=0/);
      assert.deepEqual(console.problems, []);
    });

    test("zooms to a selection, and back", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address([requests], { exemplars: "0" }));
      const plot = result(page).locator(".u-over");
      const { x, y, width, height } = (await plot.boundingBox())!;
      await page.mouse.move(x + width * 0.25, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 5 });
      await page.mouse.up();
      await page.waitForURL(/from=\d{4}/);
      const zoomed = parametersOf(page);
      const minutes = (Date.parse(zoomed.get("to")!) - Date.parse(zoomed.get("from")!)) / 60_000;
      assert.ok(minutes > 12 && minutes < 18, `${minutes} minutes`);
      await page.goBack();
      await page.waitForURL((url) => !url.searchParams.has("from"));
    });

    test("shows the first series of many, and more when asked", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await console.open(address(["many_things_total"]));
      await page.getByText("The first 40 of 60 series are shown").waitFor();
      await page.getByRole("button", { name: "Show 60" }).click();
      await page.getByRole("button", { name: "thing-59" }).waitFor();
    });

    test("cancels a query that takes long", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      await page.route("**/query_range", () => {
        // No answer: the query is still running.
      });
      await console.open(address([requests]));
      const failed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("query_range"));
      await page.getByRole("region", { name: "Queries" }).getByRole("button", { name: "Cancel" }).click();
      assert.match((await failed).failure()!.errorText, /ABORTED/);
      await page.getByRole("heading", { name: "The query was cancelled" }).waitFor();
      await page.unroute("**/query_range");
      await page.getByRole("button", { name: "Run it again" }).click();
      await result(page).locator("canvas").waitFor();
    });

    test("shows commands that return the same in a shell", { skip: needs("curl") }, async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      const query = `sum(inference_requests_total{model_key!="it's $HOME \`id\`"}) or vector(7)`;
      await console.open(address([query], { mode: "instant" }));
      await page.getByRole("button", { name: "Show as curl" }).click();
      const command = (await page.getByRole("dialog").locator("pre").textContent())!;
      const { stdout } = await promisify(execFile)("sh", ["-c", command.replace("curl ", "curl --silent ")], {
        env: { PATH: process.env["PATH"], SOUNDING_API_KEY: server.key, HOME: "/nowhere" },
      });
      assert.equal((JSON.parse(stdout) as { status: string }).status, "success");
    });

    test("says that there is no data", async () => {
      await using console = await openConsole(browser, server);
      await console.open(address(["no_such_metric"]));
      await console.page.getByRole("heading", { name: "No data in this time range" }).waitFor();
    });

    test("shows an error of the server with a way to try again", async () => {
      await using console = await openConsole(browser, server);
      const { page } = console;
      const body = JSON.stringify({ status: "error", errorType: "unavailable", error: "The store is not ready." });
      await page.route("**/query_range", (route) =>
        route.fulfill({ status: 503, contentType: "application/json", body }),
      );
      await console.open(address([requests]));
      await page.getByText("The store is not ready.").waitFor();
      await page.unroute("**/query_range");
      await page.getByRole("button", { name: "Try again" }).click();
      await result(page).locator("canvas").waitFor();
    });
  });

  test("shows hostile labels as text", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    for (const view of ["table", "line"]) {
      await console.open(address(["hostile_things_total"], { view }));
      await result(page).getByText("<img src=x").first().waitFor();
      assert.equal(await result(page).locator("img").count(), 0);
    }
    // Two series whose names differ far behind are two entries of the legend.
    const entries = page.getByRole("button", { name: /^x{100}/ });
    assert.equal(await entries.count(), 2);
    await entries.first().click();
    await page.waitForURL(/hide=/);
    assert.equal(await page.getByRole("button", { name: /^x{100}/, pressed: false }).count(), 1);
    assert.equal(await page.title(), "Metrics · Sounding");
    const text = (await result(page).textContent()) ?? "";
    assert.ok(text.length < 10_000, `${text.length} characters`);
    assert.deepEqual(console.problems, []);
  });

  test("of another organization has its own metrics, and an empty gallery says so", async () => {
    await using console = await openConsole(browser, { url: server.url, key: strangerKey });
    const { page } = console;
    await console.open("metrics");
    const card = page.getByRole("article", { name: "inference active model count" });
    await card.getByText("No data in this time range").waitFor();
    assert.deepEqual(await page.getByLabel("Model", { exact: true }).locator("option").allTextContents(), [
      "All models",
    ]);
    await console.open(address(["many_things_total"]));
    await page.getByRole("heading", { name: "No data in this time range" }).waitFor();
    await console.open("metrics?query=");
    const editor = await editorOf(page);
    await editor.pressSequentially("secret_th");
    await page.getByRole("option", { name: "secret_things_total" }).waitFor();
    await retype(editor, "many_th");
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("option", { name: "many_things_total" }).count(), 0);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible and fits a small screen (${theme})`, async () => {
      await using console = await openConsole(browser, { ...server, theme, viewport: { width: 390, height: 844 } });
      const { page } = console;
      for (const where of [
        "metrics",
        "metrics?query=",
        address([requests]),
        address([buckets], { view: "heatmap" }),
        address([requests, requests], { view: "table" }),
        address(["rat("]),
      ]) {
        await console.open(where);
        if (where !== "metrics") await editorOf(page);
        await page.locator("canvas, table, .metrics-examples, .state").first().waitFor();
        await assertAccessible(page);
        const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        assert.ok(overflow <= 0, `${where} is ${overflow} px too wide`);
      }
      assert.deepEqual(console.problems, []);
    });
  }
});

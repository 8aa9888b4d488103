/** The view "Logs" in a real browser: sample telemetry, own lines over OTLP, two organizations, hostile content. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { otlpSender, type OtlpSender, type SentLog } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const traceId = "5b8efff798038103d269b633813fc60c";
const spanId = "eee19b7ec3c1b174";
const stacktrace = 'Traceback (most recent call last):\n  File "pay.py", line 12, in pay\nCardError: declined';
const secondNanos = 1_000_000_000n;

let server: RunningServer;
let browser: Browser;

interface Tenant {
  readonly id: string;
  readonly url: string;
  readonly key: string;
  readonly sender: OtlpSender;
}

/** An organization with lines of its own. */
async function newTenant(name: string): Promise<Tenant> {
  const { id } = await administer<{ id: string }>(server, "organizations", { name });
  const permissions = ["telemetry_read", "telemetry_write"];
  const body = { organization_id: id, name: "all", permissions };
  const { secret } = await administer<{ secret: string }>(server, "keys", body);
  return { id, url: server.url, key: secret, sender: otlpSender(server.url, secret) };
}

const nowNanos = (): bigint => BigInt(Date.now()) * 1_000_000n;

/** Numbered lines, one a second, the last of which was just written. */
function numbered(count: number, more: SentLog["more"] = { severityNumber: 9 }): SentLog[] {
  const now = nowNanos();
  return Array.from({ length: count }, (_, index) => ({
    unixNano: now - BigInt(count - index) * (secondNanos / 10n),
    body: `line ${index}`,
    more,
  }));
}

const texts = (page: Page): Promise<string[]> => page.locator(".logs-row .logs-text").allTextContents();
const line = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });
const openLine = (page: Page, text: string) => line(page, text).getByRole("button", { name: "details" }).click();

/** As text: this program has no types of pages. */
async function scrollTo(page: Page, top: number | "end"): Promise<void> {
  const list = `document.querySelector(".virtual-list")`;
  await page.evaluate(`${list}.scrollTo(0, ${top === "end" ? `${list}.scrollHeight` : top})`);
}

beforeTests(async (stack) => {
  if (needs("chromium")) return;
  server = stack.use(await startConsoleServer());
  browser = stack.use(await launchBrowser());
});

describe("the lines of the sample telemetry", { skip: needs("chromium"), timeout: 120_000 }, () => {
  beforeTests(() => sendDemo(server));

  test("are counted, filtered by clicks, and found again at the address", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("logs?project=demo");
    await page.locator(".logs-row").first().waitFor();
    await page.getByRole("img", { name: "Lines over time by level" }).waitFor();
    await page
      .locator(".logs-row", { hasText: "support-web" })
      .first()
      .getByRole("button", { name: "details" })
      .click();
    await page.getByRole("button", { name: "Only lines with this service_name" }).click();
    await page.waitForURL(/service_name=support-web/);
    await page.getByText(/^service = support-web$/).waitFor();
    await page.locator(".logs-row .logs-service", { hasNotText: "support-web" }).first().waitFor({ state: "detached" });
    await page.goBack();
    await page.getByText(/^service = support-web$/).waitFor({ state: "detached" });
    await page.locator(".logs-row .logs-service", { hasNotText: "support-web" }).first().waitFor();
    await page.goForward();
    await page.getByRole("button", { name: "Remove the filter service = support-web" }).click();
    await page.waitForURL((url) => !url.searchParams.has("service_name"));
    await page.getByTitle("Only error", { exact: true }).click();
    await page.waitForURL(/severities=error/);
    await page.locator(".logs-row:not(.error)").first().waitFor({ state: "detached" });
    await page.reload();
    await page.locator(".logs-row.error").first().waitFor();
    assert.equal(await page.locator(".logs-row:not(.error)").count(), 0);
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`are accessible in the ${theme} theme, and fit a small screen`, async () => {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 800 },
      ]) {
        await using console = await openConsole(browser, { ...server, theme, viewport });
        const { page } = console;
        await console.open("logs?search=a&exclude_services=nobody");
        await page.locator(".logs-row").first().getByRole("button", { name: "details" }).click();
        await page.locator(".logs-details").waitFor();
        await assertAccessible(page);
        assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
        assert.deepEqual(console.problems, []);
      }
    });
  }
});

describe("the lines of an organization", { skip: needs("chromium"), timeout: 240_000 }, () => {
  test("are searched, with the matches marked and the text in the address", async () => {
    const own = await newTenant("searching");
    await own.sender.logs({ "service.name": "shop" }, [
      { unixNano: nowNanos(), body: "Payment DECLINED (card.*)", more: { severityNumber: 17 } },
      { unixNano: nowNanos(), body: "payment accepted", more: { severityNumber: 9 } },
      { unixNano: nowNanos(), body: `${"long ".repeat(2_000)} declined at the end`, more: { severityNumber: 9 } },
    ]);
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs");
    await line(page, "payment accepted").waitFor();
    await page.keyboard.press("/");
    await page.getByRole("searchbox", { name: "Search the lines" }).pressSequentially("declined");
    await page.waitForURL(/search=declined/);
    await line(page, "payment accepted").waitFor({ state: "detached" });
    assert.deepEqual((await page.locator("mark").allTextContents()).toSorted(), ["DECLINED", "declined"]);
    await page.getByRole("searchbox").fill("(card.*)");
    await page.waitForURL(/search=%28card/);
    await page.locator("mark", { hasText: "(card.*)" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("show all attributes, stack traces and JSON, link the trace, and exclude a value", async () => {
    const own = await newTenant("details");
    const attributes = [
      { key: "exception.stacktrace", value: { stringValue: stacktrace } },
      { key: "user.id", value: { intValue: "42" } },
      { key: "a=b%", value: { stringValue: "odd name" } },
    ];
    await own.sender.logs({ "service.name": "shop", "host.name": "h1" }, [
      { unixNano: nowNanos(), body: "payment failed", more: { severityNumber: 17, traceId, spanId, attributes } },
      { unixNano: nowNanos(), body: { order: { id: "o-1" }, items: ["a", "b"] }, more: { severityNumber: 9 } },
    ]);
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs");
    await openLine(page, "payment failed");
    const opened = line(page, "payment failed");
    assert.equal(await opened.locator("pre", { hasText: "Traceback" }).innerText(), stacktrace);
    const address = await opened.getByRole("link", { name: "Open trace" }).getAttribute("href");
    assert.equal(address, `/console/traces/${traceId}?span=${spanId}`);
    await openLine(page, "o-1");
    const json = JSON.stringify({ order: { id: "o-1" }, items: ["a", "b"] }, null, 2);
    assert.equal(await line(page, "o-1").locator("pre").innerText(), json);
    await opened.getByRole("button", { name: "No lines with this a=b%" }).click();
    await opened.waitFor({ state: "detached" });
    await page.getByText("a=b% ≠ odd name").waitFor();
    await page.reload();
    await line(page, "o-1").waitFor();
    assert.equal(await opened.count(), 0);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await opened.waitFor();
    await openLine(page, "payment failed");
    await opened.getByRole("button", { name: "Only lines with this host_name" }).click();
    await page.getByText("host.name = h1").waitFor();
    await page.getByRole("button", { name: "Add filter" }).click();
    await page.getByLabel("Attribute").fill("trace_id");
    await page.getByLabel("Value").fill("nonsense");
    await page.getByRole("button", { name: "Only these" }).click();
    await page.getByText("A trace_id has 32 hexadecimal digits.").waitFor();
    await page.getByLabel("Value").fill(traceId.toUpperCase());
    await page.getByRole("button", { name: "Only these" }).click();
    await page.waitForURL(new RegExp(`trace_id=${traceId}`));
    await line(page, "o-1").waitFor({ state: "detached" });
    assert.deepEqual(console.problems, []);
  });

  test("are read with the keyboard, copied and downloaded", async () => {
    const own = await newTenant("keyboard");
    await own.sender.logs({ "service.name": "shop" }, numbered(3));
    await using console = await openConsole(browser, own);
    const { page, context } = console;
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await console.open("logs");
    await line(page, "line 2").waitFor();
    for (const key of ["j", "j", "k", "j", "Enter"]) await page.keyboard.press(key);
    const details = page.locator(".logs-details");
    assert.equal(await details.locator("pre").innerText(), "line 1");
    await page.keyboard.press("c");
    while ((await page.evaluate<string>("navigator.clipboard.readText()")) !== "line 1");
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    const saved = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
    assert.deepEqual(
      saved.map((each) => (JSON.parse(each) as { message: string }).message),
      ["line 2", "line 1", "line 0"],
    );
    assert.deepEqual(console.problems, []);
  });

  test("are read page by page while scrolling, each once", async () => {
    const own = await newTenant("paging");
    await own.sender.logs({ "service.name": "shop" }, numbered(3_200));
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs");
    await line(page, "line 3199").waitFor();
    await page.getByText("500 lines so far").waitFor();
    for (const lines of ["2,500 lines so far", "3,200 lines"]) {
      await scrollTo(page, "end");
      await page.getByText(lines, { exact: true }).waitFor();
    }
    await scrollTo(page, "end");
    await page.getByText("line 0", { exact: true }).waitFor();
    assert.deepEqual((await texts(page)).slice(-2), ["line 1", "line 0"]);
    assert.deepEqual(console.problems, []);
  });

  test("are shown around a line, at an address that others can open", async () => {
    const own = await newTenant("context");
    const lines = numbered(60);
    await own.sender.logs({ "service.name": "shop" }, lines);
    await own.sender.logs({ "service.name": "till" }, [{ ...lines[30]!, body: "of another service" }]);
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs?search=line+30");
    await openLine(page, "line 30");
    await page.getByRole("button", { name: "Lines around" }).click();
    const dialog = page.getByRole("dialog", { name: "Around a line of shop" });
    await dialog.getByText("line 40", { exact: true }).waitFor();
    const around = async () => (await dialog.locator(".logs-text").allTextContents()).map((text) => text.slice(5));
    assert.deepEqual(
      await around(),
      Array.from({ length: 21 }, (_, index) => String(40 - index)),
    );
    await page.reload();
    await dialog.getByText("line 20", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "More older lines" }).click();
    await dialog.getByText("line 0", { exact: true }).waitFor();
    await assertAccessible(page);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.waitForURL((url) => !url.searchParams.has("line"));
    assert.deepEqual(console.problems, []);
  });

  test("are those of no other organization, and those of a project with its key", async () => {
    const [own, other] = [await newTenant("own"), await newTenant("other")];
    const at = nowNanos();
    for (const [{ sender }, mark] of [
      [own, "own"],
      [other, "secret"],
    ] as const) {
      for (const project of ["p", "q"])
        await sender.logs({ "service.name": "shop", "project.name": project }, [
          { unixNano: at, body: `${mark} ${project}`, more: { severityNumber: 17, traceId, spanId } },
        ]);
    }
    await using console = await openConsole(browser, own);
    const { page } = console;
    for (const address of ["logs", `logs?trace_id=${traceId}`, "logs?live=1"]) {
      await console.open(address);
      await line(page, "own p").waitFor();
      assert.deepEqual((await texts(page)).toSorted(), ["own p", "own q"]);
      await page
        .getByRole("button", { name: "error2" })
        .or(page.getByRole("button", { name: "error 2" }))
        .waitFor();
    }
    await page.getByRole("combobox", { name: "Project" }).selectOption("q");
    await page.waitForURL(/project=q/);
    await line(page, "own p").waitFor({ state: "detached" });
    const { id: projectId } = await administer<{ id: string }>(server, "projects", {
      organization_id: own.id,
      name: "q",
    });
    const bound = { organization_id: own.id, project_id: projectId, name: "q", permissions: ["telemetry_read"] };
    const { secret } = await administer<{ secret: string }>(server, "keys", bound);
    await using ofProject = await openConsole(browser, { url: server.url, key: secret });
    await ofProject.open("logs");
    await line(ofProject.page, "own q").waitFor();
    assert.deepEqual(await texts(ofProject.page), ["own q"]);
    await console.open("logs?search=secret");
    await page.getByRole("heading", { name: "No lines match" }).waitFor();
    // The ID of another organization's line opens nothing.
    await using stranger = await openConsole(browser, other);
    await stranger.open("logs");
    await openLine(stranger.page, "secret p");
    await stranger.page.getByRole("button", { name: "Lines around" }).click();
    await stranger.page.waitForURL(/line=/);
    await page.goto(stranger.page.url());
    await page.getByText("This line does not exist").waitFor();
    assert.deepEqual([...console.problems, ...ofProject.problems, ...stranger.problems], []);
  });

  test("render harmlessly, whatever they contain", async () => {
    const own = await newTenant("hostile");
    const html = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    const bidi = "\u202egnp.exe\u2066 \u0007 tail";
    const huge = `huge ${"x".repeat(1_000_000)} end`;
    const attributes = [
      { key: html, value: { stringValue: html } },
      { key: bidi, value: { stringValue: `${bidi}\n${html}` } },
    ];
    await own.sender.logs({ "service.name": html, "project.name": "p" }, [
      { unixNano: nowNanos(), body: `first ${html}`, more: { severityNumber: 9, attributes } },
      { unixNano: nowNanos(), body: `second ${bidi}`, more: { severityNumber: 9 } },
      { unixNano: nowNanos(), body: huge, more: { severityNumber: 9 } },
      { unixNano: nowNanos(), body: `{"not": json ${"[".repeat(5_000)}`, more: { severityNumber: 9 } },
    ]);
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs?wrap=1");
    for (const text of ["first", "second", "huge", "not"]) {
      await openLine(page, text);
      await page.locator(".logs-details").first().waitFor();
      await page.keyboard.press("Escape");
    }
    await openLine(page, "first");
    await page.getByRole("button", { name: "No lines with this service_name" }).click();
    await page.getByRole("heading", { name: "No lines match" }).waitFor();
    await page.getByRole("button", { name: "Remove the filter service" }).click();
    await openLine(page, "huge");
    await page.getByRole("button", { name: "Show all 1M characters" }).click();
    await page.getByRole("button", { name: "Show less" }).waitFor();
    const shown = await page.locator(".logs-details pre").first().innerText();
    assert.ok(shown.startsWith(huge));
    assert.equal(await page.locator(".logs img, .logs script").count(), 0);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
    assert.deepEqual(console.problems, []);
  });
});

describe("live lines", { skip: needs("chromium"), timeout: 240_000 }, () => {
  test("appear by themselves, wait while the list is scrolled, and include those that arrive late", async () => {
    const own = await newTenant("live");
    await own.sender.logs({ "service.name": "shop" }, numbered(300));
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs?live=1");
    await line(page, "line 299").waitFor();
    await page.getByText("300 lines, following").waitFor();
    await own.sender.logs({ "service.name": "shop" }, [{ unixNano: nowNanos(), body: "first news" }]);
    await line(page, "first news").waitFor();
    await scrollTo(page, 2000);
    const before = await texts(page);
    await own.sender.logs({ "service.name": "shop" }, [
      { unixNano: nowNanos(), body: "second news" },
      { unixNano: nowNanos(), body: "third news" },
    ]);
    const waiting = page.getByRole("button", { name: "2 new lines" });
    await waiting.waitFor();
    assert.deepEqual(await texts(page), before);
    await waiting.click();
    await line(page, "third news").waitFor();
    await line(page, "second news").waitFor();
    // Older than what each poll reads again.
    const late = nowNanos() - 45n * secondNanos;
    await own.sender.logs({ "service.name": "shop" }, [{ unixNano: late, body: "late news" }]);
    await page.getByText("304 lines, following").waitFor();
    await console.open("logs?search=late+news");
    await line(page, "late news").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("match the filters, and none is shown twice", async () => {
    const own = await newTenant("live filters");
    await using console = await openConsole(browser, own);
    const { page } = console;
    await console.open("logs?live=1&severities=error");
    await page.getByRole("heading", { name: "No logs yet" }).waitFor();
    for (let turn = 0; turn < 3; turn += 1) {
      const lines = [
        { unixNano: nowNanos(), body: `error ${turn}`, more: { severityNumber: 17 } },
        { unixNano: nowNanos(), body: `info ${turn}`, more: { severityNumber: 9 } },
      ];
      // Twice, like an exporter that retries.
      for (let times = 0; times < 2; times += 1) await own.sender.logs({ "service.name": "shop" }, lines);
      await line(page, `error ${turn}`).waitFor();
    }
    assert.deepEqual(await texts(page), ["error 2", "error 1", "error 0"]);
    assert.deepEqual(console.problems, []);
  });
});

test(
  "a store that is off is an error with a reason and a way to try again",
  { skip: needs("chromium"), timeout: 60_000 },
  async () => {
    await using off = await startConsoleServer("", { telemetry: false });
    await using console = await openConsole(browser, off);
    await console.open("logs");
    const alert = console.page.getByRole("alert").filter({ hasText: "telemetry" }).first();
    await alert.waitFor();
    await console.page.getByRole("button", { name: "Try again" }).first().waitFor();
    await assertAccessible(console.page);
    assert.deepEqual(console.problems, []);
  },
);

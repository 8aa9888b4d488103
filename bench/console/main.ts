/**
 * Measures the web console in headless Chromium: `npm run bench:console`. First view, a large trace, many log lines, a fast
 * stream of tokens, and the memory of a live tail.
 */
import { launchBrowser, openConsole, type Browser } from "../../packages/console/test/support/browser.ts";
import { startConsoleServer, type RunningServer } from "../../packages/console/test/support/console-server.ts";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { heapBytes, recordFrames, scrollThrough, type Frames } from "./frames.ts";
import { sendLargeTrace, sendLogs } from "./telemetry.ts";
import { startTokenStream } from "./token-stream.ts";

const quick = process.argv.includes("--quick");
const rounds = quick ? 3 : 9;
const spanCount = 10_000;
const lineCount = quick ? 20_000 : 100_000;
const tokensPerSecond = 200;
const streamSeconds = quick ? 5 : 20;
/** An hour of 20 lines per second, in four minutes. */
const tailLines = quick ? 12_000 : 72_000;
const tailBatches = quick ? 6 : 24;
const batchMs = quick ? 2_000 : 10_000;

interface Row {
  readonly what: string;
  readonly value: string;
  readonly aim: string;
  readonly reached: boolean;
}

await using tokens = await startTokenStream(tokensPerSecond, tokensPerSecond * streamSeconds);
await using server = await startConsoleServer(
  `engines:\n  stream: { type: openai_compatible, base_url: "${tokens.url}" }\nmodels:\n  stream: { targets: [{ engine: stream, model: stream }] }\n`,
);
const browser = await launchBrowser();
const rows: Row[] = [];
try {
  rows.push(...(await firstView(browser, server)));
  rows.push(...(await largeTrace(browser, server)));
  rows.push(...(await tokenStream(browser, server)));
  rows.push(...(await logLines(browser, server)));
  rows.push(...(await liveTail(browser, server)));
} finally {
  await browser.close();
}
process.stdout.write(`${describeMachine({ bound: false })}

| what | measured | aim | |
| ---- | -------: | --: | - |
${rows.map(({ what, value, aim, reached }) => `| ${what} | ${value} | ${aim} | ${reached ? "reached" : "missed"} |`).join("\n")}
`);

/** From the request of the page to the moment when the view's heading is there and its script runs. Empty cache. */
async function firstView(browser: Browser, server: RunningServer): Promise<Row[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await using console = await openConsole(browser, server);
    await console.page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector("main h1") === null) return;
      observer.disconnect();
      globalThis.firstViewMs = performance.now();
    }).observe(document, { childList: true, subtree: true })`);
    await console.open("overview");
    times.push(await console.page.evaluate<number>("globalThis.firstViewMs"));
  }
  return [row("first view interactive, empty cache", quantile(times, 0.5), 1000, "ms")];
}

/** A trace of 10,000 spans: from its data to its rows, and scrolling through all of it. */
async function largeTrace(browser: Browser, server: RunningServer): Promise<Row[]> {
  const traceId = await sendLargeTrace(server, spanCount);
  const times: number[] = [];
  const frames: Frames[] = [];
  for (let round = 0; round < Math.ceil(rounds / 3); round += 1) {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector("main [role=treeitem]") === null) return;
      observer.disconnect();
      requestAnimationFrame(() => { globalThis.usableMs = performance.now(); });
    }).observe(document, { childList: true, subtree: true })`);
    await console.open(`traces/${traceId}`);
    await page.locator("main [role=treeitem]").first().waitFor();
    times.push(
      await page.evaluate<number>(
        'new Promise(requestAnimationFrame).then(() => globalThis.usableMs - performance.getEntriesByType("resource").findLast(({ name }) => name.endsWith("observability/traces")).responseEnd)',
      ),
    );
    frames.push(await recordFrames(page, () => scrollThrough(page, "main .virtual-list")));
  }
  return [
    row(`trace of ${spanCount} spans usable after its data`, quantile(times, 0.5), 1000, "ms"),
    row("longest frame while scrolling the trace", Math.max(...frames.map(({ longestMs }) => longestMs)), 50, "ms"),
  ];
}

async function tokenStream(browser: Browser, server: RunningServer): Promise<Row[]> {
  await using console = await openConsole(browser, server);
  const { page } = console;
  await console.open("playground/chat?model=stream");
  await page.getByRole("textbox", { name: "Message", exact: true }).fill("Tell me everything.");
  const frames = await recordFrames(page, async () => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("word.").first().waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached", timeout: 120_000 });
  });
  return [
    {
      what: `frames per second of a stream of ${tokensPerSecond} tokens/s`,
      value: frames.perSecond.toFixed(1),
      aim: "≥ 58",
      reached: frames.perSecond >= 58,
    },
    row("longest frame of that stream", frames.longestMs, 50, "ms"),
  ];
}

async function logLines(browser: Browser, server: RunningServer): Promise<Row[]> {
  await sendLogs(server, lineCount);
  await using console = await openConsole(browser, server);
  const { page } = console;
  await console.open("logs");
  const list = "main .virtual-list";
  await page.locator(list).waitFor();
  const rowHeight = await page.evaluate<number>(`document.querySelector("${list}-row").offsetHeight`);
  // Reading page by page, as someone who scrolls to the end does.
  await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector("${list}");
    const timer = setInterval(() => {
      list.scrollTop = list.scrollHeight;
      if (list.scrollHeight < ${rowHeight * lineCount * 0.99}) return;
      clearInterval(timer);
      resolve();
    }, 20);
  })`);
  await page.waitForLoadState("networkidle");
  await page.evaluate(`document.querySelector("${list}").scrollTop = 0`);
  const frames = await recordFrames(page, () => scrollThrough(page, list, 600));
  return [
    row(`longest frame while scrolling ${lineCount} log lines`, frames.longestMs, 50, "ms"),
    { what: "frames over 50 ms in that", value: String(frames.slow), aim: "0", reached: frames.slow === 0 },
  ];
}

/** Memory of the page during a live tail, at its end and in its middle: the tail remembers the lines of two minutes. */
async function liveTail(browser: Browser, server: RunningServer): Promise<Row[]> {
  await using console = await openConsole(browser, server);
  const { page } = console;
  await console.open("logs?live=1&from=now-5m");
  await page.locator("main h1").waitFor();
  const heaps: number[] = [];
  for (let batch = 0; batch < tailBatches; batch += 1) {
    const dueMs = Date.now() + batchMs;
    const name = `batch ${batch}, request`;
    await sendLogs(server, tailLines / tailBatches, { fromMs: Date.now() - 500, lengthMs: 400, name });
    await page
      .getByText(`${name} ${tailLines / tailBatches - 1} to`)
      .first()
      .waitFor({ timeout: 60_000 });
    await page.waitForTimeout(Math.max(0, dueMs - Date.now()));
    heaps.push(await heapBytes(page));
  }
  const growth = heaps.at(-1)! / heaps[Math.floor(tailBatches * 0.6)]!;
  return [
    {
      what: `memory of a live tail after ${tailLines} lines, compared with 60 % of them`,
      value: `${(heaps.at(-1)! / 1e6).toFixed(0)} MB, × ${growth.toFixed(2)}`,
      aim: "≤ × 1.1",
      reached: growth <= 1.1,
    },
  ];
}

function row(what: string, value: number, aim: number, unit: string): Row {
  return { what, value: `${value.toFixed(0)} ${unit}`, aim: `≤ ${aim} ${unit}`, reached: value <= aim };
}

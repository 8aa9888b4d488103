/**
 * Takes the pictures of the console that the documentation shows, from a server with sample telemetry:
 * `npm run pictures`. Needs Chromium.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchBrowser, openConsole, type Browser, type Page } from "../packages/console/test/support/browser.ts";
import { sendDemo, startConsoleServer, type RunningServer } from "../packages/console/test/support/console-server.ts";

/** Larger pictures would slow the documentation down. */
const maximumBytes = 150_000;
const folder = fileURLToPath(new URL("../docs/console/pictures/", import.meta.url));

interface Picture {
  readonly name: string;
  readonly theme: "light" | "dark";
  /** Shows what the picture is about. */
  readonly show: (page: Page, open: (address: string) => Promise<void>) => Promise<void>;
}

const traceList = { trace: "agent_traces", time_window: "2h", detail: false, limit: 20, project_name: "demo" };

async function findTrace(server: RunningServer): Promise<string> {
  const response = await server.call("/observability/traces", traceList);
  const { traces } = (await response.json()) as { traces: { traceID: string; summary: { spanCount: number } }[] };
  return traces.toSorted((a, b) => b.summary.spanCount - a.summary.spanCount)[0]!.traceID;
}

function picturesOf(traceId: string): Picture[] {
  return [
    {
      name: "overview",
      theme: "light",
      show: async (page, open) => {
        await open("overview");
        await page.getByRole("heading", { name: "By project" }).waitFor();
      },
    },
    {
      name: "trace",
      theme: "light",
      show: async (page, open) => {
        await open(`traces/${traceId}`);
        await page.getByRole("treeitem", { name: /^chat/ }).first().click();
      },
    },
    { name: "traces", theme: "dark", show: (_, open) => open("traces?project=demo") },
    { name: "logs", theme: "light", show: (_, open) => open("logs?project=demo") },
    { name: "metrics", theme: "dark", show: (_, open) => open("metrics?project=demo") },
    {
      name: "playground",
      theme: "light",
      show: async (page, open) => {
        await open("playground/speech");
        await page.getByRole("button", { name: "Speak", exact: true }).click();
      },
    },
  ];
}

async function take(browser: Browser, server: RunningServer, { name, theme, show }: Picture): Promise<void> {
  await using console = await openConsole(browser, { ...server, theme, viewport: { width: 1200, height: 700 } });
  await show(console.page, console.open);
  await console.page.waitForLoadState("networkidle");
  const path = join(folder, `${name}.png`);
  await console.page.screenshot({ path });
  const { size } = statSync(path);
  if (size > maximumBytes) throw new Error(`${path} has ${size} bytes; at most ${maximumBytes} are allowed.`);
  process.stdout.write(`${path}: ${size} bytes\n`);
}

mkdirSync(folder, { recursive: true });
await using server = await startConsoleServer(
  "telemetry:\n  token_prices:\n    gpt-4o: { input: 2.5, output: 10 }\n    gpt-4o-mini: { input: 0.15, output: 0.6 }\n    claude-sonnet-4-5: { input: 3, output: 15 }\n",
);
await sendDemo(server);
const browser = await launchBrowser();
try {
  for (const picture of picturesOf(await findTrace(server))) await take(browser, server, picture);
} finally {
  await browser.close();
}

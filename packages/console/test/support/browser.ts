/** Headless Chromium for tests of the console: pages that are signed in, and that report what goes wrong in them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";

import { findChromium } from "./chromium.ts";

export type { Browser, Page } from "playwright-core";

/** @param more arguments of Chromium */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...more];
  const { executablePath, env } = await findChromium();
  return chromium.launch({ executablePath, args, env: { ...process.env, ...env } });
}

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address under `/console/` and waits until its view is shown. */
  open(address: string): Promise<void>;
  /** Errors and violations of the content security policy so far, and requests to other hosts. */
  readonly problems: readonly string[];
}

export interface PageOptions {
  readonly url: string;
  /** Signs in with this API key; absent: the page is not signed in. */
  readonly key?: string;
  readonly theme?: "light" | "dark";
  readonly viewport?: BrowserContextOptions["viewport"];
}

/** Every page has its own cookies and storage. */
export async function openConsole(browser: Browser, options: PageOptions): Promise<ConsolePage> {
  const { url, key, theme = "light", viewport = { width: 1280, height: 800 } } = options;
  const context = await browser.newContext({
    colorScheme: theme,
    viewport,
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
  });
  if (key !== undefined) {
    const answer = await context.request.post(`${url}/authentication/sessions`, { data: { key } });
    assert.equal(answer.status(), 201, await answer.text());
  }
  // A slow machine that does other things too.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // Chromium reports responses such as 404 as errors; views show them to people.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    const target = new URL(request.url());
    if (/^(https?|wss?):$/.test(target.protocol) && target.origin !== new URL(url).origin)
      problems.push(`request to another host: ${request.url()}`);
  });
  return {
    page,
    context,
    problems,
    async open(address) {
      await page.goto(`${url}/console/${address}`);
      await page.locator("h1, h2").first().waitFor();
    },
    async [Symbol.asyncDispose]() {
      await context.close();
    },
  };
}

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Fails if the page, as it is now, breaks a rule of WCAG 2.2 A or AA that axe-core can check. */
export async function assertAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  // As text: this program has no types of pages.
  const check = `axe.run(document, ${JSON.stringify({ runOnly: { type: "tag", values: tags } })})`;
  const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>(check);
  assert.deepEqual(
    violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
    ),
    [],
  );
}

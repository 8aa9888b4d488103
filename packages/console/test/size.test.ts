/** The console's size: what a browser loads for the first view, and everything together, compressed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConsoleFiles } from "@sounding/console";
import type { Browser } from "playwright-core";
import { launchBrowser, openConsole } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const firstViewBytes = 100_000;
const allBytes = 375_000;

describe("the console's size", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    [server, browser] = await useAll(stack, [startConsoleServer("", { telemetry: false }), launchBrowser()]);
  });

  test(`is at most ${firstViewBytes / 1000} kB for the first view`, async (t) => {
    await using console = await openConsole(browser, server);
    await console.open("overview");
    const files = await console.page.evaluate<[name: string, bytes: number][]>(
      'performance.getEntriesByType("resource").filter(({ name }) => name.includes("/console/assets/")).map(({ name, encodedBodySize }) => [name, encodedBodySize])',
    );
    assert.ok(files.length > 3 && files.every(([, bytes]) => bytes > 0), JSON.stringify(files));
    const total = files.reduce((sum, [, bytes]) => sum + bytes, 0);
    t.diagnostic(`${total} bytes in ${files.length} files`);
    assert.ok(total <= firstViewBytes, JSON.stringify(files));
  });

  test(`is at most ${allBytes / 1000} kB in total`, async (t) => {
    const files = await readConsoleFiles();
    const total = [...files.values()].reduce((sum, { bytes, compressed }) => sum + (compressed ?? bytes).length, 0);
    t.diagnostic(`${total} bytes in ${files.size} files`);
    assert.ok(total <= allBytes, JSON.stringify([...files].map(([path, { bytes }]) => [path, bytes.length])));
  });
});

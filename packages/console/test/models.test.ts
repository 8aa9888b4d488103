/** The view "Models" in a real browser: the list, targets with a circuit that opens, voices, and who sees what. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser } from "playwright-core";
import { startScriptedUpstream, type ScriptedUpstream } from "../../server/test/support/scripted-upstream.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const hostile = '<img src=x onerror="document.title=1">\u202Egnp';

describe("the view Models", { skip: needs("chromium") }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  let browser: Browser;
  let operatorKey: string;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => exchange.answer({ error: { message: "Broken." } }, 500));
    stack.defer(() => upstream.close());
    server = stack.use(
      await startConsoleServer(`
engines:
  gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [small] }
  broken: { type: openai_compatible, base_url: "${upstream.url}/broken" }
models:
  large: { targets: [{ engine: gpu, model: small, weight: 3 }], fallbacks: [reserve], retries: { attempts: 0 } }
  reserve: { targets: [{ engine: gpu, model: other }], hidden: true, retries: { attempts: 0 } }
  ${JSON.stringify(hostile)}: { targets: [{ engine: gpu, model: third }] }
aliases: { default: large }
routing: { failure_threshold: 2, open_ms: 600000 }
`),
    );
    const permissions = ["admin", "inference", "telemetry_read"];
    const key = await administer<{ secret: string }>(server, "keys", { name: "root", operator: true, permissions });
    operatorKey = key.secret;
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  test("finds models by capability and name, and the address keeps both", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("models");
    await page.getByRole("rowheader", { name: "large also default" }).waitFor();
    await page.getByRole("link", { name: "Speech" }).click();
    await page.getByRole("searchbox").fill("flit");
    await page.waitForURL("**/console/models?capability=speech&search=flit");
    await page.reload();
    await page.getByRole("link", { name: "flite", exact: true }).waitFor();
    assert.deepEqual(await page.getByRole("rowheader").allInnerTexts(), ["flite"]);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("heading", { name: "No model matches" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("moves between rows with j and k, and opens one with Enter", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("models?search=e");
    await page.getByRole("rowheader").first().waitFor();
    const second = await page.locator("[data-row]").nth(1).innerText();
    for (const key of ["j", "j", "j", "k"]) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: second }).waitFor();
    await page.goBack();
    await page.waitForURL("**/console/models?search=e");
    assert.deepEqual(console.problems, []);
  });

  test("shows an operator the circuit that failures open, engines that fail, and hidden models", async () => {
    await using console = await openConsole(browser, { url: server.url, key: operatorKey });
    const { page } = console;
    await console.open("models/large");
    await page.getByText("In service").waitFor();
    const chat = { model: "large", messages: [{ role: "user", content: "Hello?" }] };
    for (let call = 0; call < 2; call++) assert.equal((await server.call("/v1/chat/completions", chat)).status, 502);
    // The page reads the state again on its own.
    await page.getByText("Out of service").waitFor();
    await page.getByText("2 × upstream_failed").waitFor();
    await page.getByText("The model is unavailable:").waitFor();
    await page.getByRole("link", { name: "reserve" }).click();
    await page.getByRole("heading", { level: 1, name: "reserve" }).waitFor();
    await page.getByText("No (hidden)").waitFor();
    await page.getByRole("link", { name: "All models" }).click();
    await page.getByText("The engine broken does not list its models").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("shows a session of two keys what the API key may call, and the operator key's targets", async () => {
    await using console = await openConsole(browser, { url: server.url });
    const { page, context } = console;
    const data = { key: server.key, operator_key: server.operatorKey };
    assert.equal((await context.request.post(`${server.url}/authentication/sessions`, { data })).status(), 201);
    await console.open("models/large");
    await page.getByRole("heading", { name: "Targets" }).waitFor();
    await page.getByRole("link", { name: "Chat with large in the playground" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("shows other keys neither targets nor hidden models nor engines that fail", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("models");
    await page.getByRole("rowheader").first().waitFor();
    assert.equal(await page.getByText("reserve").count(), 0);
    assert.equal(await page.getByText("does not list its models").count(), 0);
    await console.open("models/large");
    await page.getByText("Call it").waitFor();
    assert.equal(await page.getByRole("heading", { name: "Targets" }).count(), 0);
    await console.open("models/absent");
    await page.getByRole("heading", { name: "No such model" }).waitFor();
    // It may be called as gpu/small, although only `small` is listed.
    await console.open("models/gpu/small");
    await page.getByText('"model": "gpu/small"').waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("charts the calls of the model and its aliases, of all projects or one", async () => {
    const chat = { model: "default", messages: [{ role: "user", content: "Hello?" }] };
    assert.ok((await server.call("/v1/chat/completions", chat)).status >= 500);
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("models/large?from=now-15m&live=1");
    const calls = page.locator("section", { has: page.getByRole("heading", { name: "Calls", exact: true }) }).last();
    await calls.getByText("failure").waitFor();
    await calls.getByRole("img", { name: "Calls over time" }).waitFor();
    await console.open("models/large?from=now-15m&project=another");
    await calls.getByText("Nothing in this time range").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("plays a sample of a voice with an ordinary call, and links to the playground", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("models/flite");
    const spoken = page.waitForResponse((response) => response.url().endsWith("/v1/audio/speech"));
    await page.getByRole("button", { name: "Play a sample of slt" }).click();
    const response = await spoken;
    assert.equal(response.status(), 200);
    const { voice, input } = response.request().postDataJSON() as { voice: string; input: string };
    assert.deepEqual([voice, input.length > 0], ["slt", true]);
    await page.getByRole("button", { name: "sample of slt" }).waitFor();
    await page.getByRole("link", { name: "Speak with flite in the playground" }).click();
    await page.waitForURL("**/console/playground/speech?model=flite");
    assert.deepEqual(console.problems, []);
  });

  test("shows names of others as plain text", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open(`models/${encodeURIComponent(hostile)}`);
    const title = page.getByRole("heading", { level: 1 });
    assert.equal(await title.innerText(), hostile);
    assert.equal(await title.locator("img").count(), 0);
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 800 },
      ]) {
        await using console = await openConsole(browser, { url: server.url, key: operatorKey, theme, viewport });
        const { page } = console;
        for (const [address, shown] of [
          ["models", "sounding-trial"],
          ["models/large", "Tokens"],
          ["models/flite", "Voices"],
        ] as const) {
          await console.open(address);
          await page.getByText(shown, { exact: true }).first().waitFor();
          await assertAccessible(page);
          const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
          assert.equal(overflow, 0, address);
        }
        assert.deepEqual(console.problems, []);
      }
    });
  }
});

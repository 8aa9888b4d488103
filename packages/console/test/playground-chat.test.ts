/** The chat playground in a real browser, with a scripted upstream: from a message to its answer, and everything that can go wrong. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { startScriptedUpstream, type ScriptedUpstream } from "../../server/test/support/scripted-upstream.ts";
import { assertAccessible, launchBrowser, openConsole, type PageOptions } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { hostileText, scriptedChat, type ScriptedRequest } from "./support/scripted-chat.ts";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs, python } from "../../../test/support/needs.ts";
import { childEnvironment } from "../../../test/support/child-environment.ts";

/** A picture of one pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

describe("the chat playground", { skip: needs("chromium") }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  let browser: Browser;
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(scriptedChat);
    stack.defer(() => upstream.close());
    const config = `
engines: { vendor: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [alpha-up, beta-up] } }
telemetry: { token_prices: { alpha: { input: 1, output: 4 } } }
models:
  alpha: { targets: [{ engine: vendor, model: alpha-up }], retries: { attempts: 1 } }
  beta: { targets: [{ engine: vendor, model: beta-up }], retries: { attempts: 1 } }
`;
    [server, browser] = await useAll(stack, [startConsoleServer(config), launchBrowser()]);
  });

  const openChat = async (query = "?model=alpha", options: Partial<PageOptions> = {}) => {
    const opened = await openConsole(browser, { ...server, ...options });
    await opened.open(`playground/chat${query}`);
    await messageField(opened.page).waitFor();
    return opened;
  };
  const lastRequest = (): ScriptedRequest => upstream.exchanges.at(-1)!.json as ScriptedRequest;

  test("streams answers of a conversation with a system prompt and parameters, which the address keeps", async () => {
    await using console = await openChat();
    const { page } = console;
    await page.getByLabel("System prompt").fill("Be brief.");
    await page.getByLabel("Temperature").fill("0.5");
    await page.getByLabel("Seed").fill("7");
    await page.getByLabel("Stop sequences").fill("END\n\\n\\n");
    await page.getByLabel("Other parameters").fill('{"top_k": 3}');
    await ask(page, "one");
    await page.getByText("alpha-up heard 2 messages: one").waitFor();
    await ask(page, "two");
    await page.getByText("alpha-up heard 4 messages: two").waitFor();
    assert.deepEqual(lastRequest(), {
      model: "alpha-up",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "one" },
        { role: "assistant", content: "alpha-up heard 2 messages: one" },
        { role: "user", content: "two" },
      ],
      temperature: 0.5,
      seed: 7,
      stop: ["END", "\n\n"],
      top_k: 3,
      stream: true,
      stream_options: { include_usage: true },
    });
    await page.waitForURL(/model=alpha&temperature=0.5&stop=END%0A%5Cn%5Cn&seed=7$/);
    await page.reload();
    await page.getByText("alpha-up heard 4 messages: two").waitFor();
    assert.equal(await page.getByLabel("Seed").inputValue(), "7");
    assert.equal(await page.getByLabel("System prompt").inputValue(), "Be brief.");
    assert.deepEqual(console.problems, []);
  });

  test("shows what an answer took and cost, and opens its trace", async () => {
    await using console = await openChat();
    const { page } = console;
    await ask(page, "think of blue");
    const answer = page.getByRole("article");
    await answer.getByText("12 in, 40 out").waitFor();
    await answer.getByText("stop", { exact: true }).waitFor();
    await answer.getByText("0.00017", { exact: true }).waitFor();
    assert.equal(await answer.getByText("First I consider the sea.").count(), 0);
    await answer.getByText("Reasoning").click();
    await answer.getByText("First I consider the sea.").waitFor();
    assert.equal(await answer.locator("strong").innerText(), "Blue");
    assert.equal(await answer.locator("p code").innerText(), "#00f");
    assert.equal(await answer.locator("li").count(), 2);
    assert.equal(await answer.locator("pre").innerText(), "a { color: blue; }");
    await answer.getByRole("link", { name: "Trace" }).click();
    await page.waitForURL(/\/console\/traces\/[0-9a-f]{32}/);
    const traceId = /traces\/([0-9a-f]{32})/.exec(page.url())![1]!;
    const response = await server.call("/observability/traces", { trace: "all_traces", trace_id: traceId });
    const { traces } = (await response.json()) as { traces: { rootTraceName: string }[] };
    assert.deepEqual(
      traces.map(({ rootTraceName }) => rootTraceName),
      ["chat alpha"],
    );
  });

  test("stops a call at the upstream too, also when the view is left", async () => {
    await using console = await openChat();
    const { page } = console;
    for (const stop of [
      () => page.getByRole("button", { name: "Stop", exact: true }).click(),
      () => page.keyboard.press("Escape"),
      async () => {
        await page.getByRole("log").focus();
        await page.keyboard.press("Escape");
        await page.keyboard.press("/");
        assert.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), "Message");
      },
      () => page.getByRole("link", { name: "Models" }).first().click(),
    ]) {
      const aborts = upstream.aborts;
      await ask(page, "stall");
      await page.getByText("The beginning").last().waitFor();
      await stop();
      await upstream.until(() => upstream.aborts === aborts + 1, "the upstream's connection ends");
    }
    await page.goBack();
    await page.getByText("The beginning").last().waitFor();
    assert.equal(await page.getByText("Stopped.").count(), 4);
    assert.deepEqual(console.problems, []);
  });

  test("shows a stream that breaks off as incomplete", async () => {
    await using console = await openChat();
    const { page } = console;
    await ask(page, "break");
    const answer = page.getByRole("article");
    await answer.getByRole("alert").getByText("The answer is incomplete").waitFor();
    await answer.getByText("Half of an").waitFor();
    const requests = upstream.exchanges.length;
    await answer.getByRole("button", { name: "Try again" }).click();
    await upstream.until(() => upstream.exchanges.length > requests, "the message is sent again");
    await answer.getByRole("alert").waitFor();
    assert.equal(await answer.count(), 1);
  });

  test("calls a tool with the result that the user writes", async () => {
    await using console = await openChat();
    const { page } = console;
    const tools = page.getByLabel("Tools", { exact: true });
    await tools.fill('[{"type": "function", "function": {"name": ""}}]');
    await page.getByText("tools[0].function.name is").waitFor();
    await tools.fill('[{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]');
    await page.getByLabel("Tool choice").selectOption("get_weather");
    await ask(page, "weather?");
    const call = page.getByRole("group", { name: "Call of the tool get_weather" });
    await call.getByText('"city": "Lisbon"').waitFor();
    assert.deepEqual((lastRequest() as { tool_choice?: unknown }).tool_choice, {
      type: "function",
      function: { name: "get_weather" },
    });
    assert.ok(await page.getByRole("button", { name: "Send the result and continue" }).isDisabled());
    await call.getByLabel("Result of get_weather").fill("sunny");
    await page.getByRole("button", { name: "Send the result and continue" }).click();
    await page.getByText("It is sunny there.").waitFor();
    assert.deepEqual(lastRequest().messages.slice(1), [
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Lisbon"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
    ]);
    assert.deepEqual(console.problems, []);
  });

  test("checks parameters before it sends, and JSON answers afterwards", async () => {
    await using console = await openChat();
    const { page } = console;
    const requests = upstream.exchanges.length;
    await page.getByLabel("Temperature").fill("2.1");
    await page.getByText("Enter a number from 0 to 2.").waitFor();
    await page.getByLabel("Response format").selectOption("json_schema");
    await page.getByText("Enter a JSON schema, or select another format.").waitFor();
    const schema = page.getByRole("textbox", { name: "JSON schema" });
    await schema.fill('{\n  "type": "object"\n  "properties": {}\n}');
    await page.getByText('Not JSON at line 3, column 3: expected "," or "}", found "\\"".').waitFor();
    await ask(page, "json please");
    await page.waitForFunction("document.activeElement.getAttribute('aria-invalid') === 'true'");
    await page.getByRole("button", { name: "2 parameters to correct" }).waitFor();
    assert.equal(upstream.exchanges.length, requests);
    await page.getByLabel("Temperature").fill("");
    await schema.fill('{"type": "object"}');
    await messageField(page).press("Enter");
    await page.getByText("Invalid JSON").waitFor();
    await page.getByText('line 1, column 16: expected "," or "}"').waitFor();
    assert.deepEqual(lastRequest().response_format, {
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: true },
    });
  });

  test("shows errors of the server with what to do", async () => {
    await using console = await openChat();
    const { page } = console;
    await ask(page, "refuse");
    const alert = page.getByRole("alert");
    await alert.getByText("Too many requests").waitFor();
    await alert.getByRole("button", { name: /^Try again in (20|19|18) s$/ }).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByLabel("Other parameters").fill('{"logit_bias": {"7": 300}}');
    await ask(page, "one");
    await page.getByText("“logit_bias[7]” was not accepted").waitFor();
    const field = page.getByLabel("Other parameters");
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    await field.fill("");
    assert.equal(await field.getAttribute("aria-invalid"), "false");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("alpha-up heard 1 messages: one").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("alpha-up heard 1 messages: one").waitFor();
  });

  test("sends images that are selected, pasted or dropped, within limits", async () => {
    await using console = await openChat();
    const { page } = console;
    await page.locator('input[type="file"]').setInputFiles([
      { name: "a.png", mimeType: "image/png", buffer: png },
      { name: "b.pdf", mimeType: "application/pdf", buffer: png },
      { name: "c.png", mimeType: "image/png", buffer: Buffer.alloc(8_000_001) },
    ]);
    await page.getByText("“b.pdf” is not an image of a known type.").waitFor();
    await page.getByText("“c.png” has 8 MB; at most 8 MB are allowed.").waitFor();
    const transfer = (event: string) => `{
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob("${png.toString("base64")}"), (c) => c.charCodeAt(0))], "${event}.png", { type: "image/png" }));
      const target = document.querySelector('[aria-label="Message"]');
      target.dispatchEvent(${
        event === "paste"
          ? 'new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })'
          : 'new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })'
      });
    }`;
    for (const event of ["paste", "drop"]) {
      await page.evaluate(transfer(event));
      await page.getByRole("img", { name: `${event}.png` }).waitFor();
    }
    await page.getByRole("button", { name: "Remove the image drop.png" }).click();
    await ask(page, "What is this?");
    await page.getByText("alpha-up heard 1 messages").waitFor();
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${png.toString("base64")}` } };
    assert.deepEqual(lastRequest().messages, [
      { role: "user", content: [{ type: "text", text: "What is this?" }, image, image] },
    ]);
    assert.deepEqual(console.problems, []);
  });

  test("shades tokens by probability, with alternatives for pointer and keyboard", async () => {
    await using console = await openChat();
    const { page } = console;
    await page.getByLabel("Log probabilities").fill("2");
    await ask(page, "probable");
    const tokens = page.getByRole("application");
    await tokens.locator('[data-index="4"]').waitFor();
    const alternatives = page.getByRole("table");
    await tokens.locator('[data-index="2"]').hover();
    assert.match(await alternatives.innerText(), /" cat"\s+36\.8 %\s+" other2"\s+4\.98 %/);
    await page.mouse.move(0, 0);
    await alternatives.waitFor({ state: "hidden" });
    await tokens.focus();
    await page.keyboard.press("End");
    assert.match(await alternatives.innerText(), /" Oslo"\s+13\.5 %/);
    await page.keyboard.press("ArrowLeft");
    assert.match(await alternatives.innerText(), /","\s+22\.3 %/);
    await page.keyboard.press("Escape");
    await alternatives.waitFor({ state: "hidden" });
    const { logprobs, top_logprobs } = lastRequest() as { logprobs?: unknown; top_logprobs?: unknown };
    assert.deepEqual({ logprobs, top_logprobs }, { logprobs: true, top_logprobs: 2 });
    await page.getByRole("button", { name: "Probabilities" }).click();
    await page.getByText("Red, cat, Oslo").waitFor();
  });

  test("compares two models, each with its own answers", async () => {
    await using console = await openChat("?model=alpha&compare=beta");
    const { page } = console;
    await ask(page, "one");
    await page.getByText("beta-up heard 1 messages: one").waitFor();
    await ask(page, "two");
    await page.getByRole("article", { name: "Answer of alpha" }).getByText("heard 3 messages").waitFor();
    await page.getByRole("article", { name: "Answer of beta" }).getByText("heard 3 messages").waitFor();
    const requests = upstream.exchanges.slice(-2).map(({ json }) => json as ScriptedRequest);
    for (const { model, messages } of requests) assert.equal(messages[1]!.content, `${model} heard 1 messages: one`);
    assert.deepEqual(requests.map(({ model }) => model).toSorted(), ["alpha-up", "beta-up"]);
    await page.getByRole("button", { name: "Stop comparing" }).click();
    await page.waitForURL(/\?model=alpha$/);
  });

  test("edits a message, and regenerates an answer, without what follows", async () => {
    await using console = await openChat();
    const { page } = console;
    for (const text of ["one", "two", "three"]) await ask(page, text);
    await page.getByText("alpha-up heard 5 messages: three").waitFor();
    await page.getByRole("button", { name: "Edit the message" }).nth(1).click();
    const editor = page.getByRole("textbox", { name: "Edit the message" });
    assert.equal(await editor.inputValue(), "two");
    await editor.fill("four");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("alpha-up heard 3 messages: four").waitFor();
    assert.equal(await page.getByRole("article").count(), 2);
    await page.getByRole("button", { name: "Regenerate" }).first().click();
    await page.getByRole("article").nth(1).waitFor({ state: "detached" });
    await page.getByText("alpha-up heard 1 messages: one").waitFor();
  });

  test("shows hostile answers as text", async () => {
    await using console = await openChat();
    const { page } = console;
    await ask(page, "hostile");
    const answer = page.getByRole("article");
    await answer.getByText("an honest link").waitFor();
    await sendIsShown(page);
    assert.equal(await page.title(), "Playground · Sounding");
    assert.equal(await answer.locator("img, script, iframe, b").count(), 0);
    const links = await answer
      .locator('a[href^="http"][target]')
      .evaluateAll((found) =>
        found.map((link) => ["href", "rel"].map((name) => (link as unknown as Attributes).getAttribute(name))),
      );
    const rel = "noopener noreferrer nofollow";
    // The address of the image is a link that nobody follows but a person.
    assert.deepEqual(links, [
      ["https://sounding.example/path", rel],
      ["https://evil.example/x.png", rel],
    ]);
    assert.equal(await answer.locator('a[href^="javascript"]').count(), 0);
    for (const text of hostileText.split("\n\n").slice(0, 1)) await answer.getByText(text, { exact: true }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("follows the newest text until someone scrolls up", async () => {
    await using console = await openChat();
    const { page } = console;
    for (let count = 1; count <= 3; count++) {
      await ask(page, "long");
      await page
        .getByRole("article")
        .nth(count - 1)
        .getByText("stop", { exact: true })
        .waitFor();
    }
    await untilAtEnd(page);
    await page.getByRole("log").hover();
    await page.mouse.wheel(0, -10_000);
    const latest = page.getByRole("button", { name: "Latest" });
    await latest.waitFor();
    // The browser scrolls in steps.
    await page.waitForFunction("document.querySelector('[role=log]').scrollTop === 0");
    const requests = upstream.exchanges.length;
    await page.getByRole("button", { name: "Regenerate" }).last().dispatchEvent("click");
    await upstream.until(() => upstream.exchanges.length > requests, "the answer is generated again");
    await sendIsShown(page);
    assert.equal(await page.evaluate("document.querySelector('[role=log]').scrollTop"), 0);
    await latest.click();
    await latest.waitFor({ state: "detached" });
    await untilAtEnd(page);
  });

  test("works with the model that comes with the server", async () => {
    await using console = await openChat("?model=sounding-trial");
    const { page } = console;
    await page.getByRole("button", { name: "Explain something" }).click();
    const answer = page.getByRole("article", { name: "Answer of sounding-trial" });
    await answer.getByText("stop", { exact: true }).waitFor();
    await page.locator('input[type="file"]').setInputFiles({ name: "a.png", mimeType: "image/png", buffer: png });
    await page.getByRole("img", { name: "a.png" }).waitFor();
    await ask(page, "What is this?");
    await page.getByText("The message was not accepted").waitFor();
    await page.getByText("the model accepts only text").waitFor();
  });

  test("opens a recorded call with its model, parameters, messages and answer", async () => {
    const call = async (traceId: string, body: object): Promise<void> => {
      const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
      await (await server.call("/v1/chat/completions", { model: "beta", ...body }, { traceparent })).text();
      for (;;) {
        const found = await server.call("/observability/traces", { trace: "all_traces", trace_id: traceId });
        if (((await found.json()) as { traces: unknown[] }).traces.length > 0) return;
      }
    };
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "weather?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_9", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_9", content: "cold" },
      { role: "assistant", content: "Cold." },
      { role: "user", content: "And tomorrow?" },
    ];
    const first = "1".repeat(32);
    await call(first, { messages, temperature: 0.3, stream: true });
    await using console = await openChat(`?from_trace=${first}`);
    const { page } = console;
    await page.getByText("Prompts and answers were not recorded.").waitFor();
    assert.equal(await page.getByLabel("Temperature").inputValue(), "0.3");
    await page.waitForURL(/\/chat\?model=beta&temperature=0.3$/);
    await recordContent(server);
    const second = "2".repeat(32);
    await call(second, { messages, temperature: 0.4, stop: ["\n"], stream: true });
    await console.open(`playground/chat?from_trace=${second}`);
    await page.getByText("And tomorrow?").first().waitFor();
    await page.getByText("beta-up heard 6 messages: And tomorrow?").waitFor();
    assert.equal(await page.getByLabel("Temperature").inputValue(), "0.4");
    assert.equal(await page.getByLabel("Stop sequences").inputValue(), "\\n");
    assert.equal(await page.getByLabel("System prompt").inputValue(), "Be brief.");
    await page.getByRole("button", { name: "Regenerate" }).last().click();
    await page.getByText("12 in, 40 out").waitFor();
    assert.deepEqual(lastRequest().messages, messages);
    await console.open(`playground/chat?from_trace=${"3".repeat(32)}`);
    await page.getByText("No trace has the ID 333").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("shows code that sends the same request", async (context) => {
    await using console = await openChat();
    const { page } = console;
    await page.getByLabel("System prompt").fill('It\'s "quoted" $HOME `x` \\n');
    await page.getByLabel("Temperature").fill("0.5");
    await page.getByLabel("Reasoning effort").selectOption("low");
    await page.getByLabel("Other parameters").fill('{"top_k": 3, "metadata": {"on": true, "off": null}}');
    await page.getByLabel("Tools", { exact: true }).fill('[{"type": "function", "function": {"name": "f"}}]');
    await ask(page, "größer 🎧");
    await page.getByRole("button", { name: "Code", exact: true }).click();
    const sent = lastRequest();
    const code = page.getByRole("dialog").locator("pre");
    const directory = await mkdtemp(join(import.meta.dirname, "code-"));
    try {
      for (const [language, file, command, skip] of [
        ["curl", "call.sh", "sh", needs("curl")],
        ["TypeScript", "call.ts", process.execPath, false],
        ["Python", "call.py", python, needs("python")],
      ] as const) {
        await context.test(language, { skip }, async () => {
          await page.getByRole("button", { name: language, exact: true }).click();
          await writeFile(join(directory, file), await code.innerText());
          const { stdout } = await promisify(execFile)(command, [join(directory, file)], {
            env: { ...childEnvironment, SOUNDING_API_KEY: server.key },
          });
          assert.match(stdout, language === "curl" ? /\[DONE\]/ : /^alpha-up heard 2 messages: größer 🎧$/m);
          assert.deepEqual(lastRequest(), sent);
        });
      }
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      await using console = await openChat("?model=alpha", { theme, viewport: { width: 390, height: 800 } });
      const { page } = console;
      await assertAccessible(page);
      await page.getByRole("button", { name: "Settings" }).click();
      await page.getByLabel("Temperature").fill("3");
      await assertAccessible(page);
      await page.getByLabel("Temperature").fill("");
      await page.getByLabel("Log probabilities").fill("1");
      await page.getByRole("button", { name: "Settings" }).click();
      for (const text of ["think", "weather", "probable", "break", "refuse"]) await ask(page, text);
      await page.getByRole("alert").last().waitFor();
      await assertAccessible(page);
      assert.equal(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), 0);
      await page.getByRole("button", { name: "Code", exact: true }).first().click();
      await page.getByRole("dialog").getByText("chat/completions").waitFor();
      await assertAccessible(page);
      assert.deepEqual(console.problems, []);
    });
  }
});

/** From now on, the project of the ordinary key records prompts and answers. */
async function recordContent({ url, operatorKey }: RunningServer): Promise<void> {
  const headers = { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" };
  const found = await fetch(`${url}/admin/v1/projects`, { headers });
  const { data } = (await found.json()) as { data: { id: string }[] };
  for (const { id } of data) {
    const body = JSON.stringify({ settings: { record_content: true } });
    const changed = await fetch(`${url}/admin/v1/projects/${id}`, { method: "PATCH", headers, body });
    assert.equal(changed.status, 200, await changed.text());
  }
}

interface Attributes {
  getAttribute(name: string): string | null;
}

function messageField(page: Page) {
  return page.getByRole("textbox", { name: "Message", exact: true });
}

async function sendIsShown(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

/** Waits until the conversation shows its end. */
async function untilAtEnd(page: Page): Promise<void> {
  const fromEnd =
    '(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector("[role=log]"))';
  while ((await page.evaluate<number>(fromEnd)) >= 2);
}

/** Sends a message once the last answer is complete. */
async function ask(page: Page, text: string): Promise<void> {
  await sendIsShown(page);
  await messageField(page).fill(text);
  await messageField(page).press("Enter");
}

/** Conversations in a real browser: the list, and the turns of one with their prompts and answers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { otlpSender, type SentSpan } from "../../../test/support/otlp-sender.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { administer, sendDemo, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const hostile = '<img src=x onerror="document.title=1">/../../x/..\u202e %2F';
const second = 1_000_000_000n;

/** A turn as an application reports it: the request, and the call of a model within. */
function turn(number: number, conversation: string, content: Readonly<Record<string, string>>): SentSpan[] {
  const traceId = number.toString(16).padStart(32, "c");
  const startUnixNano = BigInt(Date.now() - 600_000) * 1_000_000n + BigInt(number) * 5n * second;
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "large",
    "gen_ai.conversation.id": conversation,
    "gen_ai.usage.input_tokens": 1000n,
    "gen_ai.usage.output_tokens": 100n,
    ...content,
  };
  return [
    { traceId, spanId: "1".repeat(16), name: "POST /turn", startUnixNano, duration: 3n * second },
    {
      traceId,
      spanId: "2".repeat(16),
      name: "chat large",
      startUnixNano,
      duration: 2n * second,
      attributes,
      more: { parentSpanId: "1".repeat(16) },
    },
  ];
}

const messages = (role: string, ...parts: object[]): string => JSON.stringify([{ role, parts }]);
const text = (content: string): object => ({ type: "text", content });

describe("conversations", { skip: needs("chromium"), timeout: 300_000 }, () => {
  let server: RunningServer;
  let browser: Browser;
  /** The key of another organization, which has hostile conversations. */
  let otherKey: string;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("telemetry: { token_prices: { large: { input: 1, output: 10 } } }"));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
    await sendDemo(server);
    const resource = { "service.name": "travel-agent", "project.name": "travel" };
    const answered = Array.from({ length: 12 }, (_, index) =>
      turn(index + 1, "trip/42", {
        "gen_ai.system_instructions": JSON.stringify([text("You plan trips.")]),
        "gen_ai.input.messages": messages("user", text(`Question ${index + 1}?`), { type: "image_url" }),
        "gen_ai.output.messages": messages(
          "assistant",
          { type: "reasoning", content: "Let me think." },
          text(`Answer ${index + 1}. ${"long ".repeat(index === 11 ? 1000 : 0)}`),
          { type: "tool_call", id: "c", name: "look_up_train", arguments: { number: "ICE 513" } },
        ),
      }),
    );
    const sender = otlpSender(server.url, server.key);
    await sender.spans(resource, answered.flat());
    await sender.spans({ ...resource, "project.name": "quiet" }, turn(100, "visit/43", {}));
    const { id } = await administer<{ id: string }>(server, "organizations", { name: "hostile" });
    const body = { organization_id: id, name: "all", permissions: ["telemetry_read", "telemetry_write"] };
    otherKey = (await administer<{ secret: string }>(server, "keys", body)).secret;
    const megabyte = "<b>x</b>".repeat(131_072);
    await otlpSender(server.url, otherKey).spans(resource, [
      ...turn(1, hostile, {
        "gen_ai.input.messages": messages("user", text(`<script>document.title=2</script>${megabyte}`)),
        "gen_ai.output.messages": messages("assistant", text(hostile), {
          type: "tool_call",
          name: hostile,
          arguments: hostile,
        }),
      }),
      ...turn(2, hostile, { "gen_ai.input.messages": messages(hostile, text(hostile)) }),
    ]);
  });

  const rows = (page: Page) =>
    page
      .getByRole("table", { name: "Conversations" })
      .getByRole("row")
      .filter({ has: page.getByRole("link") });

  test("are listed with turns, calls, errors, tokens, cost and models, and filtered", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("conversations");
    await page.getByRole("searchbox").fill("TRIP");
    await page.keyboard.press("Enter");
    await page.waitForURL(/search=TRIP/);
    await page.getByText("1 conversation", { exact: true }).waitFor();
    const cells = await rows(page).first().getByRole("cell").allInnerTexts();
    assert.deepEqual(
      [cells[0], ...cells.slice(3)],
      ["trip/42", "12", "12", "–", "travel-agent", "large", "12k / 1,200", "0.0240"],
    );
    await page.getByRole("combobox", { name: "Project" }).selectOption("demo");
    await page.getByRole("heading", { name: "No conversations match" }).waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await rows(page).nth(3).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("show prompt, answer, reasoning, tool calls and numbers of each turn, in order, linked to its trace", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("conversations?search=trip");
    await rows(page).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/conversations/trip/42");
    await page.reload();
    const turns = page.getByRole("article", { name: /^Turn \d+$/ });
    await turns.nth(9).waitFor();
    assert.deepEqual(await labelsOf(page), numbers(3, 12));
    await page.getByRole("button", { name: "Show earlier turns" }).click();
    await turns.nth(11).waitFor();
    assert.deepEqual(await labelsOf(page), numbers(1, 12));
    const first = turns.first();
    await first.getByText("Question 1?").waitFor();
    await first.getByText("Answer 1.").waitFor();
    await first.getByText("look_up_train").waitFor();
    await first.getByText('"number": "ICE 513"').waitFor();
    await first.getByText("Image").waitFor();
    assert.equal(await first.getByText("Let me think.").isVisible(), false);
    await first.getByText("Reasoning").click();
    await first.getByText("Let me think.").waitFor();
    await first.getByText("1,000 / 100 tokens").waitFor();
    await first.getByText("cost 0.0020").waitFor();
    const last = turns.last();
    await last.getByRole("button", { name: /^Show all/ }).click();
    await last.getByRole("button", { name: "Show less" }).waitFor();
    assert.equal(await page.getByText("were not recorded").count(), 0);
    await first.getByRole("link", { name: "Open trace" }).click();
    await page.waitForURL(`**/console/traces/${"1".padStart(32, "c")}`);
    assert.deepEqual(console.problems, []);
  });

  test("say how prompts and answers are recorded where they are not", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("conversations?project=quiet");
    await rows(page).first().getByRole("link").click();
    await page.getByText("sounding project update quiet --record-content").waitFor();
    await page.getByRole("article", { name: "Turn 1" }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(console.problems, []);
  });

  test("show hostile content as text, and only to its organization", async () => {
    await using console = await openConsole(browser, { url: server.url, key: otherKey });
    const { page } = console;
    await console.open("conversations");
    await rows(page).first().waitFor();
    assert.equal(await rows(page).count(), 1);
    await rows(page).first().getByRole("link").click();
    await page.getByRole("article", { name: "Turn 2" }).waitFor();
    await page.getByText(/^<script>document.title=2/).waitFor();
    assert.equal(await page.locator(".view img, .view b, .view script").count(), 0);
    assert.equal(await page.title(), "Conversations · Sounding");
    const shown = await page.evaluate<number>("document.body.textContent.length");
    assert.ok(shown < 20_000, `${shown} characters are shown`);
    await page.reload();
    await page.getByRole("article", { name: "Turn 2" }).waitFor();
    await console.open("conversations/trip/42");
    await page.getByRole("heading", { name: "This conversation was not found" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`are accessible in the ${theme} theme, and fit a small screen`, async () => {
      await using console = await openConsole(browser, { ...server, theme, viewport: { width: 390, height: 800 } });
      const { page } = console;
      for (const [address, selector] of [
        ["conversations", ".conversations-row a"],
        ["conversations/trip/42", ".message"],
      ] as const) {
        await console.open(address);
        await page.locator(selector).first().waitFor();
        await assertAccessible(page);
        assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
      }
      assert.deepEqual(console.problems, []);
    });
  }
});

async function labelsOf(page: Page): Promise<string[]> {
  return page.evaluate("[...document.querySelectorAll('.conversation-turn')].map(({ ariaLabel }) => ariaLabel)");
}

function numbers(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `Turn ${from + index}`);
}

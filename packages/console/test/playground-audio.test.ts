/** The playground's speech in a real browser: audio that begins early, words in time, stop, downloads, errors. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startScriptedUpstream, type ScriptedUpstream } from "../../server/test/support/scripted-upstream.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { followSpokenWords, spokenWords, untilSpoken } from "./support/spoken-words.ts";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const input = "Fathoms measure six feet. Aye, sir!";
const words = ["Fathoms", "measure", "six", "feet", "Aye", "sir"];

describe("the playground's speech", { skip: needs("chromium") }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  let browser: Browser;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => exchange.answer({}));
    stack.defer(() => upstream.close());
    const engine = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [endless] }`;
    [server, browser] = await useAll(stack, [
      startConsoleServer(`engines:\n  remote: ${engine}\n`),
      launchBrowser(["--autoplay-policy=no-user-gesture-required"]),
    ]);
  });

  async function speak(page: Page, text = input): Promise<void> {
    await page.getByLabel("Text", { exact: true }).fill(text);
    await page.getByRole("button", { name: "Speak" }).click();
  }

  async function download(page: Page, format: string): Promise<Buffer> {
    await page.getByLabel("Format").selectOption(format);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    assert.equal(file.suggestedFilename(), `speech.${format}`);
    return readFile(await file.path());
  }

  test("highlights every word while it is spoken, in order, and stops at the end", async (t) => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/speech?model=flite&speed=0.8");
    await followSpokenWords(page);
    await speak(page);
    await untilSpoken(page, "sir");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    assert.deepEqual(await spokenWords(page), words);
    t.diagnostic(await page.locator(".playground-facts dl").innerText());
    assert.equal(await page.getByRole("group", { name: "Spoken words" }).innerText(), input);
    assert.deepEqual(console.problems, []);
  });

  test("plays from a word that is clicked, or chosen with the keyboard", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/speech?model=flite");
    await speak(page);
    await page.getByRole("button", { name: "Pause" }).click();
    await followSpokenWords(page);
    await page.getByRole("button", { name: "feet" }).click();
    await untilSpoken(page, "Aye");
    assert.deepEqual((await spokenWords(page)).slice(0, 2), ["feet", "Aye"]);
    await page.keyboard.press("k");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.getByRole("button", { name: "Fathoms" }).focus();
    await followSpokenWords(page);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await untilSpoken(page, "feet");
    assert.deepEqual((await spokenWords(page)).slice(0, 2), ["six", "feet"]);
    await page.getByRole("slider", { name: "Position in the audio" }).focus();
    await followSpokenWords(page);
    await page.keyboard.press("Home");
    await untilSpoken(page, "Fathoms");
    assert.deepEqual(console.problems, []);
  });

  test("begins to play while the rest is synthesized, and stop reaches the engine", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    upstream.script = async (exchange) => {
      const text = (exchange.json as { input: string }).input;
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.send(Buffer.alloc(48_000, 0x10));
      if (text.includes("never")) await exchange.stall();
      else exchange.end();
    };
    for (const wordTimes of ["on", "off"]) {
      await console.open(`playground/speech?model=endless&voice=alloy&word_times=${wordTimes}`);
      const { aborts } = upstream;
      await speak(page, "It begins. It never ends.");
      await page.getByRole("group", { name: "Player" }).waitFor();
      await page.getByText("Time to first audio").waitFor();
      assert.equal(await page.getByRole("button", { name: "begins" }).count(), wordTimes === "on" ? 1 : 0);
      assert.equal(await page.getByRole("group", { name: "Spoken words" }).innerText(), "It begins. It never ends.");
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await upstream.until(() => upstream.aborts === aborts + 1, "an aborted call");
      await page.getByText("Stopped: the rest was not synthesized.").waitFor();
      assert.equal((await download(page, "pcm")).length, 48_000);
    }
    assert.deepEqual(console.problems, []);
  });

  test("downloads the audio in each format", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    const body = { model: "flite", voice: "rms", input, response_format: "pcm" };
    const expected = Buffer.from(await (await server.call("/v1/audio/speech", body)).arrayBuffer());
    await console.open("playground/speech?model=flite&voice=rms");
    await speak(page);
    await page.getByText("Synthesized in").waitFor();
    assert.ok((await download(page, "pcm")).equals(expected));
    const wav = await download(page, "wav");
    assert.equal(wav.toString("latin1", 0, 4), "RIFF");
    assert.equal(wav.readUInt32LE(24), 16_000);
    assert.ok(wav.subarray(44).equals(expected));
    const mp3 = await download(page, "mp3");
    assert.equal(mp3[0], 0xff);
    assert.ok(mp3.length < expected.length / 2);
    assert.equal((await download(page, "opus")).toString("latin1", 0, 4), "OggS");
    assert.match(page.url(), /format=opus/);
    assert.deepEqual(console.problems, []);
  });

  test("links to the trace of the call", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/speech?model=flite");
    await speak(page);
    await page.getByText("Synthesized in").waitFor();
    const address = await page.getByRole("link", { name: "Trace", exact: true }).getAttribute("href");
    const id = /\/console\/traces\/(?<id>[0-9a-f]{32})$/.exec(address ?? "")?.groups?.["id"];
    const query = { trace: "all_traces", trace_id: id };
    for (;;) {
      const { traces } = (await (await server.call("/observability/traces", query)).json()) as { traces: object[] };
      if (traces.length > 0) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(console.problems, []);
  });

  test("finds voices by language, keeps the choice in the address, and plays a sample", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/speech");
    assert.equal(await page.getByLabel("Model", { exact: true }).inputValue(), "flite");
    await page.getByLabel("Model", { exact: true }).selectOption("espeak-ng");
    await page.getByLabel("Language").selectOption({ label: "Swedish" });
    await page.getByLabel("Voice", { exact: true }).locator("option[value='en-us']").waitFor({ state: "detached" });
    const voices = await page.getByLabel("Voice", { exact: true }).locator("option").allInnerTexts();
    assert.ok(voices.length > 0 && voices.every((voice) => voice.startsWith("sv")), voices.join());
    await page.getByLabel("Voice", { exact: true }).selectOption("sv+f3");
    await page.reload();
    await page.getByLabel("Voice", { exact: true }).locator("option[value='sv+f3']").waitFor({ state: "attached" });
    assert.equal(await page.getByLabel("Voice", { exact: true }).inputValue(), "sv+f3");
    assert.match(page.url(), /model=espeak-ng&language=sv&voice=sv%2Bf3/);
    const [sample] = await Promise.all([
      page.waitForRequest("**/v1/audio/speech"),
      page.getByRole("button", { name: "Play a sample" }).click(),
    ]);
    assert.equal((sample.postDataJSON() as { voice: string }).voice, "sv+f3");
    await page.getByRole("button", { name: "Stop the sample" }).click();
    await page.getByRole("button", { name: "Play a sample" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("shows what the server refuses, and keeps the text", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    upstream.script = (exchange) => exchange.answer({ error: { message: "The voice is hoarse." } }, 400);
    await console.open("playground/speech?model=endless&voice=alloy");
    await speak(page, "Does it work?");
    await page.getByRole("alert").getByText("hoarse").waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Speak" }).waitFor();
    assert.equal(await page.getByLabel("Text", { exact: true }).inputValue(), "Does it work?");
    assert.doesNotMatch(page.url(), /work/);
    await console.open("playground/speech?model=absent");
    await page.getByText("Your key cannot call the model").waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      const viewport = { width: theme === "dark" ? 390 : 1280, height: 800 };
      await using console = await openConsole(browser, { ...server, theme, viewport });
      const { page } = console;
      await console.open("playground/speech?model=flite&speed=2");
      await page.getByRole("button", { name: "Speak" }).waitFor();
      await assertAccessible(page);
      await followSpokenWords(page);
      await speak(page);
      await untilSpoken(page, "sir");
      await assertAccessible(page);
      assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
      assert.deepEqual(console.problems, []);
    });
  }
});

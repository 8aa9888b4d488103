/** The playground's transcription in a real browser: files, the microphone, text that arrives, playback by word, exports. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../../server/test/support/scripted-upstream.ts";
import { assertAccessible, launchBrowser, openConsole } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { followSpokenWords, spokenWords, untilSpoken } from "./support/spoken-words.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

const verbose = {
  task: "transcribe",
  language: "english",
  duration: 3,
  text: "Fish & <chips>. Aye, sir!",
  segments: [
    { id: 0, start: 0.1, end: 1.3, text: " Fish & <chips>." },
    { id: 1, start: 1.5, end: 2.6, text: " Aye, sir!" },
  ],
  words: [
    { word: "Fish", start: 0.1, end: 0.6 },
    { word: "&", start: 0.6, end: 0.8 },
    { word: "chips", start: 0.8, end: 1.3 },
    { word: "Aye", start: 1.5, end: 2 },
    { word: "sir", start: 2, end: 2.6 },
  ],
};

const diarized = {
  text: "Aye. Sir.",
  segments: ["A", "B"].map((speaker, index) => ({
    type: "transcript.text.segment",
    id: `seg_${index}`,
    start: index,
    end: index + 1,
    text: index === 0 ? "Aye." : "Sir.",
    speaker,
  })),
};

describe("the playground's transcription", { skip: needs("chromium") }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  let browser: Browser;
  let directory: string;
  let recording: string;

  beforeTests(async (stack) => {
    directory = await mkdtemp(join(tmpdir(), "sounding-playground-"));
    stack.defer(() => rm(directory, { recursive: true }));
    recording = join(directory, "harbour <1>.wav");
    upstream = await startScriptedUpstream((exchange) => exchange.answer({}));
    stack.defer(() => upstream.close());
    const engine = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [captions, live-transcribe, two-transcribe-diarize] }`;
    server = stack.use(
      await startConsoleServer(`
engines: { remote: ${engine} }
transcription: { max_upload_bytes: 1000000 }
`),
    );
    const speech = { model: "flite", voice: "slt", input: "The harbour is full of ships, and of fish." };
    await writeFile(recording, await (await server.call("/v1/audio/speech", speech)).bytes());
    browser = await launchBrowser([
      "--autoplay-policy=no-user-gesture-required",
      "--use-fake-device-for-media-stream",
      "--use-fake-ui-for-media-stream",
      `--use-file-for-fake-audio-capture=${recording}`,
    ]);
    stack.defer(() => browser.close());
  });

  async function transcribe(page: Page, script: Script, path = recording): Promise<void> {
    upstream.script = script;
    await page.getByLabel("Recording", { exact: true }).locator("input").setInputFiles(path);
    await page.getByRole("button", { name: "Transcribe" }).click();
  }

  async function exported(page: Page, title: string): Promise<{ name: string; text: string }> {
    await page.getByRole("button", { name: "Export" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.locator(".menu-item", { hasText: title }).click(),
    ]);
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
  }

  test("shows text while it arrives, and stop ends the call upstream", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=live-transcribe&timestamps=none");
    const { aborts } = upstream;
    await transcribe(page, async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents({ type: "transcript.text.delta", delta: "Fish and" });
      await exchange.stall();
    });
    await page.getByRole("group", { name: "Transcript" }).getByText("Fish and").waitFor();
    await page.getByText("Time to first text").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await upstream.until(() => upstream.aborts === aborts + 1, "an aborted call");
    await page.getByText("Stopped: the rest was not transcribed.").waitFor();
    assert.equal((await exported(page, "Text")).text, "Fish and\n");
    assert.deepEqual(console.problems, []);
  });

  test("plays from the word that is clicked, and highlights the following ones", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=captions");
    await transcribe(page, (exchange) => exchange.answer(verbose));
    await page.getByRole("button", { name: "chips" }).waitFor();
    await followSpokenWords(page);
    await page.getByRole("button", { name: "chips" }).click();
    await untilSpoken(page, "sir");
    assert.deepEqual(await spokenWords(page), ["chips", "Aye", "sir"]);
    await page.keyboard.press("k");
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.getByRole("slider", { name: "Position in the audio" }).click({ position: { x: 2, y: 20 } });
    assert.match(await page.locator(".audio-time").innerText(), /^0:00\.\d \/ 0:0[234]\.\d$/);
    assert.deepEqual(console.problems, []);
  });

  test("exports text, subtitles and JSON", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=captions");
    await transcribe(page, (exchange) => exchange.answer(verbose));
    await page.getByRole("button", { name: "Export" }).waitFor();
    assert.deepEqual(await exported(page, "Text"), { name: "harbour _1_.txt", text: "Fish & <chips>. Aye, sir!\n" });
    assert.equal(
      (await exported(page, "SubRip")).text,
      "1\n00:00:00,100 --> 00:00:01,300\nFish & <chips>.\n\n2\n00:00:01,500 --> 00:00:02,600\nAye, sir!\n",
    );
    assert.equal(
      (await exported(page, "WebVTT")).text,
      "WEBVTT\n\n00:00:00.100 --> 00:00:01.300\nFish &amp; &lt;chips&gt;.\n\n00:00:01.500 --> 00:00:02.600\nAye, sir!\n",
    );
    const json = JSON.parse((await exported(page, "JSON")).text) as typeof verbose;
    assert.deepEqual([json.text, json.segments.length], [verbose.text, 2]);
    assert.deepEqual(
      json.words.map(({ word, start, end }) => ({ word, start, end })),
      verbose.words,
    );
    assert.deepEqual(console.problems, []);
  });

  test("shows speakers, and segments where the times of words are not known", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=two-transcribe-diarize");
    await transcribe(page, (exchange) => exchange.answer(diarized));
    await page.getByText("Guest-2").waitFor();
    await page.getByText("does not report the times of words").waitFor();
    await followSpokenWords(page);
    await page.getByRole("button", { name: "Sir." }).click();
    await untilSpoken(page, "Sir.");
    assert.match((await exported(page, "SubRip")).text, /Guest-1: Aye\./);
    assert.deepEqual(console.problems, []);
  });

  test("records from the microphone, with its level, and transcribes what was recorded", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=captions");
    await page.getByRole("button", { name: "Record", exact: true }).click();
    const meter = page.getByRole("meter", { name: "Level of the microphone" });
    while (Number(await meter.getAttribute("aria-valuenow")) < 40) await meter.waitFor();
    while (!(await page.locator(".recording-time").innerText()).startsWith("0:01.")) await meter.waitFor();
    await page.getByRole("button", { name: "Stop recording" }).click();
    await page.getByText("recording.wav").waitFor();
    upstream.script = (exchange) => exchange.answer(verbose);
    const first = upstream.exchanges.length;
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Fish" }).waitFor();
    const { headers, body } = upstream.exchanges[first]!;
    const form = await new Response(Uint8Array.from(body), {
      headers: { "content-type": headers["content-type"]! },
    }).formData();
    const wav = Buffer.from(await (form.get("file") as File).arrayBuffer()).subarray(44);
    const samples = new Int16Array(wav.buffer.slice(wav.byteOffset, wav.byteOffset + wav.length));
    assert.ok(samples.length > 8_000, `${samples.length} samples`);
    assert.ok(samples.some((sample) => Math.abs(sample) > 1_000));
    await page.getByRole("button", { name: "Play", exact: true }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("explains a microphone that the browser does not give", async () => {
    const strict = await launchBrowser(["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream=deny"]);
    try {
      await using console = await openConsole(strict, server);
      await console.open("playground/transcription");
      await console.page.getByRole("button", { name: "Record", exact: true }).click();
      await console.page.getByRole("alert").getByText("This page may not use the microphone.").waitFor();
      assert.deepEqual(console.problems, []);
    } finally {
      await strict.close();
    }
  });

  test("says why a page that is not secure cannot record", async () => {
    const strict = await launchBrowser(["--host-resolver-rules=MAP sounding.test 127.0.0.1"]);
    try {
      const url = server.url.replace("127.0.0.1", "sounding.test");
      await using console = await openConsole(strict, { url });
      await console.open("");
      const request = { method: "POST", body: JSON.stringify({ key: server.key }) };
      const json = { "content-type": "application/json" };
      const signIn = `fetch("/authentication/sessions", ${JSON.stringify({ ...request, headers: json })})`;
      assert.equal(await console.page.evaluate<number>(`${signIn}.then((it) => it.status)`), 201);
      await console.open("playground/transcription");
      await console.page.getByRole("button", { name: "Record", exact: true }).click();
      await console.page.getByRole("alert").getByText("only on pages served with HTTPS").waitFor();
    } finally {
      await strict.close();
    }
  });

  test("shows the server's error for a broken or too large file, and for a failure in the middle", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    await console.open("playground/transcription?model=live-transcribe&timestamps=none");
    const broken = join(directory, "broken.mp3");
    await writeFile(broken, "This is no audio.");
    await transcribe(page, (exchange) => exchange.answer({}), broken);
    await page.getByRole("alert").getByText("The file is not a supported audio file").waitFor();
    await page.getByText("This browser cannot play the file.").waitFor();
    const large = join(directory, "large.wav");
    await writeFile(large, Buffer.alloc(6_000_000));
    await transcribe(page, (exchange) => exchange.answer({}), large);
    await page.getByRole("alert").getByText("more than 1000000 bytes, which is the limit").waitFor();
    await transcribe(page, async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(
        { type: "transcript.text.delta", delta: "Fish" },
        { error: { message: "Lost the thread." } },
      );
    });
    await page.getByRole("alert").getByText("The engine failed").waitFor();
    await page.getByRole("group", { name: "Transcript" }).getByText("Fish").waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      const viewport = { width: theme === "dark" ? 390 : 1280, height: 800 };
      await using console = await openConsole(browser, { ...server, theme, viewport });
      const { page } = console;
      await console.open("playground/transcription?model=captions");
      await page.getByRole("button", { name: "Transcribe" }).waitFor();
      await assertAccessible(page);
      await transcribe(page, (exchange) => exchange.answer(verbose));
      await page.getByRole("button", { name: "chips" }).click();
      await assertAccessible(page);
      assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"), 0);
      assert.deepEqual(console.problems, []);
    });
  }
});

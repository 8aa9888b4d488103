import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { chunk, done, events, failure, json, startScriptedServer } from "../../client/test/scripted-server.ts";
import { runSession } from "../src/chat/session.ts";
import type { CommandIo } from "../src/command.ts";

const server = await startScriptedServer();
const client = new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url, maxRetries: 0 });
const ctrlC = "\u0003";
const ctrlD = "\u0004";

interface Terminal {
  readonly ended: Promise<number>;
  readonly abort: () => void;
  type(keys: string): void;
  /** Resolves when stdout or stderr contains this text, after the last match. */
  shows(text: string): Promise<void>;
}

/** A session on a simulated terminal. */
function openSession(): Terminal {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let screen = "";
  let look = (): void => undefined;
  for (const stream of [stdout, stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      screen += text;
      look();
    });
  }
  const controller = new AbortController();
  const io: CommandIo = {
    stdin,
    stdout,
    stderr,
    isTTY: { stdin: true, stdout: true, stderr: true },
    colors: { stdout: false, stderr: false },
    progress: false,
    env: {},
    signal: controller.signal,
  };
  const opening = [{ role: "system" as const, content: "Be brief." }];
  const settings = { model: "m", stream: true, parameters: {} };
  return {
    ended: runSession(client, { settings, opening }, io),
    abort: () => controller.abort(),
    type: (keys) => void stdin.write(keys),
    shows: (text) =>
      new Promise((resolve) => {
        look = () => {
          const at = screen.indexOf(text);
          if (at === -1) return;
          screen = screen.slice(at + text.length);
          resolve();
        };
        look();
      }),
  };
}

function contentsSent(index: number): string[] {
  const { messages } = JSON.parse(server.requests[index]!.body) as { messages: { content: string }[] };
  return messages.map(({ content }) => content);
}

describe("a chat session", { timeout: 60_000 }, () => {
  test("remembers the conversation until /reset, and ends with Ctrl-D", async () => {
    server.answer(events([chunk("Six feet."), done]), events([chunk("Yes."), done]), events([chunk("New."), done]));
    const terminal = openSession();
    terminal.type("A fathom?\r");
    await terminal.shows("Six feet.\n");
    terminal.type("Sure?\r");
    await terminal.shows("Yes.\n");
    terminal.type("/reset\r");
    await terminal.shows("conversation cleared");
    terminal.type("Hello?\r");
    await terminal.shows("New.\n");
    terminal.type(ctrlD);
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(contentsSent(1), ["Be brief.", "A fathom?", "Six feet.", "Sure?"]);
    assert.deepEqual(contentsSent(2), ["Be brief.", "Hello?"]);
  });

  test("cancels an answer with Ctrl-C, keeps what has arrived, and continues", async () => {
    server.answer(events([chunk("Six")], true), events([chunk("feet."), done]));
    const terminal = openSession();
    terminal.type("A fathom?\r");
    await terminal.shows("Six");
    terminal.type(ctrlC);
    await terminal.shows("(cancelled)");
    await server.requests[0]!.closed;
    terminal.type("Go on.\r");
    await terminal.shows("feet.\n");
    terminal.type("/exit\r");
    assert.equal(await terminal.ended, 0);
    assert.deepEqual(contentsSent(1), ["Be brief.", "A fathom?", "Six", "Go on."]);
  });

  test("clears the line on Ctrl-C when there is nothing to cancel", async () => {
    server.answer(events([chunk("Hi."), done]));
    const terminal = openSession();
    terminal.type(`half a question${ctrlC}`);
    await terminal.shows("press Ctrl-D or type /exit to leave");
    terminal.type("Hello?\r");
    await terminal.shows("Hi.\n");
    terminal.type(ctrlD);
    await terminal.ended;
    assert.deepEqual(contentsSent(0), ["Be brief.", "Hello?"]);
  });

  test("shows an error on one line, drops the question, and continues", async () => {
    server.answer(failure(429), events([chunk("Hi."), done]));
    const terminal = openSession();
    terminal.type("First?\r");
    await terminal.shows("sounding: refused with 429\n");
    terminal.type("Second?\r");
    await terminal.shows("Hi.\n");
    terminal.type(ctrlD);
    await terminal.ended;
    assert.deepEqual(contentsSent(1), ["Be brief.", "Second?"]);
  });

  test("lists and switches models, and sends several lines as one question", async () => {
    const model = { object: "model", created: 1, owned_by: "x" };
    const list = {
      object: "list",
      data: [
        { id: "m", ...model },
        { id: "big", ...model },
      ],
    };
    server.answer(json(list), events([chunk("Hi."), done]));
    const terminal = openSession();
    terminal.type("/model\r");
    await terminal.shows("* m\n  big\n");
    terminal.type("/model big\r");
    await terminal.shows("now using big");
    terminal.type("/nonsense\r");
    await terminal.shows("unknown command /nonsense");
    terminal.type('"""\rone\rtwo\r"""\r');
    await terminal.shows("Hi.\n");
    terminal.type(ctrlD);
    await terminal.ended;
    assert.equal((JSON.parse(server.requests[1]!.body) as { model: string }).model, "big");
    assert.deepEqual(contentsSent(1), ["Be brief.", "one\ntwo"]);
  });

  test("does not let an answer control the terminal", async () => {
    server.answer(events([chunk("a\u001b[2Jb\u009bc\n"), done]));
    const terminal = openSession();
    terminal.type("Hello?\r");
    await terminal.shows("a[2Jbc\n");
    terminal.type(ctrlD);
    await terminal.ended;
  });

  test("ends, and cancels its answer, when the process is terminated", async () => {
    server.answer(events([chunk("Six")], true));
    const terminal = openSession();
    terminal.type("A fathom?\r");
    await terminal.shows("Six");
    terminal.abort();
    await assert.rejects(terminal.ended, { name: "AbortError" });
    await server.requests[0]!.closed;
  });
});

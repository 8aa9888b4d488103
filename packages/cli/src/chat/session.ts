/** Runs a conversation in a terminal: it keeps the history, Ctrl-C cancels a response, Ctrl-D exits. */
import { createInterface, type Interface } from "node:readline";
import type { AsyncSounding, ChatMessage } from "@sounding/client";
import { errorLine } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { write, writeLine } from "../output.ts";
import { writeAnswer, type AnswerSettings } from "./answer.ts";
import { createSessionInput } from "./session-input.ts";

const help = `  /reset        clear the conversation
  /model NAME   switch to another model; without a name, list the models
  /help         show this help
  /exit         leave; Ctrl-D does the same
  """           start and end a message of several lines
  Ctrl-C        cancel the response`;

interface Session {
  readonly client: AsyncSounding;
  readonly io: CommandIo;
  readonly terminal: Interface;
  settings: AnswerSettings;
  /** The messages that the conversation starts with, also after /reset. */
  readonly opening: readonly ChatMessage[];
  messages: ChatMessage[];
  /** Cancels the response that is being written. */
  cancel: (() => void) | undefined;
}

/** @returns the exit code */
export async function runSession(
  client: AsyncSounding,
  { settings, opening }: { settings: AnswerSettings; opening: readonly ChatMessage[] },
  io: CommandIo,
): Promise<number> {
  const output = io.isTTY.stdout ? io.stdout : io.stderr;
  const terminal = createInterface({ input: io.stdin, output, terminal: true, prompt: "> " });
  const session: Session = { client, io, terminal, settings, opening, messages: [...opening], cancel: undefined };
  // Listen from here on, so that no line typed early is lost.
  const lines = terminal[Symbol.asyncIterator]();
  terminal.on("SIGINT", () => interrupt(session));
  const stop = (): void => {
    session.cancel?.();
    terminal.close();
  };
  io.signal.addEventListener("abort", stop, { once: true });
  await writeLine(io.stderr, `${settings.model}; type /help for the commands.`);
  try {
    await readLines(session, lines);
  } finally {
    io.signal.removeEventListener("abort", stop);
    terminal.close();
  }
  io.signal.throwIfAborted();
  return exitCodes.ok;
}

async function readLines(session: Session, lines: AsyncIterableIterator<string>): Promise<void> {
  const { terminal, io } = session;
  const read = createSessionInput();
  let closed = false;
  terminal.once("close", () => (closed = true));
  terminal.prompt();
  for await (const line of lines) {
    const input = read(line);
    if (input.kind === "question") await answer(session, input.text);
    if (input.kind === "command" && (await obey(session, input.name, input.argument)) === "leave") return;
    if (io.signal.aborted) return;
    // Ctrl-D during a response: the loop ends.
    if (closed) continue;
    terminal.setPrompt(input.kind === "none" && input.open ? "… " : "> ");
    terminal.prompt();
  }
  // After Ctrl-D the cursor is still on the line of the prompt.
  await write(io.stderr, "\n");
}

async function answer(session: Session, text: string): Promise<void> {
  const { client, io, settings } = session;
  const controller = new AbortController();
  session.cancel = () => controller.abort();
  const messages: ChatMessage[] = [...session.messages, { role: "user", content: text }];
  let answered = "";
  try {
    const written = await writeAnswer(
      client,
      { ...settings, messages },
      { io, signal: controller.signal, onText: (piece) => (answered += piece) },
    );
    if (written.cutBecause !== undefined) await writeLine(io.stderr, `(${written.cutBecause})`);
  } catch (error) {
    await writeLine(io.stderr, controller.signal.aborted ? "(cancelled)" : `sounding: ${errorLine(error)}`);
  } finally {
    session.cancel = undefined;
  }
  // A message without any response is removed, so that it can be sent again.
  if (answered !== "") session.messages = [...messages, { role: "assistant", content: answered }];
}

async function obey(session: Session, name: string, argument: string): Promise<"leave" | "stay"> {
  const { io } = session;
  switch (name) {
    case "exit":
    case "quit":
      return "leave";
    case "reset":
      session.messages = [...session.opening];
      await writeLine(io.stderr, "(conversation cleared)");
      return "stay";
    case "model":
      await changeModel(session, argument);
      return "stay";
    case "help":
      await writeLine(io.stderr, help);
      return "stay";
    default:
      await writeLine(io.stderr, `unknown command /${name}; the commands are:\n${help}`);
      return "stay";
  }
}

async function changeModel(session: Session, name: string): Promise<void> {
  const { client, io } = session;
  if (name !== "") {
    session.settings = { ...session.settings, model: name };
    await writeLine(io.stderr, `(now using ${name})`);
    return;
  }
  try {
    const { data } = await client.models.list({ signal: io.signal });
    const lines = data.map(({ id }) => `${id === session.settings.model ? "* " : "  "}${id}`);
    await writeLine(io.stderr, lines.join("\n"));
  } catch (error) {
    await writeLine(io.stderr, `sounding: ${errorLine(error)}`);
  }
}

function interrupt({ cancel, terminal, io }: Session): void {
  if (cancel !== undefined) {
    cancel();
    return;
  }
  void write(io.stderr, "\n(press Ctrl-D or type /exit to leave)\n");
  // Clears the typed line: Ctrl-U and Ctrl-K.
  terminal.write(null, { ctrl: true, name: "u" });
  terminal.write(null, { ctrl: true, name: "k" });
  terminal.prompt();
}

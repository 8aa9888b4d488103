/** Reads a key: typed in a terminal without being shown, or piped in. */
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { write } from "../output.ts";

/** In a terminal, asks with the prompt; otherwise reads the first line of standard input. Throws CliError. */
export async function readSecret(prompt: string, { stdin, stderr, isTTY, signal }: CommandIo): Promise<string> {
  if (!isTTY.stdin) return (await text(stdin)).split("\n", 1)[0]!.trim();
  try {
    return (await readHidden(stdin, signal, () => write(stderr, prompt))).trim();
  } finally {
    await write(stderr, "\n");
  }
}

const enter = /[\r\n]/;
const interrupt = "\u0003";
const endOfInput = "\u0004";
const backspaces = new Set(["\u0008", "\u007f"]);

/** @param ask shows the prompt; what is typed before that is not shown either */
async function readHidden(
  stdin: Readable & { setRawMode?: (raw: boolean) => void },
  signal: AbortSignal,
  ask: () => Promise<void>,
): Promise<string> {
  stdin.setRawMode?.(true);
  try {
    await ask();
    let typed = "";
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      signal.throwIfAborted();
      for (const character of String(chunk)) {
        if (character === interrupt) throw new CliError("cancelled", exitCodes.interrupted);
        if (character === endOfInput || enter.test(character)) return typed;
        if (backspaces.has(character)) typed = typed.slice(0, -1);
        else if (character >= " ") typed += character;
      }
    }
    return typed;
  } finally {
    stdin.setRawMode?.(false);
  }
}

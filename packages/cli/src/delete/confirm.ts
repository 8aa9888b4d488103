/** Asks for confirmation of what cannot be undone. */
import { createInterface } from "node:readline/promises";
import { CliError, UsageError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

/** @throws UsageError if nobody can be asked, CliError if another text than the name is typed */
export async function confirmByName(name: string, what: string, io: CommandIo): Promise<void> {
  if (!io.isTTY.stdin) throw new UsageError("deleting cannot be undone, and there is no terminal to ask; add --yes");
  const lines = createInterface({ input: io.stdin, output: io.stderr });
  try {
    const typed = await lines.question(`${what} This cannot be undone.\nType ${JSON.stringify(name)} to confirm: `, {
      signal: io.signal,
    });
    if (typed.trim() !== name) throw new CliError("nothing was deleted: the name does not match", exitCodes.failed);
  } finally {
    lines.close();
  }
}

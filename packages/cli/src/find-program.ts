/** Finds out whether a program is installed on this machine. */
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { CommandIo } from "./command.ts";

export async function isInPath(program: string, env: CommandIo["env"]): Promise<boolean> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder === "") continue;
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

/** The entry of the published package: the files that `npm run build` built. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { consoleFile, type ConsoleFiles } from "./console-files.ts";

export type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

/** Next to this file in the published package. */
const folder = fileURLToPath(new URL("console/", import.meta.url));

export async function readConsoleFiles(): Promise<ConsoleFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      // Paths of the site have slashes, on every system.
      const served = relative(folder, path).replaceAll(sep, "/");
      return [served, await consoleFile(served, await readFile(path))] as const;
    });
  return new Map(await Promise.all(files));
}

/** The entry of the published package: the files that `npm run build` built. */
import { readdir, readFile } from "node:fs/promises";
import { consoleFile, type ConsoleFiles } from "./console-files.ts";

export type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

/** Next to this file in the published package. */
const folder = new URL("console/", import.meta.url);

export async function readConsoleFiles(): Promise<ConsoleFiles> {
  const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.pathname.length));
  const files = paths.map(async (path) => {
    return [path, await consoleFile(path, await readFile(new URL(path, folder)))] as const;
  });
  return new Map(await Promise.all(files));
}

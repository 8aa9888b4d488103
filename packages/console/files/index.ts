/** The entry of the package in a clone: builds the files from the sources, in a fraction of a second. */
import { buildConsole } from "./build-console.ts";
import { consoleFile, type ConsoleFiles } from "./console-files.ts";

export type { ConsoleFile, ConsoleFiles } from "./console-files.ts";

export async function readConsoleFiles(): Promise<ConsoleFiles> {
  const built = await buildConsole();
  const files = built.map(async ({ path, bytes }) => [path, await consoleFile(path, bytes)] as const);
  return new Map(await Promise.all(files));
}

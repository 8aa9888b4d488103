/** What every process and worker thread of the server's has in common: where its script lies, and its last words. */
import type { ChildProcess } from "node:child_process";

/**
 * The script with this name beside a module, compiled or not.
 * @param moduleUrl the module's `import.meta.url`
 * @param name without its extension, such as `child/main`
 */
export function scriptBeside(moduleUrl: string, name: string): URL {
  return new URL(`${name}${moduleUrl.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl);
}

/**
 * Keeps the end of what the process prints on standard error, which is where native code says why it dies.
 * @param mostCharacters that are kept
 * @returns what it said last, without white space around it
 */
export function keepLastOutput(child: ChildProcess, mostCharacters = 2000): () => string {
  let output = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output = `${output}${text}`.slice(-mostCharacters);
  });
  return () => output.trim();
}

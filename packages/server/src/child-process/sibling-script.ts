/** Finds the script of a process or worker thread next to the module that starts it. */

/**
 * The script's file, in TypeScript or compiled like the module itself.
 * @param moduleUrl the module's `import.meta.url`
 * @param name without its extension, such as `child/main`
 */
export function siblingScript(moduleUrl: string, name: string): URL {
  return new URL(`${name}${moduleUrl.endsWith(".ts") ? ".ts" : ".js"}`, moduleUrl);
}

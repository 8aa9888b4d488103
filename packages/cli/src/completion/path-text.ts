/** ` key create`: how the scripts write a command's path; empty for the root. */
export function pathText(path: readonly string[]): string {
  return path.map((name) => ` ${name}`).join("");
}

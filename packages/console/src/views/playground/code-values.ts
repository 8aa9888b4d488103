/** Values as literals of a shell and of Python. */

/** In single quotes, in which a shell replaces nothing. */
export function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** JSON's strings and numbers are Python's too; true, false and null are not. */
export function inPython(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(inPython).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${inPython(each)}`)
    .join(", ")}}`;
}

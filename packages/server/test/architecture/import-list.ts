/** The list of imports in allowed-imports.md, and which module a file belongs to. */
import { readFileSync } from "node:fs";
import { withinServer } from "./source-files.ts";

export type Permission = "values" | "types";

const page = readFileSync(new URL("allowed-imports.md", import.meta.url), "utf8");

/** Folders whose subfolders are separate modules. */
const dividedModules = new Set(["engines", "query", "telemetry"]);

/** The server's module that a file belongs to, by its path from the repository's root: `engines/flite`, `errors`. */
export function moduleOf(path: string): string {
  const parts = withinServer(path).split("/");
  const first = parts[0]!.replace(/\.ts$/, "");
  return dividedModules.has(first) && parts.length > 2 ? `${first}/${parts[1]!}` : first;
}

/** Module → modules that it may import. `everything` stands for all of them. */
export function importList(): Map<string, Map<string, Permission>> {
  const list = /<!-- imports:begin -->(?<lines>.*)<!-- imports:end -->/s.exec(page)?.groups?.["lines"] ?? "";
  const lines = list.split("\n").filter((line) => line !== "");
  return new Map(lines.map(readLine));
}

function readLine(line: string): [string, Map<string, Permission>] {
  const match = /^- `(?<module>[a-z/-]+)` may import (?<allowed>[a-z/(), -]+)$/.exec(line);
  if (match === null) throw new Error(`allowed-imports.md: the list of imports has a line of another form: ${line}`);
  const { module, allowed } = match.groups as { module: string; allowed: string };
  if (allowed === "nothing") return [module, new Map()];
  const permissions = allowed.split(", ").map((entry): [string, Permission] => {
    const name = entry.replace(" (types)", "");
    return [name, name === entry ? "values" : "types"];
  });
  return [module, new Map(permissions)];
}

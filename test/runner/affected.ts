/** Which test files a change may affect: those that load a changed file, directly or through others. */
import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { allTestFiles } from "./tasks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @param since a commit of Git; files that are not committed count as changed. @throws Error if Git knows no such commit */
export function affectedTestFiles(since: string): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" })
      .split("\n")
      .filter((line) => line !== "");
  const changed = [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];
  const loaders = loadersOfFiles();
  const reached = new Set<string>();
  const next = [...changed];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    next.push(...(loaders.get(file) ?? []));
  }
  const others = changed.filter((file) => !file.endsWith(".test.ts") && !loaders.has(file));
  if (others.length > 0) console.error(`No test file loads these, but tests may read them: ${others.join(", ")}`);
  return allTestFiles().filter((file) => reached.has(file));
}

/** The files that name each file in an import, or as a module of a worker or a process. */
function loadersOfFiles(): Map<string, string[]> {
  const files = globSync(
    ["packages/*/{src,test,bin,files}/**/*.{ts,tsx,js}", "{test,scripts,bench,deploy}/**/*.{ts,js}"],
    {
      cwd: root,
      exclude: ["**/node_modules/**"],
    },
  );
  const loaders = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    for (const { groups } of text.matchAll(/["'](?<path>(?:\.{1,2}\/|@sounding\/)[^"'\n]*)["']/g)) {
      const target = resolveModule(file, groups!["path"]!);
      if (target !== undefined) loaders.set(target, [...(loaders.get(target) ?? []), file]);
    }
  }
  return loaders;
}

function resolveModule(from: string, path: string): string | undefined {
  const workspace = /^@sounding\/(?<name>\w+)(?:\/(?<part>[\w/-]+))?$/.exec(path)?.groups;
  if (workspace !== undefined) return `packages/${workspace["name"]}/src/${workspace["part"] ?? "index"}.ts`;
  const target = posix.join(posix.dirname(from), path);
  return existsSync(join(root, target)) ? target : undefined;
}

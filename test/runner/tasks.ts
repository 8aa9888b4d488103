/** What a run consists of: test files, of which one process runs several, and the checks that `npm run check` names. */
import { globSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { TaskCost } from "./schedule.ts";

export interface Task {
  readonly kind: "tests" | "check";
  /** Test files, relative to the repository, or one script of `package.json`. */
  readonly names: readonly string[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const places = ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "test/**/*.test.ts"];
/** Files that take less share a process, for this long together. */
const batchSeconds = 60;

export function allTestFiles(): string[] {
  return globSync(places, { cwd: root }).sort();
}

/** The files that a person names: by a path, a folder or a part of either. @throws Error if a name fits none */
export function selectTestFiles(names: readonly string[]): string[] {
  const all = allTestFiles();
  const selected = new Set<string>();
  for (const name of names) {
    const exact = relative(root, resolve(name));
    const found = all.includes(exact) ? [exact] : all.filter((file) => file.includes(name));
    if (found.length === 0) throw new Error(`No test file's path contains ${JSON.stringify(name)}.`);
    for (const file of found) selected.add(file);
  }
  return [...selected].sort();
}

/** Files of one folder load the same modules: they share processes, if they are short. */
export function batch(files: readonly string[], costs: ReadonlyMap<string, TaskCost>): Task[] {
  const secondsOf = (file: string): number => costs.get(file)?.wallSeconds ?? 1;
  const tasks: Task[] = [];
  for (const group of Object.values(Object.groupBy(files, folderOf))) {
    let names: string[] = [];
    let seconds = 0;
    for (const file of group!) {
      if (names.length > 0 && seconds + secondsOf(file) > batchSeconds) {
        tasks.push({ kind: "tests", names });
        names = [];
        seconds = 0;
      }
      names.push(file);
      seconds += secondsOf(file);
    }
    tasks.push({ kind: "tests", names });
  }
  return tasks;
}

/** All unit tests of a package count as one folder. */
function folderOf(file: string): string {
  return /^packages\/\w+\/src/.exec(file)?.[0] ?? dirname(file);
}

export function allChecks(): Task[] {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { scripts: { check: string } };
  const names = [...scripts.check.matchAll(/npm run (?<name>\S+)/g)].map(({ groups }) => groups!["name"]!);
  return names.map((name) => ({ kind: "check", names: [name] }));
}

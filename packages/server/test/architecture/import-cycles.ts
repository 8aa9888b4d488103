/** Finds files that import each other in a circle. */
import type { SourceFile } from "./source-files.ts";

/** One cycle for each import that closes one: `a.ts → b.ts → a.ts`. Imports for types and dynamic imports count. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map((each) => each.path)]));
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || finished.has(path)) return;
    for (const target of targets.get(path) ?? []) if (target !== undefined) visit(target, [...trail, path]);
    finished.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return cycles;
}

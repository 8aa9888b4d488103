/** Finds import cycles between files or modules. */
import type { SourceFile } from "./source-files.ts";

/** The targets of each node's edges. */
type Graph = ReadonlyMap<string, Iterable<string>>;

/** Files and what they import. Imports for types and dynamic imports count. */
export function fileGraph(files: readonly SourceFile[]): Graph {
  return new Map(
    files.map(({ path, imports }) => [path, imports.flatMap((each) => (each.path === undefined ? [] : [each.path]))]),
  );
}

/** One cycle for each edge that closes one: `a → b → a`. */
export function cyclesIn(graph: Graph): string[] {
  const finished = new Set<string>();
  const cycles: string[] = [];
  const visit = (node: string, trail: readonly string[]): void => {
    const start = trail.indexOf(node);
    if (start >= 0) cycles.push([...trail.slice(start), node].join(" → "));
    if (start >= 0 || finished.has(node)) return;
    for (const target of graph.get(node) ?? []) visit(target, [...trail, node]);
    finished.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}

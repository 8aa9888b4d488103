/** Where in a JSON line the labels come from that LogQL's parser `json` extracts. */

/** As the parser names labels: members of nested objects are joined by underscores, other characters become underscores. */
export function jsonPaths(line: string): ReadonlyMap<string, readonly string[]> {
  const paths = new Map<string, readonly string[]>();
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return paths;
  }
  const pending: { readonly value: unknown; readonly path: readonly string[] }[] = [{ value: parsed, path: [] }];
  for (let next = pending.pop(); next !== undefined && paths.size < mostPaths; next = pending.pop()) {
    const { path, value } = next;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      if (path.length > 0) paths.set(labelOf(path), path);
      continue;
    }
    if (path.length === deepestPath) continue;
    for (const [name, member] of Object.entries(value)) pending.push({ value: member, path: [...path, name] });
  }
  return paths;
}

/** Members of one line that are considered. */
const mostPaths = 1000;
/** Members of deeper objects are not considered: each copies the path to it. */
const deepestPath = 100;

function labelOf(path: readonly string[]): string {
  const name = path.join("_").replaceAll(/\W/g, "_");
  return /^\d/.test(name) ? `_${name}` : name;
}

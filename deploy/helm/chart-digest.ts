/** The digest of a chart's files, which tells whether rendered manifests are up to date where Helm is not installed. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function chartDigest(chart: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(chart, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.name !== "README.md",
  );
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
    hash
      .update(`${path.slice(chart.length)}\0`)
      .update(readFileSync(path))
      .update("\0");
  }
  return hash.digest("hex");
}

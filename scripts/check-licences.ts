/** Checks the licenses of all production dependencies: `npm run licences`. Part of `npm run check`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageNames } from "./package-names.ts";
import { licenceProblems, linkProblems, productionDependencies, type Dependency, type Lock } from "./licences.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));

/** Licenses in the lock file, compared with those of the installed packages. */
function installedProblems(lock: Lock): string[] {
  return Object.entries(lock.packages).flatMap(([path, { version, license, dev, link }]) => {
    if (!path.includes("node_modules/") || dev === true || link === true) return [];
    const manifest = readManifest(join(repository, path));
    if (manifest === undefined || manifest.version !== version) return [];
    const declared = typeof manifest.license === "string" ? manifest.license : undefined;
    return declared === license || declared === undefined
      ? []
      : [`${path} declares the license ${declared}; package-lock.json says ${String(license)}.`];
  });
}

function readManifest(folder: string): { version?: string; license?: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: string; license?: unknown };
  } catch {
    // Optional packages of other platforms are not installed.
    return undefined;
  }
}

function readSources(): Map<string, string> {
  const sources = new Map<string, string>();
  for (const name of packageNames) {
    const folder = `packages/${name}/src`;
    let files: string[];
    try {
      files = readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" });
    } catch {
      continue;
    }
    for (const file of files.filter((each) => each.endsWith(".ts")))
      sources.set(`${folder}/${file}`, readFileSync(join(repository, folder, file), "utf8"));
  }
  return sources;
}

const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as Lock;
const dependencies: readonly Dependency[] = productionDependencies(lock);
const problems = [...licenceProblems(dependencies), ...installedProblems(lock), ...linkProblems(readSources())];
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\n`);
  process.exitCode = 1;
}

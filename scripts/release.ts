/**
 * Prepares a release in dist/release/: checks the repository, builds and packs the packages, and writes the software bill of
 * materials and checksums. `npm run release`; `npm run release -- --publish` then publishes the packages, in a CI job that
 * npm trusts (provenance). CONTRIBUTING.md has the steps.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packageNames } from "./package-names.ts";
import { readReleaseManifest, releaseProblems } from "./release-checks.ts";
import { checksumFile, writeBillOfMaterials, writeChecksums } from "./release-files.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { publish: { type: "boolean", default: false } } });

const problems = releaseProblems(root, { publishes: values.publish });
if (problems.length > 0) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}

const { version } = readReleaseManifest(root, ".");
const folder = join(root, "dist/release");
const run = (command: string, ...words: readonly string[]): void =>
  void execFileSync(command, words, { cwd: root, stdio: "inherit" });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
run(process.execPath, "scripts/build-packages.ts");
for (const name of packageNames)
  run("npm", "pack", "--silent", "--pack-destination", folder, `./dist/packages/${name}`);
writeBillOfMaterials(root, folder, version);
writeChecksums(folder);
console.log(readFileSync(join(folder, checksumFile), "utf8"));

if (values.publish) {
  for (const name of packageNames) run("npm", "publish", join(folder, `sounding-${name}-${version}.tgz`));
} else {
  console.log(`The release ${version} is in dist/release/. Nothing was published.`);
}

/** What must be true before a release: checked all together, so that one run reports every problem. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface ReleaseManifest {
  readonly name: string;
  readonly version: string;
  readonly repository?: unknown;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface ReleaseOptions {
  /** Whether the packages will be published, for which npm's provenance needs the repository's address. */
  readonly publishes: boolean;
}

/** Other files that name the version, each with a pattern that finds it. */
const versionedFiles: readonly (readonly [file: string, pattern: RegExp])[] = [
  ["deploy/container/Containerfile", /^ARG VERSION=(?<version>.*)$/gm],
  ["deploy/compose/compose.yaml", /image: \$\{SOUNDING_IMAGE:-sounding:(?<version>[^}]*)\}/g],
  ["deploy/compose/compose.fleet.yaml", /image: \$\{SOUNDING_SLIM_IMAGE:-sounding:(?<version>[^}]*)-slim\}/g],
  ["deploy/helm/sounding/Chart.yaml", /^(?:version|appVersion): (?<version>.*)$/gm],
];

/** @returns a sentence for each problem */
export function releaseProblems(root: string, { publishes }: ReleaseOptions): string[] {
  const workspace = readReleaseManifest(root, ".");
  return [
    ...treeProblems(root),
    ...versionProblems(root, workspace),
    ...changelogProblems(readFileSync(join(root, "CHANGELOG.md"), "utf8"), workspace.version),
    ...(publishes && workspace.repository === undefined
      ? ["package.json has no repository; npm's provenance compares it with the repository that publishes."]
      : []),
  ];
}

export function readReleaseManifest(root: string, folder: string): ReleaseManifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as ReleaseManifest;
}

function treeProblems(root: string): string[] {
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).trimEnd();
  return changed === "" ? [] : [`The working tree has changes that are not committed:\n${changed}`];
}

function versionProblems(root: string, { version, workspaces = [] }: ReleaseManifest): string[] {
  const packages = workspaces.flatMap((folder) => {
    const manifest = readReleaseManifest(root, folder);
    const internal = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith("@sounding/"));
    return [
      { where: `${folder}/package.json`, found: manifest.version },
      ...internal.map(([name, found]) => ({ where: `${folder}/package.json, dependency ${name}`, found })),
    ];
  });
  const files = versionedFiles.flatMap(([file, pattern]) => {
    const found = [...readFileSync(join(root, file), "utf8").matchAll(pattern)];
    return found.length === 0
      ? [{ where: file, found: "missing" }]
      : found.map(({ groups }) => ({ where: file, found: groups!["version"]! }));
  });
  return [...packages, ...files]
    .filter(({ found }) => found !== version)
    .map(({ where, found }) => `The version in ${where} is ${found}; package.json has ${version}.`);
}

function changelogProblems(changelog: string, version: string): string[] {
  const sections = changelog.split(/^## /m).slice(1);
  const bodyOf = (heading: string): string | undefined =>
    sections
      .find((section) => section.startsWith(heading))
      ?.replace(/^.*\n/, "")
      .trim();
  const released = bodyOf(`${version} - `);
  const problems: string[] = [];
  if (released === undefined) problems.push(`CHANGELOG.md has no heading "## ${version} - YYYY-MM-DD".`);
  else if (!sections.some((section) => isDated(section, version)))
    problems.push(`The heading of ${version} in CHANGELOG.md must be "## ${version} - YYYY-MM-DD".`);
  else if (released === "") problems.push(`CHANGELOG.md says nothing about ${version}.`);
  if (bodyOf("Unreleased") !== undefined && bodyOf("Unreleased") !== "")
    problems.push(`CHANGELOG.md has entries under "Unreleased"; move them to ${version}.`);
  return problems;
}

function isDated(section: string, version: string): boolean {
  const [heading = ""] = section.split("\n", 1);
  return heading.startsWith(`${version} - `) && /^\d{4}-\d{2}-\d{2}$/.test(heading.slice(version.length + 3));
}

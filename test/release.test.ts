/** A release is refused while the repository is not ready for it. test/packages.test.ts checks the files of a release. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { releaseProblems } from "../scripts/release-checks.ts";
import { repository } from "./support/served-process.ts";
import { beforeEachTest } from "./support/hooks.ts";

const folder = mkdtempSync(join(tmpdir(), "sounding-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const workspace = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
  version: string;
  workspaces: string[];
};
const { version } = workspace;

/** A repository that is ready: this one's files, with a changelog of the version. */
let root: string;
beforeEachTest(() => {
  root = mkdtempSync(join(folder, "repository-"));
  const files = ["package.json", "deploy", ...workspace.workspaces.map((name) => `${name}/package.json`)];
  for (const file of files) cpSync(join(repository, file), join(root, file), { recursive: true });
  writeFileSync(
    join(root, "CHANGELOG.md"),
    `# Changelog\n\n## Unreleased\n\n## ${version} - 2027-01-31\n\n### Added\n\n- Everything.\n`,
  );
  git("init", "--quiet");
  commit();
});

const git = (...words: string[]): void => void execFileSync("git", words, { cwd: root, stdio: "pipe" });

function commit(): void {
  git("add", "--all");
  const author = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"];
  git(...author, "commit", "--quiet", "--allow-empty", "--message", "A change");
}

function change(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(root, file), "utf8");
  const changed = text.replace(from, to);
  assert.notEqual(changed, text, `${file} has no ${String(from)}`);
  writeFileSync(join(root, file), changed);
  commit();
}

const problems = (publishes = false): string[] => releaseProblems(root, { publishes });

describe("a release", () => {
  test("is possible with a clean tree, one version everywhere, and a changelog", () => {
    assert.deepEqual(problems(), []);
  });

  test("needs a clean tree", () => {
    writeFileSync(join(root, "new-file"), "");
    assert.deepEqual(problems(), ["The working tree has changes that are not committed:\n?? new-file"]);
  });

  test("needs the same version in every package, dependency, image and chart", () => {
    change("packages/cli/package.json", `"version": "${version}"`, '"version": "9.9.9"');
    change("packages/server/package.json", `"@sounding/console": "${version}"`, '"@sounding/console": "9.9.9"');
    change("deploy/helm/sounding/Chart.yaml", /^appVersion: .*$/m, "appVersion: 9.9.9");
    change("deploy/container/Containerfile", /^ARG VERSION=.*$/m, "ARG VERSION=9.9.9");
    change("deploy/compose/compose.fleet.yaml", `sounding:${version}-slim`, "sounding:9.9.9-slim");
    assert.deepEqual(
      problems().map((problem) => /^The version in (.*) is 9\.9\.9; package\.json has .*\.$/.exec(problem)?.[1]),
      [
        "packages/server/package.json, dependency @sounding/console",
        "packages/cli/package.json",
        "deploy/container/Containerfile",
        "deploy/compose/compose.fleet.yaml",
        "deploy/helm/sounding/Chart.yaml",
      ],
    );
  });

  test("needs a section in the changelog, with a date and entries", () => {
    change("CHANGELOG.md", ` - 2027-01-31`, "");
    assert.deepEqual(problems(), [`CHANGELOG.md has no heading "## ${version} - YYYY-MM-DD".`]);
    change("CHANGELOG.md", `## ${version}`, `## ${version} - soon`);
    assert.deepEqual(problems(), [`The heading of ${version} in CHANGELOG.md must be "## ${version} - YYYY-MM-DD".`]);
    change("CHANGELOG.md", /## \d[^]*/, `## ${version} - 2027-01-31\n`);
    assert.deepEqual(problems(), [`CHANGELOG.md says nothing about ${version}.`]);
  });

  test("leaves no entry unreleased", () => {
    change("CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n- Something new.\n");
    assert.deepEqual(problems(), [`CHANGELOG.md has entries under "Unreleased"; move them to ${version}.`]);
  });

  test("is published only from a repository that package.json names", () => {
    assert.deepEqual(problems(true), [
      "package.json has no repository; npm's provenance compares it with the repository that publishes.",
    ]);
    change("package.json", '"private": true', '"private": true, "repository": "https://git.example.com/sounding.git"');
    assert.deepEqual(problems(true), []);
  });
});

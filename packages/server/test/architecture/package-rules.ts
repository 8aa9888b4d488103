/** Rules for the files of every package: names, lengths, first lines, and imports between packages. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageNames } from "../../../../scripts/package-names.ts";
import { filesUnder, repository, sourceFiles, type SourceFile } from "./source-files.ts";

const maximumLines = 300;
const vagueNames = /\/(utils?|helpers?|common|shared|misc|base|manager|service|impl|types)\.ts$/;
const paths = (files: readonly SourceFile[]): string[] => files.map(({ path }) => path);

/** The first two parts of a path under `packages/`, or the first one: `packages/cli`, `bench`. */
function packageOf(path: string): string {
  return path
    .split("/")
    .slice(0, path.startsWith("packages/") ? 2 : 1)
    .join("/");
}

describe("every source file", () => {
  test("has a descriptive name", () => {
    assert.deepEqual(paths(sourceFiles.filter(({ path }) => vagueNames.test(path))), []);
  });

  test(`has at most ${maximumLines} lines`, () => {
    assert.deepEqual(paths(sourceFiles.filter(({ text }) => text.split("\n").length - 1 > maximumLines)), []);
  });

  test("begins with a sentence about its responsibility", () => {
    assert.deepEqual(paths(sourceFiles.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text))), []);
  });
});

/** Imports from `folder` that its rule does not allow, by target or by path. */
function strayImports(folder: string, isAllowed: (target: string, path: string | undefined) => boolean): string[] {
  return filesUnder(folder).flatMap(({ path: file, imports }) =>
    imports.filter(({ target, path }) => !isAllowed(target, path)).map(({ target }) => `${file} imports ${target}`),
  );
}

/** Names of packages that the package.json in the folder declares, except development dependencies. */
function dependenciesOf(folder: string): Set<string> {
  return new Set([...declaredIn(folder, "dependencies"), ...declaredIn(folder, "optionalDependencies")]);
}

function declaredIn(folder: string, field: "dependencies" | "optionalDependencies" | "peerDependencies"): string[] {
  const text = readFileSync(join(repository, folder, "package.json"), "utf8");
  return Object.keys((JSON.parse(text) as Record<string, object | undefined>)[field] ?? {});
}

function packageName(target: string): string {
  return target
    .split("/")
    .slice(0, target.startsWith("@") ? 2 : 1)
    .join("/");
}

describe("every package", () => {
  for (const folder of packageNames.map((name) => `packages/${name}`)) {
    test(`${folder} imports its own files, its dependencies and Node's modules`, () => {
      const dependencies = new Set([...dependenciesOf(folder), ...declaredIn(folder, "peerDependencies")]);
      const strays = strayImports(folder, (target, path) => {
        if (path !== undefined)
          return /^\/(src|files)\//.test(path.slice(folder.length)) || path === `${folder}/package.json`;
        return target.startsWith("node:") || dependencies.has(packageName(target));
      });
      assert.deepEqual(strays, []);
    });
  }

  test("the server imports packages that may be missing only in child processes", () => {
    const optional = declaredIn("packages/server", "peerDependencies");
    assert.notEqual(optional.length, 0);
    const strays = strayImports("packages/server", (target) => !optional.includes(packageName(target)));
    assert.deepEqual(
      strays.filter((stray) => !/^[^ ]*\/child\//.test(stray)),
      [],
    );
  });

  test("a query language imports only regular expressions and what it shares with PromQL", () => {
    assert.deepEqual([...dependenciesOf("packages/promql")], ["re2js"]);
    for (const name of ["logql", "traceql"])
      assert.deepEqual([...dependenciesOf(`packages/${name}`)], ["@sounding/promql"]);
  });

  test("the client has no dependencies", () => {
    assert.deepEqual([...dependenciesOf("packages/client")], []);
  });

  test("the command uses only the public entries of the server and the client", () => {
    const entries = new Set(["@sounding/server", "@sounding/client", "@sounding/client/sync"]);
    const packages = [...dependenciesOf("packages/cli")].filter((name) => name.startsWith("@sounding/"));
    assert.deepEqual(packages.toSorted(), ["@sounding/client", "@sounding/server"]);
    assert.deepEqual(
      strayImports("packages/cli", (target) => !target.startsWith("@sounding/") || entries.has(target)),
      [],
    );
  });
});

describe("the console", () => {
  test("has pages that import neither Node's modules nor the files around them", () => {
    const isPage = (path: string | undefined): boolean => path?.startsWith("packages/console/src/") ?? true;
    assert.deepEqual(
      strayImports("packages/console/src", (target, path) => isPage(path) && !target.startsWith("node:")),
      [],
    );
  });

  test("has files that import no page", () => {
    assert.deepEqual(
      strayImports("packages/console/files", (_, path) => path?.startsWith("packages/console/files/") ?? true),
      [],
    );
  });

  test("writes no markup: everything it shows is text", () => {
    const markup = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write\b/;
    assert.deepEqual(paths(filesUnder("packages/console/src").filter(({ text }) => markup.test(text))), []);
  });

  test("loads a view only when it is opened", () => {
    const viewOf = (path: string): string | undefined => /src\/views\/([^/]+)\//.exec(path)?.[1];
    const early = filesUnder("packages/console/src").flatMap(({ path: file, text }) =>
      [...text.matchAll(/from "(?<target>\.{1,2}\/[^"]*views\/[^"]+)"/g)]
        .filter(() => viewOf(file) === undefined)
        .map(({ groups }) => `${file} imports ${groups!["target"]}`)
        .filter((each) => !each.endsWith("views/sign-in/sign-in.tsx")),
    );
    assert.deepEqual(early, []);
  });
});

describe("scripts and benchmarks", () => {
  for (const folder of ["scripts", "bench"]) {
    test(`${folder} imports only itself, the packages and their test fixtures`, () => {
      const strays = strayImports(folder, (_, path) => {
        if (path === undefined) return true;
        const isFixture = /^(packages|test\/(support|runner))\//.test(path) && !path.endsWith(".test.ts");
        return packageOf(path) === folder || isFixture;
      });
      assert.deepEqual(strays, []);
    });
  }
});

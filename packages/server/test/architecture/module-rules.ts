/** Imports between the server's modules follow allowed-imports.md, without import cycles. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cyclesIn, fileGraph } from "./import-cycles.ts";
import { importList, moduleOf, type Permission } from "./import-list.ts";
import { filesUnder, serverFiles, type SourceFile } from "./source-files.ts";

interface ModuleImport {
  readonly file: SourceFile;
  readonly from: string;
  readonly to: string;
  readonly needs: Permission;
}

const imports = serverFiles.flatMap((file) =>
  file.imports.flatMap(({ path, typeOnly }): ModuleImport[] => {
    if (path === undefined) return [];
    const needs = typeOnly ? "types" : "values";
    return [{ file, from: moduleOf(file.path), to: moduleOf(path), needs }];
  }),
);
const crossing = imports.filter(({ from, to }) => from !== to);

describe("the server's modules", () => {
  const list = importList();
  const modules = new Set(serverFiles.map(({ path }) => moduleOf(path)));

  test("are the ones in the list, and the list names no others", () => {
    assert.ok(modules.size > 30, "the sources were not read");
    assert.deepEqual([...list.keys()].toSorted(), [...modules].toSorted());
    const named = [...list.values()].flatMap((allowed) => [...allowed.keys()]);
    assert.deepEqual(
      named.filter((name) => name !== "everything" && !modules.has(name)),
      [],
    );
  });

  test("import what the list allows", () => {
    const forbidden = crossing.filter(({ from, to, needs }) => {
      const allowed = list.get(from);
      const permission = allowed?.has("everything") === true ? "values" : allowed?.get(to);
      return permission !== "values" && permission !== needs;
    });
    assert.deepEqual(
      forbidden.map(({ file, to, needs }) => `${file.path} imports ${needs} of ${to}`),
      [],
    );
  });

  test("need what the list allows", () => {
    const used = new Set(crossing.flatMap(({ from, to, needs }) => [`${from} ${to}`, `${from} ${to} ${needs}`]));
    const unused = [...list].flatMap(([from, allowed]) =>
      [...allowed]
        .filter(([to, permission]) => to !== "everything" && !used.has(`${from} ${to} ${permission}`))
        .map(([to]) => `${from}: ${to}${used.has(`${from} ${to}`) ? ", which it imports for types only" : ""}`),
    );
    assert.deepEqual(unused, []);
  });

  test("have no import cycles, not even for types", () => {
    const graph = new Map([...list].map(([module, allowed]) => [module, [...allowed.keys()]]));
    assert.deepEqual(cyclesIn(graph), []);
  });

  test("that are engines import no other engine", () => {
    const sharedByEngines = new Set(["engines/spoken-text", "engines/upstream-http"]);
    const isEngine = (module: string): boolean => module.startsWith("engines/") && !sharedByEngines.has(module);
    const engineImports = crossing.filter(({ from, to }) => from.startsWith("engines") && isEngine(to));
    assert.deepEqual(
      engineImports.map(({ file, to }) => `${file.path} imports ${to}`),
      [],
    );
  });
});

for (const folder of [
  "packages/promql/src",
  "packages/logql/src",
  "packages/traceql/src",
  "packages/server/src",
  "packages/client/src",
  "packages/cli/src",
  "packages/console/src",
  "scripts",
  "bench",
]) {
  test(`no file of ${folder} is in an import cycle, not even for types`, () => {
    assert.deepEqual(cyclesIn(fileGraph(filesUnder(folder))), []);
  });
}

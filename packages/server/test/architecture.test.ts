/** Holds the house to ARCHITECTURE.md: who imports whom, no cycles, no vague names, no long files. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative, sep } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
const serverSource = join(repository, "packages/server/src");
const maximumLines = 300;
const vagueNames = /^(utils?|helpers?|common|shared|misc|base|manager|service|impl|types)\.ts$/;

function sourceFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter(
      (name) =>
        /\.tsx?$/.test(name) && !name.split(sep).some((part) => part === "node_modules" || part === "generated"),
    )
    .map((name) => join(directory, name));
}

interface Import {
  readonly target: string;
  readonly typeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  const statements = [...text.matchAll(/^(?:import|export)\s(?<what>[^;]*?)from\s+"(?<from>[^"]+)";/gms)];
  const others = [
    ...text.matchAll(/^import\s+"(?<from>[^"]+)";/gms),
    ...text.matchAll(/\bimport\(\s*"(?<from>[^"]+)"/g),
  ];
  return [
    ...statements.map(({ groups }) => ({ target: groups!["from"]!, typeOnly: groups!["what"]!.startsWith("type ") })),
    ...others.map(({ groups }) => ({ target: groups!["from"]!, typeOnly: false })),
  ];
}

function relativeImportsOf(file: string): (Import & { readonly path: string })[] {
  return importsOf(file)
    .filter(({ target }) => target.startsWith("."))
    .map((each) => ({ ...each, path: normalize(join(dirname(file), each.target)) }));
}

type Allowed = "values" | "types";

/** ARCHITECTURE.md's list: room → rooms that it may import, each with whether values may be imported too. */
function importTable(): Map<string, Map<string, Allowed>> {
  const text = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8");
  const table = /<!-- imports:begin -->(?<rows>.*)<!-- imports:end -->/s.exec(text)?.groups?.["rows"] ?? "";
  const rows = [...table.matchAll(/^- `(?<room>[a-z/-]+)` may import (?<allowed>.*)$/gm)];
  return new Map(
    rows.map(({ groups }) => {
      const entries = groups!["allowed"]!.split(",").map((entry) => entry.trim());
      const allowed = entries.map((entry): [string, Allowed] => [
        entry.replace(" (types)", ""),
        entry.endsWith("(types)") ? "types" : "values",
      ]);
      return [groups!["room"]!, new Map(allowed)];
    }),
  );
}

/** Rooms whose folders are rooms of their own. */
const dividedRooms = new Set(["engines", "languages", "query", "telemetry"]);

function roomOf(file: string): string {
  const parts = relative(serverSource, file).split(sep);
  const first = parts[0]!.replace(/\.ts$/, "");
  return dividedRooms.has(first) && parts.length > 2 ? `${first}/${parts[1]!}` : first;
}

function withoutComments(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*.*?\*\/|^\s*\/\/.*?$/gms, "");
}

const serverFiles = sourceFiles(serverSource).filter((file) => !file.endsWith(".test.ts"));
const allFiles = ["packages/server/src", "packages/client/src", "packages/cli/src", "scripts", "bench"]
  .flatMap((directory) => sourceFiles(join(repository, directory)))
  .filter((file) => !file.endsWith(".test.ts"));
const named = (files: readonly string[]): string[] => files.map((file) => relative(repository, file));

describe("the server's rooms", () => {
  const table = importTable();

  test("every room has a line in ARCHITECTURE.md", () => {
    assert.ok(table.size > 10, "the table was not read");
    const rooms = [...new Set(serverFiles.map(roomOf))];
    assert.deepEqual(
      rooms.filter((room) => !table.has(room)),
      [],
    );
  });

  test("imports follow the table", () => {
    const forbidden = serverFiles.flatMap((file) => {
      const allowed = table.get(roomOf(file));
      return relativeImportsOf(file)
        .filter(({ path, typeOnly }) => {
          const room = roomOf(path);
          const right = room === roomOf(file) || allowed?.has("everything") === true ? "values" : allowed?.get(room);
          return right !== "values" && !(right === "types" && typeOnly);
        })
        .map(({ target, typeOnly }) => `${relative(repository, file)} imports ${target}${typeOnly ? " (type)" : ""}`);
    });
    assert.deepEqual(forbidden, []);
  });

  test("no file imports itself through others", () => {
    const graph = new Map(
      serverFiles.map((file) => [file, relativeImportsOf(file).filter(({ typeOnly }) => !typeOnly)]),
    );
    const done = new Set<string>();
    const walk = (file: string, path: readonly string[]): void => {
      assert.ok(!path.includes(file), `import cycle: ${named([...path, file]).join(" → ")}`);
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) walk(next.path, [...path, file]);
      done.add(file);
    };
    for (const file of graph.keys()) walk(file, []);
  });

  const reserved: [what: string, pattern: RegExp, where: RegExp][] = [
    ["Fastify", /from "fastify"/, /^http\//],
    ["the environment", /process\.env\b/, /^config\//],
    ["the console", /\bconsole\./, /^(?!)/],
  ];
  for (const [what, pattern, where] of reserved) {
    test(`${what} stays where it belongs`, () => {
      const users = serverFiles.filter((file) => pattern.test(withoutComments(file)));
      assert.deepEqual(
        users.map((file) => relative(serverSource, file)).filter((file) => !where.test(file)),
        [],
      );
    });
  }
});

describe("every package", () => {
  test("no file has a name that says nothing", () => {
    assert.deepEqual(named(allFiles.filter((file) => vagueNames.test(file.split(sep).at(-1)!))), []);
  });

  test(`no source file has more than ${maximumLines} lines`, () => {
    assert.deepEqual(
      named(allFiles.filter((file) => readFileSync(file, "utf8").split("\n").length - 1 > maximumLines)),
      [],
    );
  });

  test("no package reaches into another's sources", () => {
    const packageOf = (file: string): string => relative(repository, file).split(sep).slice(0, 2).join("/");
    const inPackages = allFiles.filter((file) => packageOf(file).startsWith("packages/"));
    const strays = inPackages.filter((file) =>
      relativeImportsOf(file).some(({ path }) => packageOf(path) !== packageOf(file)),
    );
    assert.deepEqual(named(strays), []);
  });

  test("every file begins by saying what it is for", () => {
    assert.deepEqual(named(allFiles.filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(file, "utf8")))), []);
  });
});

/**
 * Checks every sentence of ARCHITECTURE.md under "What always holds": by a rule in this file, or by the test that the sentence
 * names, which must exist.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { moduleOf } from "./import-list.ts";
import { filesUnder, repository, serverFiles, withinServer, type SourceFile } from "./source-files.ts";

const architecture = readFileSync(join(repository, "ARCHITECTURE.md"), "utf8");
const section = /^## What always holds\n(?<text>.*?)^## /ms.exec(architecture)?.groups?.["text"] ?? "";
const sentences = [...section.matchAll(/^- (?<sentence>.*?)(?=^-|\n\n|$(?![\s\S]))/gms)].map(({ groups }) =>
  groups!["sentence"]!.replaceAll(/\s+/g, " ").trim(),
);
const rules = new Set<string>();

/** A sentence of the section, and the files that break it. */
function rule(sentence: string, offenders: () => readonly string[]): void {
  rules.add(sentence);
  test(sentence, () => {
    assert.ok(sentences.includes(sentence), "ARCHITECTURE.md does not say so");
    assert.deepEqual(offenders(), []);
  });
}

/** Paths within the server's sources of the files that match, except where it is allowed. */
function serverFilesThat(matches: (file: SourceFile) => boolean, allowed = /^(?!)/): string[] {
  return serverFiles
    .filter(matches)
    .map(({ path }) => withinServer(path))
    .filter((path) => !allowed.test(path));
}

const importsPackage = (file: SourceFile, packages: RegExp): boolean =>
  file.imports.some(({ target }) => packages.test(target));

describe("what always holds", () => {
  test("is checked, sentence by sentence", () => {
    assert.ok(sentences.length > 10, "the section was not read");
    const unchecked = sentences.filter((sentence) => {
      const named = [...sentence.matchAll(/`(?<path>[\w./-]+\.test\.ts)`/g)].map(({ groups }) => groups!["path"]!);
      const isTested = named.length > 0 && named.every((path) => existsSync(join(repository, path)));
      return !rules.has(sentence) && !isTested;
    });
    assert.deepEqual(unchecked, []);
  });

  rule("Only `tenant.ts` creates a `Scope`, from a checked key.", () =>
    serverFilesThat(({ created }) => created.has("Scope"), /^tenant\.ts$/),
  );

  rule(
    "Keys are checked by `tenancy/`. Only `http/`, `telemetry/otlp/` and `tenancy/` turn one into a `Scope`; `tenancy/job-scope.ts` does so for a job of the server, from the row of an organization.",
    () =>
      serverFilesThat(
        ({ calls, path }) => calls.has("Scope.fromKey") && !path.endsWith(".test.ts"),
        /^(http\/authenticate(-session)?|telemetry\/otlp\/resource-scopes|tenancy\/(administration|job-scope))\.ts$/,
      ),
  );

  rule(
    "Telemetry is read through `store.open(scope)` only: no module but `store` imports its connection or its readers.",
    () =>
      serverFilesThat(
        ({ imports }) =>
          imports.some(
            ({ path, typeOnly }) =>
              !typeOnly && /\/store\/(connection|tenant-reader|native-reader)\.ts$/.test(path ?? ""),
          ),
        /^store\//,
      ),
  );

  rule(
    "Only `maintenance/` copies whole tables (`store/transfer/`), and only the CLI's process loads it, never a server.",
    () =>
      serverFilesThat(
        ({ imports }) => imports.some(({ path }) => /\/(store\/transfer|maintenance)\//.test(path ?? "")),
        /^(maintenance\/|store\/transfer\/|index\.ts$)/,
      ),
  );

  rule(
    "A statement on the telemetry store is a template literal in our source with bound parameters; only `store/statement.ts` creates one.",
    () =>
      serverFilesThat(
        ({ calls, created, imports }) =>
          created.has("Statement") ||
          calls.has("Statement.fromTemplate") ||
          (calls.has("sql") &&
            imports.some(({ path, names }) => path?.endsWith("/store/statement.ts") === true && names.includes("sql"))),
        /^store\/statement\.ts$/,
      ),
  );

  rule("Only `config/` reads the environment.", () =>
    serverFilesThat(
      ({ properties, imports }) =>
        properties.has("process.env") ||
        imports.some(({ target, names }) => /^(node:)?process$/.test(target) && names.includes("env")),
      /^config\//,
    ),
  );

  rule("Only `http/` opens HTTP servers and WebSockets for callers, and only `telemetry/otlp/` a gRPC server.", () => [
    ...serverFilesThat(
      ({ imports }) => imports.some(({ target, typeOnly }) => !typeOnly && /^(node:http|node:https)$/.test(target)),
      /^(http\/|store\/embedded\/host\.ts$)/,
    ),
    ...serverFilesThat((file) => importsPackage(file, /^ws$/), /^http\//),
    ...serverFilesThat((file) => importsPackage(file, /^node:http2$/), /^telemetry\/otlp\//),
  ]);

  rule(
    "Only `http/stream-writer.ts` writes a response piece by piece, and only `telemetry/otlp/grpc-message.ts` writes to a gRPC stream.",
    () => [
      ...serverFilesThat(
        ({ calls }) => calls.has("response.write"),
        /^(http\/stream-writer|store\/embedded\/host)\.ts$/,
      ),
      ...serverFilesThat(
        ({ calls }) => calls.has("stream.respond") || calls.has("stream.end"),
        /^telemetry\/otlp\/grpc-message\.ts$/,
      ),
    ],
  );

  rule(
    "Only the CLI prints. In the server, standard output and standard error belong to the scripts of child processes and workers.",
    () => {
      const imported = new Set(serverFiles.flatMap(({ imports }) => imports.map(({ path }) => path)));
      const isScript = ({ path }: SourceFile): boolean => !imported.has(path);
      const prints = /^(console|process\.(stdout|stderr))\b/;
      return serverFilesThat((file) => !isScript(file) && [...file.properties].some((name) => prints.test(name)));
    },
  );

  rule(
    "Server-sent events have one decoder in the server, `streams/sse-decoder.ts`, one in the client, `packages/client/src/sse.ts`, and one in the console, `packages/console/src/api/event-decoder.ts`.",
    () => {
      // Either reads the format's field names, or splits text at them.
      const decodes = ({ literals }: SourceFile): boolean =>
        ["data", "event"].every((field) => literals.some((literal) => new RegExp(`^\\^?${field}:? ?$`).test(literal)));
      const decoders = new Set(["packages/server/src/streams/sse-decoder.ts", "packages/client/src/sse.ts"]);
      // Writes events, and reads none.
      decoders.add("packages/server/src/http/stream-writer.ts");
      const inConsole = filesUnder("packages/console/src").filter(({ path, literals }) => {
        return literals.some((literal) => /^\^?data: ?$/.test(literal)) && !path.endsWith("/api/event-decoder.ts");
      });
      return [...serverFiles, ...filesUnder("packages/client/src"), ...filesUnder("packages/cli/src")]
        .filter((file) => decodes(file) && !decoders.has(file.path))
        .concat(inConsole)
        .map(({ path }) => path);
    },
  );

  rule(
    "`AppError` is the only class of errors that leaves its module, and `error-codes.ts` has the one table of codes.",
    () => {
      const classes = new Map(
        serverFiles.flatMap(({ path, errorClasses }) => errorClasses.map((name) => [name, moduleOf(path)] as const)),
      );
      assert.equal(classes.get("AppError"), "errors");
      return serverFiles.flatMap(({ path: file, imports }) =>
        imports.flatMap(({ path, names }) =>
          names
            .filter(
              (name) =>
                name !== "AppError" &&
                path !== undefined &&
                classes.get(name) === moduleOf(path) &&
                moduleOf(path) !== moduleOf(file),
            )
            .map((name) => `${file} imports ${name}`),
        ),
      );
    },
  );
});

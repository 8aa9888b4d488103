/** The repository's source files as the architecture rules see them: who imports what, calls what, creates what. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript-api";

export const repository = fileURLToPath(new URL("../../../..", import.meta.url));
const roots = [
  "packages/promql/src",
  "packages/logql/src",
  "packages/traceql/src",
  "packages/server/src",
  "packages/client/src",
  "packages/cli/src",
  "packages/console/src",
  "packages/console/files",
  "scripts",
  "bench",
];

export interface Import {
  /** As written: `./block.ts`, `node:fs`, `undici`. */
  readonly target: string;
  /** The imported file, from the repository's root; undefined for packages and `node:` modules. */
  readonly path: string | undefined;
  /** Whether nothing of it is loaded at run time. */
  readonly typeOnly: boolean;
  /** What is imported by name. */
  readonly names: readonly string[];
}

export interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
  /** Called functions, new objects and properties, as dotted names: `console.log`, `Scope`, `process.env`. */
  readonly calls: ReadonlySet<string>;
  readonly created: ReadonlySet<string>;
  readonly properties: ReadonlySet<string>;
  /** String literals, templates' beginnings and regular expressions. */
  readonly literals: readonly string[];
  readonly errorClasses: readonly string[];
}

type Facts = {
  -readonly [Name in keyof SourceFile]: SourceFile[Name] extends ReadonlySet<infer Item>
    ? Set<Item>
    : SourceFile[Name] extends readonly (infer Item)[]
      ? Item[]
      : SourceFile[Name];
};

function readSourceFile(absolutePath: string): SourceFile {
  const path = relative(repository, absolutePath).replaceAll(sep, "/");
  const text = readFileSync(absolutePath, "utf8");
  const facts: Facts = {
    path,
    text,
    imports: [],
    calls: new Set(),
    created: new Set(),
    properties: new Set(),
    literals: [],
    errorClasses: [],
  };
  const visit = (node: ts.Node): void => {
    collect(node, facts);
    ts.forEachChild(node, visit);
  };
  visit(
    ts.createSourceFile(
      path,
      text,
      ts.ScriptTarget.ESNext,
      false,
      path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
    ),
  );
  return facts;
}

function collect(node: ts.Node, facts: Facts): void {
  if (ts.isImportDeclaration(node))
    addImport(facts, node.moduleSpecifier, node.importClause?.isTypeOnly === true, namesOf(node));
  else if (ts.isExportDeclaration(node)) {
    if (node.moduleSpecifier !== undefined) addImport(facts, node.moduleSpecifier, node.isTypeOnly, []);
  } else if (ts.isImportTypeNode(node)) {
    if (ts.isLiteralTypeNode(node.argument)) addImport(facts, node.argument.literal, true, []);
  } else if (ts.isCallExpression(node)) {
    if (node.expression.kind === ts.SyntaxKind.ImportKeyword) addImport(facts, node.arguments[0]!, false, []);
    addName(facts.calls, node.expression);
  } else if (ts.isNewExpression(node)) addName(facts.created, node.expression);
  else if (ts.isPropertyAccessExpression(node)) addName(facts.properties, node);
  else if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) facts.literals.push(node.text);
  else if (ts.isRegularExpressionLiteral(node)) facts.literals.push(node.text);
  else if (ts.isClassDeclaration(node) && extendsError(node)) facts.errorClasses.push(node.name?.text ?? "");
}

function namesOf({ importClause }: ts.ImportDeclaration): string[] {
  const bindings = importClause?.namedBindings;
  if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function addImport(facts: Facts, specifier: ts.Node, typeOnly: boolean, names: string[]): void {
  if (!ts.isStringLiteralLike(specifier)) return;
  const target = specifier.text;
  const path = target.startsWith(".") ? join(dirname(facts.path), target).replaceAll(sep, "/") : undefined;
  facts.imports.push({ target, path, typeOnly, names });
}

function addName(names: Set<string>, node: ts.Node): void {
  const name = dottedName(node);
  if (name !== undefined) names.add(name);
}

function dottedName(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isPropertyAccessExpression(node)) return undefined;
  const left = dottedName(node.expression);
  return left === undefined ? undefined : `${left}.${node.name.text}`;
}

function extendsError({ heritageClauses = [] }: { heritageClauses?: readonly ts.HeritageClause[] }): boolean {
  return heritageClauses.some(({ types }) =>
    types.some(({ expression }) => ts.isIdentifier(expression) && expression.text.endsWith("Error")),
  );
}

function sourcePaths(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
    .filter((name) => !name.split(sep).some((part) => part === "node_modules" || part === "generated"))
    .map((name) => join(directory, name));
}

/** Every file that is neither a test nor generated. */
export const sourceFiles: readonly SourceFile[] = roots
  .flatMap((root) => sourcePaths(join(repository, root)))
  .map(readSourceFile);

export function filesUnder(folder: string): readonly SourceFile[] {
  return sourceFiles.filter(({ path }) => path.startsWith(`${folder}/`));
}

export const serverSource = "packages/server/src";
export const serverFiles = filesUnder(serverSource);

/** The path within the server's sources: `http/server.ts`. */
export function withinServer(path: string): string {
  return path.slice(serverSource.length + 1);
}

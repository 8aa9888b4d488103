/**
 * Renders the client's reference, docs/client/reference.md, from its types and doc comments. Uses the compiler API of
 * TypeScript 5.9 (`typescript-api`), because the current compiler has no stable API.
 * https://github.com/microsoft/TypeScript/wiki/Using-the-Compiler-API
 */
import { fileURLToPath } from "node:url";
import ts from "typescript-api";

const entry = (name: string): string => fileURLToPath(new URL(`../packages/client/src/${name}.ts`, import.meta.url));

/** The page as Markdown. */
export function renderClientReference(): string {
  const program = ts.createProgram([entry("index"), entry("sync")], {
    target: ts.ScriptTarget.ES2024,
    lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.esnext.array.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const exportsOf = (name: string): ts.Symbol[] => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry(name))!)!;
    return checker.getExportsOfModule(module).map((symbol) => resolved(checker, symbol));
  };
  const all = exportsOf("sync").sort((left, right) => (left.name < right.name ? -1 : 1));
  const main = new Set(exportsOf("index"));
  const client = all.find(({ name }) => name === "AsyncSounding")!;
  const isClass = (symbol: ts.Symbol): boolean => (symbol.flags & ts.SymbolFlags.Class) !== 0;
  const isError = (symbol: ts.Symbol): boolean => isClass(symbol) && symbol.name.endsWith("Error");
  const section = (title: string, symbols: readonly ts.Symbol[]): string[] => [
    `## ${title}`,
    ...symbols.flatMap((symbol) => describe(checker, symbol, main.has(symbol))),
  ];
  return [
    "# Reference of the client",
    "<!-- Written by scripts/generate.ts from the doc comments of packages/client; do not edit. -->",
    "[The client guide](README.md) explains how to use it. Everything here is exported by `@sounding/client` and by `@sounding/client/sync`, unless noted otherwise.",
    ...section(
      "Clients",
      all.filter((symbol) => isClass(symbol) && !isError(symbol)),
    ),
    "## Operations",
    "Of `AsyncSounding`. Those of `Sounding` have the same names and parameters; they return the value where these return a promise of it, and an `Iterable` where these return an `AsyncIterable`.",
    ...operations(checker, checker.getDeclaredTypeOfSymbol(client), []),
    ...section(
      "Types",
      all.filter((symbol) => (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0),
    ),
    ...section(
      "Functions and values",
      all.filter((symbol) => (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) !== 0),
    ),
    ...section("Errors", all.filter(isError)),
    "",
  ].join("\n\n");
}

/** The target of an `export … from`. */
function resolved(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

function describe(checker: ts.TypeChecker, symbol: ts.Symbol, inMain: boolean): string[] {
  const declaration = symbol.declarations![0]!;
  return [
    `### ${symbol.name}`,
    ...(inMain ? [] : ["Only of `@sounding/client/sync`."]),
    ...comments(checker, symbol),
    ...shape(checker, symbol, declaration),
  ];
}

/** The doc comment: text, thrown errors, and the example. */
function comments(checker: ts.TypeChecker, symbol: ts.Symbol): string[] {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
  const tags = symbol.getJsDocTags(checker).map(({ name, text: parts }) => {
    const words = ts.displayPartsToString(parts);
    if (name === "example") return `\`\`\`typescript\n${words}\n\`\`\``;
    if (name === "throws") return `Throws ${words.replace(/^(\w+)/, "`$1`")}.`;
    return name === "param" ? `- ${words.replace(/^(\S+)/, "`$1`:")}` : words;
  });
  return [text, ...tags].filter((part) => part !== "");
}

function shape(checker: ts.TypeChecker, symbol: ts.Symbol, declaration: ts.Declaration): string[] {
  if (ts.isFunctionDeclaration(declaration) || ts.isVariableDeclaration(declaration)) {
    const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
    const signatures = type.getCallSignatures().map((signature) => signatureText(checker, symbol.name, signature));
    return [code(signatures.length > 0 ? signatures : [`const ${symbol.name}: ${typeText(checker, type)}`])];
  }
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  const members = checker.getPropertiesOfType(type).filter(isPublic);
  const isObject = ts.isClassDeclaration(declaration) || ts.isInterfaceDeclaration(declaration) || isRecord(type);
  if (!isObject || members.length === 0) return [code([declaration.getText().replace(/^export /, "")])];
  return [memberList(checker, members, declaration)];
}

/** Whether the members of the type describe it completely. */
function isRecord(type: ts.Type): boolean {
  const isPlain = (part: ts.Type): boolean =>
    (part.flags & ts.TypeFlags.Object) !== 0 && part.getCallSignatures().length === 0;
  return type.isIntersection() ? type.types.every(isPlain) : isPlain(type);
}

function isPublic(member: ts.Symbol): boolean {
  if (member.name.startsWith("__")) return false;
  // Members that every Error has are documented elsewhere.
  return !(member.declarations ?? []).some(
    (declaration) =>
      declaration.getSourceFile().hasNoDefaultLib ||
      (ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0,
  );
}

function memberList(checker: ts.TypeChecker, members: readonly ts.Symbol[], at: ts.Declaration): string {
  const entries = members.map((member) => {
    const optional = (member.flags & ts.SymbolFlags.Optional) !== 0 ? "?" : "";
    const text = ts.displayPartsToString(member.getDocumentationComment(checker)).replaceAll("\n", " ");
    const type = typeText(checker, checker.getTypeOfSymbolAtLocation(member, at));
    const plain = optional === "" ? type : type.replace(/ \| undefined$/, "");
    const shown = plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
    return `- \`${member.name}${optional}\`: \`${shown}\`${text === "" ? "" : `. ${text}`}`;
  });
  return entries.join("\n");
}

/** The methods of a client's resources, each with its overloads, in the order of declaration. */
function operations(checker: ts.TypeChecker, type: ts.Type, path: readonly string[]): string[] {
  return checker
    .getPropertiesOfType(type)
    .filter(isPublic)
    .flatMap((member) => {
      const memberType = checker.getTypeOfSymbol(member);
      const signatures = memberType.getCallSignatures();
      const name = [...path, member.name].join(".");
      if (signatures.length === 0) return operations(checker, memberType, [...path, member.name]);
      const lines = signatures.map((signature) => signatureText(checker, name, signature));
      return [`### ${name}`, ...comments(checker, member), code(lines)];
    });
}

function signatureText(checker: ts.TypeChecker, name: string, signature: ts.Signature): string {
  const { declaration } = signature;
  // The type as written: the checker would expand named types.
  const parameters = declaration?.parameters.map((parameter) => parameter.getText().replace(/\s+/g, " ")) ?? [];
  return `${name}(${parameters.join(", ")}): ${typeText(checker, signature.getReturnType())};`;
}

function typeText(checker: ts.TypeChecker, type: ts.Type): string {
  return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation).replaceAll("\n", " ");
}

function code(lines: readonly string[]): string {
  return `\`\`\`typescript\n${lines.join("\n")}\n\`\`\``;
}

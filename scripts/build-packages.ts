/**
 * Builds the published packages into `dist/packages/`: JavaScript and type declarations, which replace the TypeScript
 * sources that development runs directly, and a package.json that refers to them. Run `npm run build`, then `npm pack`
 * or `npm publish` in the folders of `dist/packages/`.
 * docs/adr/0001-packages-and-deployment.md
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildConsole } from "../packages/console/files/build-console.ts";
import { packageNames } from "./package-names.ts";
import { packagedScript } from "../packages/server/src/status/api-reference-script.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: unknown;
  readonly devDependencies?: unknown;
  readonly [field: string]: unknown;
}

function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(`${root}packages/${name}/package.json`, "utf8")) as Manifest;
}

for (const name of packageNames) {
  const target = `${root}dist/packages/${name}`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  compile(name, target);
  if (name === "console") await writeConsole(target);
  if (name === "server") copyApiReferenceScript(target);
  if (name === "cli") writeLauncher(target);
  writeFileSync(`${target}/package.json`, `${JSON.stringify(publishedManifest(readManifest(name)), null, 2)}\n`);
  cpSync(`${root}packages/${name}/README.md`, `${target}/README.md`);
  cpSync(`${root}LICENSE`, `${target}/LICENSE`);
  cpSync(`${root}NOTICE`, `${target}/NOTICE`);
}

function compile(name: string, target: string): void {
  const source = `${root}packages/${name}/${name === "console" ? "files" : "src"}`;
  const settings = {
    extends: `${root}tsconfig.json`,
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: source,
      outDir: `${target}/dist`,
      // Packages see each other as their users do: through their declarations.
      paths: {
        "@sounding/client": [`${root}dist/packages/client/dist/index.d.ts`],
        "@sounding/client/sync": [`${root}dist/packages/client/dist/sync.d.ts`],
        "@sounding/console": [`${root}dist/packages/console/dist/published.d.ts`],
        "@sounding/server": [`${root}dist/packages/server/dist/index.d.ts`],
        ...Object.fromEntries(
          ["promql", "logql", "traceql"].flatMap((language) => [
            [`@sounding/${language}`, [`${root}dist/packages/${language}/dist/index.d.ts`]],
            [`@sounding/${language}/*`, [`${root}dist/packages/${language}/dist/*.d.ts`]],
          ]),
        ),
      },
    },
    // The console's other entry builds it from its sources.
    include: [name === "console" ? `${source}/published.ts` : source],
    exclude: [`${source}/**/*.test.ts`],
  };
  const file = `${target}/tsconfig.json`;
  writeFileSync(file, JSON.stringify(settings));
  execFileSync(`${root}node_modules/.bin/tsc`, ["--project", file], { stdio: "inherit" });
  rmSync(file);
  renameDeclarationImports(`${target}/dist`);
}

/** The built pages, next to the module that reads them. */
async function writeConsole(target: string): Promise<void> {
  for (const { path, bytes } of await buildConsole()) {
    const file = `${target}/dist/console/${path}`;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

/** The page at `/docs` needs one prebuilt file of a package whose dependencies are in that file already. */
function copyApiReferenceScript(target: string): void {
  const script = new URL("browser/standalone.js", import.meta.resolve("@scalar/api-reference"));
  writeFileSync(`${target}/dist/status/${packagedScript}`, gzipSync(readFileSync(script), { level: 9 }));
}

/** The file that npm links as the command: it starts the compiled sources. */
function writeLauncher(target: string): void {
  const source = readFileSync(`${root}packages/cli/bin/sounding.js`, "utf8");
  mkdirSync(`${target}/bin`);
  writeFileSync(`${target}/bin/sounding.js`, source.replace("../src/main.ts", "../dist/main.js"), { mode: 0o755 });
  cpSync(`${root}packages/cli/bin/compile-cache.js`, `${target}/bin/compile-cache.js`);
}

/** The compiler rewrites `./file.ts` to `./file.js` in scripts, but not in declarations. */
function renameDeclarationImports(directory: string): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(`${directory}/${name}`, "utf8");
    writeFileSync(`${directory}/${name}`, text.replaceAll(/((?:from|import) |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

function publishedManifest({ devDependencies: _unused, ...source }: Manifest): object {
  const built = (path: string): string => path.replace(/^\.\/src\/(.*)\.ts$/, "./dist/$1.js");
  const manifest = source.name === "@sounding/console" ? consoleManifest(source) : source;
  const { exports = {}, bin } = manifest;
  const entries = Object.entries(exports).map(([entry, path]) => [entry, built(path)] as const);
  const declarations = (script: string): string => script.replace(/\.js$/, ".d.ts");
  const [main] = Object.values(exports);
  return {
    ...manifest,
    ...(main === undefined ? {} : { types: declarations(built(main)) }),
    // For the module resolution "node10", which does not know `exports`.
    ...(entries.length < 2
      ? {}
      : {
          typesVersions: {
            "*": Object.fromEntries(
              entries
                .filter(([entry]) => entry !== ".")
                .map(([entry, script]) => [entry.slice(2), [declarations(script)]]),
            ),
          },
        }),
    exports: Object.fromEntries(
      entries.map(([entry, script]) => [entry, { types: declarations(script), default: script }]),
    ),
    files: [...(bin === undefined ? [] : ["bin"]), "dist", "NOTICE"],
    ...repositoryFields(source.name),
    sideEffects: false,
    publishConfig: { access: "public", provenance: true },
  };
}

/** Where the package's sources are, once the workspace's package.json names its repository. npm's provenance needs it. */
function repositoryFields(name: string): object {
  const { repository } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as { repository?: string };
  if (repository === undefined) return {};
  const homepage = repository.replace(/^git\+/, "").replace(/\.git$/, "");
  return { repository: { type: "git", url: repository, directory: name.replace("@sounding", "packages") }, homepage };
}

/** The published console has built files only: what they were built from is in them. */
function consoleManifest({ dependencies: _bundled, ...manifest }: Manifest): Manifest {
  return { ...manifest, exports: { ".": "./src/published.ts" } };
}

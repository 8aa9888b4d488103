/**
 * Copies what a server needs at run time into one folder: the built packages and the installed packages that they import,
 * for this platform, without the files that Node never reads.
 * `node deploy/container/assemble.ts FOLDER [--slim]`; run `npm ci` and `npm run build` before.
 */
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Local engines that the published server does not install. docs/operate/installation.md */
const localEngines = ["node-llama-cpp", "sherpa-onnx-node"];

interface Manifest {
  readonly name: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { slim: { type: "boolean" } } });
const [folder] = positionals;
if (folder === undefined) throw new Error("Usage: node deploy/container/assemble.ts FOLDER [--slim]");
const isSlim = values.slim === true;
/** Optional packages of the server: espeak-ng, of which the larger image has Debian's faster program, and the embedded store. */
const leftOut = new Set(["@echogarden/espeak-ng-emscripten", ...(isSlim ? ["chdb"] : [])]);

/** Node strips no types below node_modules, so TypeScript is as useless there as maps and documentation. */
const unread = /\.(?:map|[cm]?ts|tsx|flow|mdx?|markdown|html)$/i;
/** Files whose text licenses require. */
const legal = /(?:^|\/)(?:licen[cs]e|notice|copying|authors|third[-_ ]?party)[^/]*$/i;

/** Installed folders, relative to the repository, that are copied or being copied. */
const copied = new Set<string>();
/** A built package goes where npm would install it, and so do the packages that npm has installed only for it. */
function copyWorkspace(name: string): void {
  const source = `packages/${name}`;
  if (copied.has(source)) return;
  copied.add(source);
  const built = join(repository, "dist/packages", name);
  copyFolder(built, join(folder!, "node_modules/@sounding", name));
  copyDependencies(readManifest(built)!, source);
}

function copyDependencies({ dependencies = {}, optionalDependencies = {} }: Manifest, dependent: string): void {
  for (const name of Object.keys(dependencies)) {
    if (name in optionalDependencies) continue;
    if (name.startsWith("@sounding/")) copyWorkspace(basename(name));
    else copyInstalled(name, dependent);
  }
  for (const name of Object.keys(optionalDependencies))
    if (!leftOut.has(name)) copyInstalled(name, dependent, { isOptional: true });
}

/** @param dependent the folder of the package that imports it, relative to the repository */
function copyInstalled(name: string, dependent: string, { isOptional = false } = {}): void {
  const source = find(name, dependent);
  const manifest = source === undefined ? undefined : readManifest(join(repository, source));
  if (source === undefined || manifest === undefined) {
    if (isOptional) return;
    throw new Error(`${name}, which ${dependent} needs, is not installed. Run npm ci.`);
  }
  if (copied.has(source) || (isOptional && !runsHere(manifest, name))) return;
  copied.add(source);
  const target = source.replace(/^packages\/([^/]+)\/node_modules\//, "node_modules/@sounding/$1/node_modules/");
  copyFolder(join(repository, source), join(folder!, target));
  copyDependencies(manifest, source);
}

/** Where Node would find a package: next to its dependent, or next to one of the folders around it. */
function find(name: string, dependent: string): string | undefined {
  for (let around = dependent; ; around = dirname(around)) {
    const candidate = join(around, "node_modules", name);
    if (basename(around) !== "node_modules" && existsSync(join(repository, candidate, "package.json")))
      return candidate;
    if (around === ".") return undefined;
  }
}

/**
 * Whether an optional package has a build for this platform. The workspace replaces llama.cpp's builds for graphics cards by an
 * empty package, and its build for ARM declares that it runs on x64 too.
 */
function runsHere({ name, os, cpu, libc }: Manifest, wanted: string): boolean {
  const allows = (list: readonly string[] | undefined, value: string): boolean =>
    list === undefined ||
    (list.some((entry) => entry.startsWith("!")) ? !list.includes(`!${value}`) : list.includes(value));
  if (name !== wanted || (name.startsWith("@node-llama-cpp/") && !name.endsWith(`${process.platform}-${process.arch}`)))
    return false;
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, "glibc");
}

function readManifest(path: string): Manifest | undefined {
  const file = join(path, "package.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Manifest) : undefined;
}

function copyFolder(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, {
    recursive: true,
    dereference: true,
    filter: (path) => isNeeded(relative(source, path).replaceAll("\\", "/"), source),
  });
}

function isNeeded(path: string, source: string): boolean {
  const [first = ""] = path.split("/");
  // Packages in a package are copied if something imports them.
  if (first === "node_modules") return false;
  // The sources of llama.cpp, from which node-llama-cpp could build it, except what names its version.
  if (basename(source) === "node-llama-cpp" && first === "llama") return path === first || path.endsWith(".json");
  // The built console's pages are served as they are.
  if (source.startsWith(join(repository, "dist"))) return !/\.d\.[cm]?ts$/.test(path);
  return legal.test(path) || !unread.test(path);
}

copyWorkspace("cli");
if (!isSlim) for (const name of localEngines) copyInstalled(name, ".");

/**
 * Bundles the command `sounding`, once for each run. Tests start hundreds of processes of it, and a bundle loads in a fifth of
 * the CPU time that its 2600 modules take. `node --test` runs the same tests with the sources.
 */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { buildConsole } from "../../packages/console/files/build-console.ts";

const packages = fileURLToPath(new URL("../../packages/", import.meta.url));
/** Under the packages that are not bundled. The path is the same for the same content, so that it stays compiled. */
const builds = fileURLToPath(new URL("../../node_modules/.cache/built-command/", import.meta.url));
const keptMs = 24 * 3_600_000;

/** Packages that have compiled code or that a server may lack. */
const external = ["chdb", "node-llama-cpp", "sherpa-onnx-node", "pg-native", "esbuild"];

/** Modules that look for files next to themselves, which are next to the bundle. */
const beside = /packages\/(?:server\/src\/workers\/worker-process|console\/files\/published)\.ts$/;

/** Resolves to the script's path. */
export async function buildCommand(): Promise<string> {
  const scripts = await build({
    entryPoints: [
      { in: join(packages, "cli/src/main.ts"), out: "sounding" },
      { in: join(packages, "server/src/workers/main.ts"), out: "main" },
    ],
    outdir: builds,
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: `node${process.versions.node}`,
    external,
    // Messages and logs have names of classes.
    keepNames: true,
    plugins: [keepPlaces],
    banner: { js: requireForCommonJs },
    logLevel: "silent",
  });
  const files = new Map<string, Uint8Array>([["package.json", Buffer.from('{ "type": "module" }\n')]]);
  for (const { path, contents } of scripts.outputFiles) files.set(path.slice(builds.length), contents);
  for (const { path, bytes } of await buildConsole()) files.set(`console/${path}`, bytes);
  return join(await writeOnce(files), "sounding.js");
}

/** esbuild leaves the `require` of CommonJS modules for Node's own modules. */
const requireForCommonJs = `import { createRequire as createRequireOfBundle } from "node:module";
const require = createRequireOfBundle(import.meta.url);`;

/** Modules find workers, processes and data where their sources are. */
const keepPlaces: Plugin = {
  name: "keep-places",
  setup({ onLoad, onResolve }) {
    // As published: the pages are built, once for all servers.
    onResolve({ filter: /^@sounding\/console$/ }, () => ({ path: join(packages, "console/files/published.ts") }));
    onLoad({ filter: /packages\/.*\.ts$/ }, async ({ path }) => {
      if (beside.test(path)) return undefined;
      const source = await readFile(path, "utf8");
      const contents = source.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
      return { contents, loader: "ts" };
    });
    onLoad({ filter: /node_modules\/.*\.c?js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!/\b__(?:dirname|filename)\b/.test(source)) return undefined;
      const places = `var __dirname = ${JSON.stringify(dirname(path))}, __filename = ${JSON.stringify(path)};`;
      return { contents: `${places}${source}`, loader: "js" };
    });
  },
};

/** Writes the files to a folder that is named by their content, if it is not there yet, and removes those of other days. */
async function writeOnce(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for (const [path, bytes] of files) hash.update(`${path} ${bytes.length}\n`).update(bytes);
  const folder = join(builds, hash.digest("hex").slice(0, 16));
  await mkdir(builds, { recursive: true });
  const unfinished = await mkdtemp(`${folder}-`);
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(unfinished, path)), { recursive: true });
    await writeFile(join(unfinished, path), bytes);
  }
  // Another run may have written it, now or earlier.
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
  const now = new Date();
  await utimes(folder, now, now);
  for (const name of await readdir(builds)) {
    const { mtimeMs } = await stat(join(builds, name)).catch(() => ({ mtimeMs: Infinity }));
    if (mtimeMs < now.getTime() - keptMs) await rm(join(builds, name), { recursive: true, force: true });
  }
  return folder;
}

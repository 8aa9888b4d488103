/**
 * Bundles the console with esbuild: one script for the first view, one for each view that is opened later, and one style
 * sheet. docs/adr/0028-client-command-and-pages.md
 */
import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, stop, type BuildOptions, type Metafile, type OutputFile } from "esbuild";

export interface BuiltFile {
  /** The path under `/console/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

const sources = fileURLToPath(new URL("../src/", import.meta.url));
/** Nothing is written there: esbuild needs a folder that output paths are relative to. */
const output = join(sources, "../console/");

const options = {
  absWorkingDir: sources,
  bundle: true,
  minify: true,
  metafile: true,
  write: false,
  outdir: output,
  entryNames: "assets/[name]-[hash]",
  chunkNames: "assets/[name]-[hash]",
  target: ["chrome123", "firefox121", "safari17.5"],
  legalComments: "none",
  logLevel: "silent",
  tsconfigRaw: {},
} as const satisfies BuildOptions;

/** @throws Error with esbuild's messages if the sources have an error */
export async function buildConsole(): Promise<BuiltFile[]> {
  const [scripts, theme, styles] = await Promise.all([
    build({
      ...options,
      entryPoints: ["main.tsx"],
      splitting: true,
      format: "esm",
      jsx: "automatic",
      jsxImportSource: "preact",
    }),
    // Not a module, since browsers run modules after the first paint.
    build({ ...options, entryPoints: ["theme.ts"], format: "iife" }),
    build({
      ...options,
      stdin: { contents: await allStyles(), resolveDir: sources, loader: "css", sourcefile: "styles.css" },
      entryNames: "assets/styles-[hash]",
    }),
  ]);
  // esbuild runs in a child process, which would otherwise stay.
  await stop();
  const toFile = ({ path, contents }: OutputFile): BuiltFile => ({ path: path.slice(output.length), bytes: contents });
  const files = [...scripts.outputFiles, ...theme.outputFiles, ...styles.outputFiles].map(toFile);
  const page = renderPage(scripts.metafile, {
    theme: toFile(theme.outputFiles[0]!).path,
    styles: toFile(styles.outputFiles[0]!).path,
  });
  const icon = await readFile(join(sources, "icon.svg"));
  return [...files, { path: "icon.svg", bytes: icon }, { path: "index.html", bytes: page }];
}

/** Every style sheet of the sources, the general ones first: views load no style sheets of their own. */
async function allStyles(): Promise<string> {
  const found = await Array.fromAsync(glob("**/*.css", { cwd: sources }));
  const first = ["design/tokens.css", "design/elements.css"];
  const others = found.filter((path) => !first.includes(path)).toSorted();
  return [...first, ...others].map((path) => `@import ${JSON.stringify(`./${path}`)};\n`).join("");
}

/** The page, without its `<base>`, which depends on the address it is requested at. */
function renderPage({ outputs }: Metafile, { theme, styles }: Record<"theme" | "styles", string>): Uint8Array {
  const [path, main] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === "main.tsx") ?? [];
  if (path === undefined || main === undefined) throw new Error("The console's build has no main script.");
  const preloads = main.imports.filter(({ kind }) => kind === "import-statement").map((each) => underRoot(each.path));
  const lines = [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    "<title>Sounding</title>",
    '<link rel="icon" href="icon.svg">',
    `<script src="${theme}"></script>`,
    `<link rel="stylesheet" href="${styles}">`,
    `<script type="module" src="${underRoot(path)}"></script>`,
    ...preloads.map((script) => `<link rel="modulepreload" href="${script}">`),
    "</head>",
    "<body>",
    '<div id="console"></div>',
    "<noscript><p>The console needs JavaScript. The API and the command <code>sounding</code> offer the same.</p></noscript>",
    "</body>",
    "</html>",
    "",
  ];
  return Buffer.from(lines.join("\n"));
}

/** esbuild names outputs relative to its working directory: `../console/assets/main-ABC.js`. */
function underRoot(path: string): string {
  return path.replace(/^\.\.\/console\//, "");
}

/** The main entry as a web page would load it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

test("the browser client needs no Node module and is under 15 KB, minified and compressed", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "silent",
  });
  const outside = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  assert.deepEqual(outside, []);
  const { length } = gzipSync(outputFiles[0]!.contents, { level: 9 });
  assert.ok(length < 15_000, `${length} bytes`);
});

/** Finds PocketSphinx in a file tree. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { findInstallation } from "../../src/engines/pocketsphinx/installation.ts";

async function treeOf(...files: readonly string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "sounding-pocketsphinx-"));
  for (const file of files) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), "");
  }
  return root;
}

const architecture = { x64: "x86_64", arm64: "aarch64" }[process.arch as string] ?? "x86_64";
const model = (prefix: string): string[] =>
  ["en-us/mdef", "en-us.lm.bin", "cmudict-en-us.dict"].map(
    (file) => `${prefix}/share/pocketsphinx/model/en-us/${file}`,
  );
const nowhere = { library: undefined, modelDirectory: undefined };

describe("finding PocketSphinx", () => {
  test("finds Debian's packages in the folder of the architecture", async () => {
    const lib = `usr/lib/${architecture}-linux-gnu`;
    const root = await treeOf(`${lib}/libpocketsphinx.so.3`, `${lib}/libsphinxbase.so.3`, ...model("usr"));
    const found = findInstallation({ ...nowhere, root });
    assert.equal(found.library, join(root, lib, "libpocketsphinx.so.3"));
    assert.equal(found.baseLibrary, join(root, lib, "libsphinxbase.so.3"));
    assert.equal(found.dictionary, join(root, "usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict"));
    await rm(root, { recursive: true });
  });

  test("finds a locally built release 5, which has one library", async () => {
    const root = await treeOf("usr/local/lib/libpocketsphinx.so.5", ...model("usr/local"));
    const found = findInstallation({ ...nowhere, root });
    assert.equal(found.library, join(root, "usr/local/lib/libpocketsphinx.so.5"));
    assert.equal(found.baseLibrary, undefined);
    await rm(root, { recursive: true });
  });

  test("reports what is missing", async () => {
    const root = await treeOf("usr/lib/libpocketsphinx.so.3");
    assert.throws(() => findInstallation({ ...nowhere, root }), { message: /model is not installed/ });
    const partly = await treeOf("usr/lib/libpocketsphinx.so.3", ...model("usr").slice(0, 2));
    assert.throws(() => findInstallation({ ...nowhere, root: partly }), { message: /cmudict-en-us\.dict/ });
    const empty = await treeOf();
    assert.throws(() => findInstallation({ ...nowhere, root: empty }), { message: /PocketSphinx library/ });
    for (const each of [root, partly, empty]) await rm(each, { recursive: true });
  });
});

/** Installs PocketSphinx's packages, with scripts that stand in for apt-get and sudo. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "../../src/logger.ts";
import { installPocketSphinx } from "../../src/engines/pocketsphinx/install-packages.ts";

const usualPath = process.env["PATH"] ?? "";
const never = new AbortController().signal;
let folder: string;

/** Puts programs first in PATH, followed only by a shell's usual ones without apt-get and sudo. */
async function programs(scripts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, script] of Object.entries(scripts)) {
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }
}

/** @param userId 0 is root */
async function setUp(userId: number, signal = never): Promise<{ installed: boolean; told: string[]; log: string }> {
  const told: string[] = [];
  const logFile = join(folder, "install.log");
  const installed = await installPocketSphinx({
    logFile,
    logger: silentLogger,
    notify: (notice) => told.push(notice),
    signal,
    isInstalled: () => existsSync(join(folder, "installed")),
    userId,
  });
  return { installed, told, log: existsSync(logFile) ? await readFile(logFile, "utf8") : "" };
}

const apt = (install: string): string => `
case "$*" in
  --version) exit 0 ;;
  *update*) touch "${folder}/updated" ;;
  *install*) echo "$DEBIAN_FRONTEND $*"; ${install} ;;
esac`;

describe("installing speech recognition", { skip: process.platform === "win32" }, () => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sounding-set-up-"));
    process.env["PATH"] = `${folder}:${usualPath}`;
    await programs({ "apt-get": "exit 127", sudo: "exit 1" });
  });
  after(async () => {
    process.env["PATH"] = usualPath;
    await rm(folder, { recursive: true, force: true });
  });

  test("installs the library and the model as root, without questions", async () => {
    await programs({ "apt-get": apt(`touch "${folder}/installed"`) });
    const { installed, told, log } = await setUp(0);
    assert.equal(installed, true);
    assert.match(told[0]!, /^Installing speech recognition \(libpocketsphinx3, pocketsphinx-en-us\)/);
    assert.match(told[1]!, /is installed; the model is "pocketsphinx"/);
    assert.match(log, /^noninteractive .*install --no-install-recommends libpocketsphinx3 pocketsphinx-en-us$/m);
    assert.equal(existsSync(join(folder, "updated")), false);
  });

  test("updates the package lists if the packages are unknown", async () => {
    await programs({ "apt-get": apt(`[ -e "${folder}/updated" ] || exit 100; touch "${folder}/installed"`) });
    assert.equal((await setUp(0)).installed, true);
  });

  test("uses sudo if it requires no password", async () => {
    await programs({
      "apt-get": apt(`touch "${folder}/installed"`),
      sudo: `[ "$1" = -n ] || exit 1; shift; touch "${folder}/sudo"; exec "$@"`,
    });
    assert.equal((await setUp(1000)).installed, true);
    assert.equal(existsSync(join(folder, "sudo")), true);
  });

  test("does nothing, quietly, if it may not or cannot install", async () => {
    await programs({ "apt-get": apt("true") });
    assert.deepEqual(await setUp(1000), { installed: false, told: [], log: "" });
    await programs({ "apt-get": "exit 127" });
    assert.deepEqual(await setUp(0), { installed: false, told: [], log: "" });
  });

  test("does nothing if it is already installed", async () => {
    await writeFile(join(folder, "installed"), "");
    assert.deepEqual(await setUp(0), { installed: false, told: [], log: "" });
  });

  test("explains the manual steps when it fails, or when the packages are not as expected", async () => {
    for (const install of ["echo no network >&2; exit 100", "true"]) {
      await programs({ "apt-get": apt(install) });
      const { installed, told } = await setUp(0);
      assert.equal(installed, false);
      assert.match(told[1]!, /apt-get install libpocketsphinx3 pocketsphinx-en-us$/);
    }
    assert.match(await readFile(join(folder, "install.log"), "utf8"), /no network/);
  });

  test("lets the package manager continue when the server ends, and does not wait for it", async () => {
    await programs({
      "apt-get": apt(`while [ ! -e "${folder}/go" ]; do sleep 0.05; done; touch "${folder}/installed"`),
    });
    const controller = new AbortController();
    const ending = setUp(0, controller.signal);
    while (!existsSync(join(folder, "install.log"))) await sleep(10);
    controller.abort();
    assert.equal((await ending).installed, false);
    await writeFile(join(folder, "go"), "");
    while (!existsSync(join(folder, "installed"))) await sleep(10);
  });
});

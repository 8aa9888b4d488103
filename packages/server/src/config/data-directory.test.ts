/** Where the data is if nothing sets `storage.data_dir`. */
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { defaultDataDirectory } from "./data-directory.ts";
import { loadConfig } from "./load-config.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const folder = mkdtempSync(join(tmpdir(), "sounding-place-"));
const start = process.cwd();
beforeTests((stack) => {
  stack.defer(() => rmSync(folder, { recursive: true }));
  process.chdir(folder);
  stack.defer(() => process.chdir(start));
});

describe("the data directory", () => {
  test("is the user's, the service's, or the system's", () => {
    const home = { HOME: "/home/ada" };
    assert.equal(defaultDataDirectory(home), "/home/ada/.local/share/sounding");
    assert.equal(defaultDataDirectory({ ...home, XDG_DATA_HOME: "/data" }), "/data/sounding");
    assert.equal(defaultDataDirectory({ ...home, XDG_DATA_HOME: "data" }), "/home/ada/.local/share/sounding");
    assert.equal(
      defaultDataDirectory({ ...home, STATE_DIRECTORY: "/var/lib/sounding:/var/lib/x" }),
      "/var/lib/sounding",
    );
    if (process.getuid?.() === 0) assert.equal(defaultDataDirectory({}), "/var/lib/sounding");
  });

  test("of a configuration file starts at the file's folder", async () => {
    const elsewhere = join(folder, "elsewhere");
    mkdirSync(elsewhere);
    const path = join(elsewhere, "sounding.yaml");
    writeFileSync(path, "storage: { data_dir: data }");
    const { config } = await loadConfig({ path, env: {} });
    assert.equal(config?.storage.data_dir, join(elsewhere, "data"));
  });

  test("of an earlier version in the working directory stays in use, with a warning", async () => {
    const former = join(folder, "sounding-data");
    mkdirSync(former);
    const { config, warnings } = await loadConfig({ env: { HOME: "/home/ada" } });
    assert.equal(config?.storage.data_dir, former);
    assert.match(warnings.join(), /The data directory is .*sounding-data, because this folder exists\./);
    const set = await loadConfig({ env: { HOME: "/home/ada", SOUNDING_DATA_DIR: former } });
    assert.deepEqual(set.warnings, []);
    rmSync(former, { recursive: true });
    const without = await loadConfig({ env: { HOME: "/home/ada" } });
    assert.equal(without.config?.storage.data_dir, "/home/ada/.local/share/sounding");
  });
});

/** The systemd unit is valid, leaves the service few rights, and sets settings that exist. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { assertServerAccepts, readDeployed } from "../support/deployment-files.ts";
import { needs } from "../support/needs.ts";

const run = promisify(execFile);

/** Exposure by `systemd-analyze security`, in tenths: 0 is best, 100 worst. What is left is access to the network. */
const mostExposure = 15;

const skip = needs("systemd");
const unit = await readDeployed("systemd/sounding.service");

async function withUnit(text: string, use: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "sounding-unit-"));
  try {
    const path = join(folder, "sounding.service");
    await writeFile(path, text);
    await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("the systemd unit", () => {
  test("has no line that systemd does not understand", { skip }, async () => {
    // Sounding is not installed where this test runs.
    await withUnit(unit.replaceAll(/^ExecStart=.*$/gm, "ExecStart=/bin/true"), async (path) => {
      const { stdout, stderr } = await run("systemd-analyze", ["verify", "--man=no", path]);
      assert.deepEqual(
        `${stdout}${stderr}`.split("\n").filter((line) => line.includes("sounding.service")),
        [],
      );
    });
  });

  test("leaves the service few rights", { skip }, async () => {
    const threshold = ["--offline=true", "--no-pager", `--threshold=${mostExposure}`];
    await withUnit(unit, async (path) => void (await run("systemd-analyze", ["security", ...threshold, path])));
    const open = unit.replace(/^ProtectSystem=.*$/m, "").replaceAll(/^SystemCallFilter=.*$/gm, "");
    await withUnit(open, (path) => assert.rejects(run("systemd-analyze", ["security", ...threshold, path])));
  });

  test("lets running calls finish, and does not repeat a start with an invalid configuration", () => {
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]) > 30);
    assert.match(unit, /^RestartPreventExitStatus=8$/m);
    assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=yes/m);
  });

  test("reads an example of settings that exist", async () => {
    const lines = (await readDeployed("systemd/sounding.env")).matchAll(/^#?([A-Z_]+)=(.*)$/gm);
    const env = Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]));
    assert.ok(Object.keys(env).length > 8);
    assertServerAccepts(env);
  });
});

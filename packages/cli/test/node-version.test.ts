/** The launcher of the command, run by a Node that says it is another version. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const launcher = fileURLToPath(new URL("../bin/sounding.js", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  engines: { node: string };
};
const lowest = manifest.engines.node.replace(">=", "");

function startAs(version: string) {
  const pretend = `Object.defineProperty(process.versions, "node", { value: ${JSON.stringify(version)} });`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, launcher, "--version"];
  return spawnSync(process.execPath, args, { encoding: "utf8" });
}

test("the command says in one line which Node it needs, if it is run by an older one", () => {
  for (const version of ["18.19.1", "20.20.2", "24.11.1"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, /^[^\n]+\n$/);
    assert.ok(stderr.includes(`needs Node ${lowest} or later, but this is Node ${version}.`), stderr);
  }
});

test("the command runs with the oldest Node that its package allows, and with newer ones", () => {
  for (const version of [`${lowest}.0`, "24.21.0", "26.0.0"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  }
});

/** Programs of the system with a time limit, run by a shell. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runProgram } from "../../src/child-process/run-program.ts";
import { onlyOnLinux } from "../../../../test/support/needs.ts";

const environment = { PATH: process.env["PATH"]! };
const limits = { directory: tmpdir(), environment, timeoutMs: 60_000, signal: new AbortController().signal };

/** A zombie has ended. */
function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** The children of a process, once it has some. */
async function childrenOf(pid: number): Promise<number[]> {
  for (;;) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    if (children !== "") return children.split(" ").map(Number);
    await nextTurn();
  }
}

describe("programs of the system", { skip: onlyOnLinux }, () => {
  test("return what they write", async () => {
    const { output, errors } = await runProgram("sh", ["-c", "echo out; echo problem >&2; pwd"], limits);
    assert.deepEqual([output.split("\n")[0], errors], ["out", "problem"]);
  });

  test("get only the environment that is passed", async () => {
    process.env["SOUNDING_TEST_SECRET"] = "secret";
    const { output } = await runProgram("env", [], limits);
    delete process.env["SOUNDING_TEST_SECRET"];
    assert.equal(output.includes("SOUNDING_TEST_SECRET"), false);
  });

  test("fail with their exit code and the end of their standard error", async () => {
    const { errors, problem } = await runProgram("sh", ["-c", "echo why >&2; exit 7"], limits);
    assert.deepEqual([problem, errors], ["sh ended with code 7.", "why"]);
    await assert.rejects(runProgram("no-such-program", [], limits), { code: "ENOENT" });
  });

  test("end with everything they have started when their time is over or the signal aborts", async () => {
    const script = "sleep 1000 & wait";
    for (const reason of ["took longer than", "stopped"]) {
      const controller = new AbortController();
      const timeoutMs = reason === "stopped" ? 60_000 : 500;
      const running = runProgram("sh", ["-c", script], { ...limits, timeoutMs, signal: controller.signal });
      const [child] = await childrenOf(process.pid);
      const [grandchild] = await childrenOf(child!);
      if (reason === "stopped") controller.abort(new Error("stopped"));
      await assert.rejects(running, new RegExp(reason));
      while (runs(grandchild!)) await nextTurn();
    }
  });
});

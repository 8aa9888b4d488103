/** Child processes: start, end and every failure in between. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, test } from "node:test";
import { IpcProcess } from "../../src/child-process/ipc-process.ts";
import { RunningProcess, type ProcessEnd, type StartLimits } from "../../src/child-process/running-process.ts";
import type { Order, Report } from "./obedient-child.ts";

const script = new URL("obedient-child.ts", import.meta.url);

const limits: StartLimits = {
  timeoutMs: 60_000,
  timedOut: () => new Error("timed out"),
  ended: ({ how }) => new Error(`ended with ${how}`),
};

function newProcess(): IpcProcess<Order, Report> {
  return new IpcProcess<Order, Report>({ script, environment: { ONLY: "this" } });
}

function readReport(report: Report): Report {
  if (report.type === "failed") throw new Error("the child failed");
  return report;
}

describe("a child process", () => {
  test("starts with the answer to its first message, and stops on request", async () => {
    const child = newProcess();
    assert.deepEqual(await child.start({ do: "answer" }, readReport, limits), { type: "ready" });
    assert.equal(child.isConnected, true);
    await child.stop({ do: "exit" }, 60_000);
    assert.deepEqual(await child.ended, { how: "code 0", error: undefined });
    assert.equal(child.isConnected, false);
    // Nobody receives it, and nothing fails.
    child.send({ do: "answer" });
  });

  test("has only the environment that it was given", async () => {
    const child = newProcess();
    const { names = [] } = await child.start({ do: "environment" }, readReport, limits);
    assert.ok(names.includes("ONLY"));
    assert.ok(!names.includes("HOME") && !names.includes("PATH"));
    child.kill();
    await child.ended;
  });

  test("is killed if it ignores the request to stop", async () => {
    const child = newProcess();
    await child.start({ do: "answer" }, readReport, limits);
    await child.stop({ do: "nothing" }, 1);
    assert.equal((await child.ended).how, "SIGKILL");
  });

  test("passes messages to its listeners in order", async () => {
    const child = newProcess();
    const reports: string[] = [];
    const both = Promise.withResolvers<void>();
    child.listen(({ type }) => {
      reports.push(type);
      if (reports.length === 2) both.resolve();
    });
    child.send({ do: "fail" });
    child.send({ do: "answer" });
    await both.promise;
    assert.deepEqual(reports, ["failed", "ready"]);
    child.kill();
    await child.ended;
  });
});

describe("a child process that does not start", () => {
  test("is killed after its timeout", async () => {
    const child = newProcess();
    await assert.rejects(child.start({ do: "nothing" }, readReport, { ...limits, timeoutMs: 1 }), /timed out/);
    assert.equal((await child.ended).how, "SIGKILL");
  });

  test("is killed when its start is aborted, before or during it", async () => {
    for (const isAborted of [true, false]) {
      const child = newProcess();
      const controller = new AbortController();
      if (isAborted) controller.abort(new Error("not wanted"));
      const starting = child.start({ do: "nothing" }, readReport, { ...limits, signal: controller.signal });
      controller.abort(new Error("not wanted"));
      await assert.rejects(starting, /not wanted/);
      assert.equal((await child.ended).how, "SIGKILL");
    }
  });

  test("is killed when it reports a failure", async () => {
    const child = newProcess();
    await assert.rejects(child.start({ do: "fail" }, readReport, limits), /the child failed/);
    assert.equal((await child.ended).how, "SIGKILL");
  });

  test("reports its last output when it crashes", async () => {
    const child = newProcess();
    await assert.rejects(child.start({ do: "crash" }, readReport, limits), /ended with SIGABRT/);
    assert.match(child.lastOutput, /the last words/);
  });

  test("reports that its program is missing", async () => {
    const running = new RunningProcess(spawn("/nonexistent/program", { stdio: ["ignore", "ignore", "pipe"] }));
    const never = new Promise<void>(() => {});
    let end: ProcessEnd | undefined;
    const ended = (how: ProcessEnd): Error => {
      end = how;
      return new Error("missing");
    };
    await assert.rejects(running.started(never, { ...limits, ended }), /missing/);
    assert.match(end!.how, /ENOENT/);
    assert.ok(end!.error instanceof Error);
    assert.equal(running.pid, undefined);
  });
});

test("the kept output is the end of the process's standard error", async () => {
  const child = spawn(process.execPath, ["-e", "process.stderr.write('begin' + '.'.repeat(100) + 'end')"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const running = new RunningProcess(child, 10);
  await running.ended;
  assert.equal(running.lastOutput, ".......end");
});

/** A pool of processes that hang, crash and do not start. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import type { PooledProcess, ProcessPoolOptions } from "./pooled-process.ts";
import { ProcessPool } from "./process-pool.ts";

interface TestProcess extends PooledProcess {
  readonly name: string;
  crash(reason: Error): void;
}

function createPool(options: Partial<ProcessPoolOptions<TestProcess>> = {}) {
  const processes: TestProcess[] = [];
  const stopped: string[] = [];
  const pool = new ProcessPool<TestProcess>({
    most: 1,
    what: "The test",
    logger: silentLogger,
    messages: { failed: "failed", notStarted: "did not start", idle: "was idle" },
    async start() {
      const { promise: ended, resolve } = Promise.withResolvers<unknown>();
      const name = `process ${processes.length + 1}`;
      const stop = (): void => {
        stopped.push(name);
        resolve(undefined);
      };
      processes.push({ name, ended, crash: resolve, stop });
      return processes.at(-1)!;
    },
    ...options,
  });
  return { pool, processes, stopped };
}

const turn = { first: true, signal: new AbortController().signal };
const nameOf = async ({ name }: TestProcess): Promise<string> => name;
const forever = (): Promise<never> => new Promise(() => {});

async function turns(): Promise<void> {
  for (let count = 0; count < 50; count++) await Promise.resolve();
}

function withTimers(run: () => Promise<void>): () => Promise<void> {
  return async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      await run();
    } finally {
      mock.timers.reset();
    }
  };
}

test(
  "a process that hangs is replaced: its work fails, the next one is done",
  withTimers(async () => {
    const { pool, stopped } = createPool({ longestWorkMs: 60_000 });
    const stuck = assert.rejects(pool.run(turn, forever), { code: "upstream_timeout" });
    const next = pool.run(turn, nameOf);
    await turns();
    mock.timers.tick(60_000);
    await stuck;
    assert.equal(await next, "process 2");
    assert.deepEqual(stopped, ["process 1"]);
    await pool.close();
    assert.deepEqual(stopped, ["process 1", "process 2"]);
    await assert.rejects(pool.run(turn, nameOf), { code: "overloaded", message: "The test is shutting down." });
  }),
);

test(
  "cancelled work is let finish for a while, then its process is replaced",
  withTimers(async () => {
    const { pool, stopped } = createPool({ graceMs: () => 100 });
    const caller = new AbortController();
    const left = assert.rejects(pool.run({ ...turn, signal: caller.signal }, forever), /left/);
    const next = pool.run(turn, nameOf);
    await turns();
    caller.abort(new Error("left"));
    await left;
    mock.timers.tick(99);
    assert.deepEqual(stopped, []);
    mock.timers.tick(1);
    assert.equal(await next, "process 2");
    assert.deepEqual(stopped, ["process 1"]);
    await pool.close();
  }),
);

test("the first crash needs no pause, and calls are refused during the pause after the second", async () => {
  const { pool, processes } = createPool();
  for (let crash = 0; crash < 2; crash++) {
    const failed = assert.rejects(pool.run(turn, forever), /crashed/);
    await turns();
    processes.at(-1)!.crash(new Error("crashed"));
    await failed;
  }
  await assert.rejects(pool.run(turn, nameOf), { code: "overloaded", message: /^The test failed 2 times/ });
  await pool.close();
});

test("where a start is cheap, a crash delays nobody", async () => {
  const { pool, processes } = createPool({ longestPauseAfterCrashMs: 0 });
  for (let crash = 0; crash < 3; crash++) {
    const failed = assert.rejects(pool.run(turn, forever), /crashed/);
    await turns();
    processes.at(-1)!.crash(new Error("crashed"));
    await failed;
  }
  assert.equal(await pool.run(turn, nameOf), "process 4");
  await pool.close();
});

test("a failed start fails what waits; a lasting one is reported until the files change", async () => {
  let starts = 0;
  const { pool } = createPool({
    async start() {
      starts++;
      throw new AppError("upstream_failed", "damaged", { lasting: true });
    },
    files: () => ["/no/such/file"],
  });
  for (let call = 0; call < 3; call++) await assert.rejects(pool.run(turn, nameOf), /damaged/);
  assert.equal(starts, 1);
  assert.equal(pool.problem?.message, "damaged");
  await pool.close();
});

test(
  "sessions get processes of their own as long as there are any, and keep them from being stopped as idle",
  withTimers(async () => {
    const { pool, stopped } = createPool({ most: 2, idleMs: 1_000 });
    const sessions = [await pool.enter(turn), await pool.enter(turn), await pool.enter(turn)];
    assert.deepEqual(
      sessions.map(({ process }) => process.name),
      ["process 1", "process 2", "process 1"],
    );
    assert.equal(await sessions[2]!.run(turn, nameOf), "process 1");
    sessions[1]![Symbol.dispose]();
    sessions[2]![Symbol.dispose]();
    mock.timers.tick(1_000);
    assert.deepEqual(stopped, ["process 2"]);
    sessions[0]![Symbol.dispose]();
    mock.timers.tick(1_000);
    assert.deepEqual(stopped, ["process 2", "process 1"]);
    await turns();
    assert.equal(pool.isLoaded, false);
    await pool.close();
  }),
);

import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import type { Connection } from "./connection.ts";
import { Readiness } from "./readiness.ts";
import { StoreError } from "./store-error.ts";

/** A store that answers or does not, and counts the checks. */
function scriptedConnection(): { connection: Connection; answers: boolean; pings: number } {
  const script = {
    answers: true,
    pings: 0,
    connection: {
      async ping() {
        script.pings += 1;
        if (!script.answers) throw new StoreError("no answer");
      },
      pinned: () => script.connection,
      command: async (text: string) => (text.includes("max(version)") ? "1\n" : "0\n"),
    } as unknown as Connection,
  };
  return script;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === "overloaded";

test("an engine that misses three checks in a row is restarted; a single miss is tolerated", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const script = scriptedConnection();
  let restarts = 0;
  const readiness = new Readiness({ logger: silentLogger });
  readiness.watch({
    connection: script.connection,
    layout: { cluster: undefined },
    engine: { restart: () => restarts++ },
  });
  readiness.reachable();
  const pass = async (): Promise<void> => {
    await settled();
    context.mock.timers.tick(5000);
    await settled();
  };
  while (!readiness.state().ready) await pass();
  script.answers = false;
  await pass();
  assert.equal(readiness.state().ready, true);
  await pass();
  assert.equal(readiness.state().ready, false);
  assert.equal(restarts, 0);
  await pass();
  assert.equal(restarts, 1);
  script.answers = true;
  while (!readiness.state().ready) await pass();
  await readiness.close();
});

test("who asks learns at once that the engine has no memory or does not answer, which is then restarted", async () => {
  const script = scriptedConnection();
  let failure: StoreError | undefined;
  script.connection.ping = async (signal) => {
    script.pings += 1;
    if (failure !== undefined) throw failure;
    if (!script.answers)
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const readiness = new Readiness({ logger: silentLogger });
  const restarted = Promise.withResolvers<void>();
  readiness.watch({
    connection: script.connection,
    layout: { cluster: undefined },
    engine: { restart: () => restarted.resolve() },
  });
  readiness.reachable();
  await readiness.whenReady(AbortSignal.timeout(10_000));
  assert.deepEqual(await readiness.check(), { ready: true });
  // Questions within half a second share one ping.
  const { pings } = script;
  await Promise.all(Array.from({ length: 100 }, () => readiness.check()));
  assert.ok(script.pings <= pings + 1);
  failure = new StoreError("memory", { code: 241 });
  let state = await readiness.check();
  while (state.ready) state = await readiness.check();
  assert.match(state.reason!, /memory|cannot be reached/);
  failure = undefined;
  while (!state.ready) state = await readiness.check();
  script.answers = false;
  while (state.ready) state = await readiness.check();
  assert.equal(state.reason, "The embedded telemetry store does not answer.");
  await restarted.promise;
  await readiness.close();
});

test("writers wait for a store that may recover, and fail immediately if it cannot", async () => {
  const readiness = new Readiness({ logger: silentLogger });
  readiness.refuseIfDown(60_000);
  readiness.lost("The package is missing.", true);
  assert.throws(() => readiness.refuseIfDown(60_000), isOverloaded);
  assert.deepEqual(readiness.state(), { ready: false, reason: "The package is missing." });
  await assert.rejects(readiness.whenReady(AbortSignal.timeout(10)), { name: "TimeoutError" });
  await readiness.close();
});

test("a store that stays down is logged less and less often, and each new reason at once", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const script = scriptedConnection();
  script.answers = false;
  const logged: string[] = [];
  const warn = (_: unknown, message: string): void => void logged.push(message);
  const readiness = new Readiness({ logger: { ...silentLogger, warn } });
  readiness.watch({ connection: script.connection, layout: { cluster: undefined }, engine: undefined });
  readiness.reachable();
  const passUntil = async (pings: number): Promise<void> => {
    while (script.pings < pings) {
      await settled();
      context.mock.timers.tick(1000);
      await settled();
    }
  };
  await passUntil(100);
  const still = "the telemetry store still cannot be used";
  assert.deepEqual(logged, ["the telemetry store cannot be used", ...Array.from({ length: 6 }, () => still)]);
  script.answers = true;
  while (!readiness.state().ready) await passUntil(script.pings + 1);
  script.answers = false;
  await passUntil(script.pings + 3);
  assert.equal(logged[7], "the telemetry store cannot be used");
  await readiness.close();
});

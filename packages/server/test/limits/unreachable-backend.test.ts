import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Redis } from "iovalkey";
import { ValkeyLedger } from "../../src/limits/shared/valkey-ledger.ts";
import {
  admitUntilRefused,
  limitedServer,
  scope,
  tryCall,
  untilAdmitted,
  type LimitedServer,
} from "./limited-servers.ts";
import { startValkey, type ValkeyServer } from "./valkey-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

describe("a backend of shared limits", { skip: needs("valkey") }, () => {
  let valkey: ValkeyServer;
  const opened: LimitedServer[] = [];
  beforeTests(async (stack) => {
    valkey = stack.use(await startValkey());
    stack.defer(async () => void (await Promise.all(opened.map(({ shared }) => shared.close()))));
  });
  const connect = async (options: Parameters<typeof limitedServer>[1], timeoutMs = 30_000): Promise<LimitedServer> => {
    const server = await limitedServer(new ValkeyLedger({ url: valkey.url, timeoutMs }), { ...options, timeoutMs });
    opened.push(server);
    return server;
  };

  for (const [whenUnreachable, outcome] of [
    ["allow", "admitted"],
    ["refuse", "overloaded"],
  ] as const) {
    test(`that is killed: calls are ${outcome}, if servers ${whenUnreachable}, until it is started again`, async () => {
      const warnings: string[] = [];
      const log = (_fields: object, message: string) => void warnings.push(message);
      const logger = { debug: log, info: log, warn: log, error: log };
      const options = { key: { requests_per_minute: 5 }, whenUnreachable, logger };
      const [first, second] = [await connect(options), await connect(options)];
      const keyId = `killed-${whenUnreachable}`;
      assert.equal(await tryCall(first.limiter, keyId), "admitted");
      await valkey.kill();
      await until(
        async () => (await tryCall(second.limiter, keyId)) === outcome && second.shared.problem() !== undefined,
      );
      assert.match(second.shared.problem()!, /^The backend of the shared limits cannot be reached: /);
      const alone = await Promise.all(Array.from({ length: 10 }, () => tryCall(second.limiter, keyId)));
      if (whenUnreachable === "refuse") assert.deepEqual(new Set(alone), new Set(["overloaded"]));
      else assert.ok(alone.includes("rate_limited"), "the server counts alone");
      await valkey.start();
      await until(() => second.shared.problem() === undefined);
      assert.deepEqual([...new Set(warnings)].slice(0, 2), [
        "the backend of the shared limits cannot be reached; trying again",
        "the backend of the shared limits can be reached again",
      ]);
      // Valkey lost its memory, so the limit is there once more, for both together.
      await until(() => first.shared.problem() === undefined);
      const fresh = await Promise.all([first, second].map(({ limiter }) => tryCall(limiter, `${keyId}-again`)));
      assert.deepEqual(fresh, ["admitted", "admitted"]);
    });
  }

  test("that stalls holds no call up for longer than the timeout, and loses or doubles no slots", async () => {
    const key = { concurrent_requests: 3 };
    const [first, second] = [await connect({ key, whenUnreachable: "allow" }, 200), await connect({ key })];
    const stalled = scope("stalled");
    const before = await first.limiter.admit(stalled, { estimatedTokens: 1 });
    valkey.pause();
    const during = await first.limiter.admit(stalled, { estimatedTokens: 1 });
    assert.match(first.shared.problem()!, /./);
    valkey.resume();
    await until(() => first.shared.problem() === undefined);
    const last = await second.limiter.admit(stalled, { estimatedTokens: 1 });
    await assert.rejects(async () => second.limiter.admit(stalled, { estimatedTokens: 1 }), {
      message: /and 3 are running/,
    });
    for (const call of [before, during, last]) call.settle();
  });

  test("that is flushed learns of the running calls again", async () => {
    const key = { concurrent_requests: 2 };
    const [first, second] = [await connect({ key, slotLeaseMs: 1_000 }), await connect({ key, slotLeaseMs: 1_000 })];
    const flushed = scope("flushed");
    const running = await first.limiter.admit(flushed, { estimatedTokens: 1 });
    const client = new Redis(valkey.url);
    await client.flushall();
    client.disconnect();
    const concurrent = async () => {
      const usage = await second.limiter.usageOf({ kind: "key", id: "flushed", limits: {} });
      return usage.find(({ limit }) => limit === "concurrent_requests")!.used;
    };
    await until(async () => (await concurrent()) === 1);
    running.settle();
    await until(async () => (await concurrent()) === 0);
  });

  test("frees the slots of a server that was killed", async () => {
    const script = new URL("holding-process.ts", import.meta.url).pathname;
    const killed = spawn(process.execPath, [script, valkey.url, "1000", "4"], { stdio: ["ignore", "pipe", "inherit"] });
    await once(killed.stdout, "data");
    const server = await connect({ key: { concurrent_requests: 4 } });
    assert.equal(await tryCall(server.limiter), "rate_limited");
    const exited = once(killed, "exit");
    killed.kill("SIGKILL");
    await exited;
    (await untilAdmitted(async () => server.limiter.admit(scope(), { estimatedTokens: 1 }))).settle();
  });

  test("is shared again after a restart, without more than one limit for all", async () => {
    const options = { key: { requests_per_minute: 60 }, whenUnreachable: "refuse" } as const;
    const servers = [await connect(options), await connect(options)];
    const startMs = performance.now();
    const admitted = await Promise.all(servers.map((server) => admitUntilRefused(server, 20)));
    const allowed = 60 + (performance.now() - startMs) / 1000;
    assert.ok(admitted[0]! + admitted[1]! <= allowed, `${admitted.join(" + ")} of ${allowed}`);
  });
});

/** Waits for a state that follows without a further event. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setImmediate();
}

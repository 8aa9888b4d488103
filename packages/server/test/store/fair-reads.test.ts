/** Queries are scheduled fairly between organizations, with a store that answers only on command. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { createTelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { AppError } from "../../src/errors.ts";
import { type Connection, createConnection } from "../../src/store/connection.ts";
import { readPlaces, ReadLimiter } from "../../src/store/read-limiter.ts";
import { RowCaches } from "../../src/store/row-cache.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import { createTenantReader } from "../../src/store/tenant-reader.ts";
import { runWithCost, RequestCost } from "../../src/scheduling/request-cost.ts";
import { Scope } from "../../src/tenant.ts";
import { testKey } from "../support/test-key.ts";
import { scopeOf } from "./test-store.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

const places = 4;
const statement = sql`SELECT 1 AS one WHERE organization = ${callerOrganization}`;
const isAppError = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;

interface ReadOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** The job that reads for the organization. */
  readonly job?: string;
}

describe("statements that read", () => {
  /** In order of arrival at the store: the organization, and the response. */
  let arrived: { readonly organization: string; readonly url: URL; readonly response: ServerResponse }[];
  const arrivals = new EventEmitter();
  let server: ReturnType<typeof createServer>;
  let connection: Connection;
  let queue: ReadLimiter;

  beforeEachTest(async (stack) => {
    arrived = [];
    server = createServer((request, response) => {
      const url = new URL(request.url!, "http://store");
      request.resume();
      arrived.push({ organization: url.searchParams.get("param_organization")!, url, response });
      arrivals.emit("arrival");
    });
    stack.defer(() => server.closeAllConnections());
    stack.defer(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    connection = createConnection({ url, database: "default", compression: false, maximumConnections: 50 });
    stack.defer(() => connection.close());
    queue = new ReadLimiter(places);
  });

  function read(organization: string, options: ReadOptions = {}) {
    const { job, ...queryOptions } = options;
    const caches = new RowCaches(1000);
    const settingsFor = (priority: number) => ({ priority });
    const parts = {
      connection,
      tables: ["spans"],
      settings: {},
      settingsFor,
      queryTimeoutMs: 30_000,
      caches,
      reads: queue,
      descriptionVersions: undefined,
      usesRollups: false,
      cipher: createTelemetryCipher([]),
      whenVisible: () => undefined,
    };
    const scope =
      job === undefined ? scopeOf(organization) : Scope.fromKey(testKey({ organizationId: organization, job }));
    return createTenantReader(parts, scope).query(statement, queryOptions);
  }
  async function untilArrived(count: number): Promise<void> {
    while (arrived.length < count) await once(arrivals, "arrival");
  }
  const answer = (index: number) => arrived[index]!.response.end('["one"]\n[1]\n');

  test("of one organization leave a slot for another, which is served immediately", async () => {
    const flood = Array.from({ length: 50 }, () => read("org_a"));
    await untilArrived(places - 1);
    assert.equal(queue.waiting, 47);
    const single = read("org_b");
    await untilArrived(places);
    assert.deepEqual(
      arrived.map(({ organization }) => organization),
      ["org_a", "org_a", "org_a", "org_b"],
    );
    answer(3);
    assert.deepEqual(await single, [{ one: 1 }]);
    assert.equal(arrived.length, places);
    for (let index = 0; index < 51; index++) {
      await untilArrived(index + 1);
      if (index !== 3) answer(index);
    }
    assert.equal((await Promise.all(flood)).length, 50);
  });

  test("of a job for many organizations leave a slot for a caller, as those of one organization do", async () => {
    const flood = Array.from({ length: 50 }, (_, index) => read(`org_${index}`, { job: "job:alerts" }));
    await untilArrived(places - 1);
    assert.equal(queue.waiting, 47);
    const single = read("org_7");
    await untilArrived(places);
    assert.equal(arrived.at(-1)!.organization, "org_7");
    for (let index = 0; index < 51; index += 1) {
      await untilArrived(index + 1);
      answer(index);
    }
    await Promise.all([...flood, single]);
  });

  test("of an organization that arrives when all slots are taken run next, before the queue of those that hold them", async () => {
    const floods = Array.from({ length: 50 }, (_, index) => read(index % 2 === 0 ? "org_a" : "org_b"));
    await untilArrived(places);
    const single = read("org_c");
    answer(0);
    await untilArrived(places + 1);
    assert.equal(arrived[places]!.organization, "org_c");
    answer(places);
    await single;
    for (let index = 1; index < 51; index++) {
      await untilArrived(index + 1);
      if (index !== places) answer(index);
    }
    await Promise.all(floods);
  });

  test("of an organization that has used the store little go before those of one that keeps it busy", async () => {
    const heavy = [read("org_a")];
    await untilArrived(1);
    const since = performance.now();
    while (performance.now() - since < 120) await new Promise((resolve) => setImmediate(resolve));
    heavy.push(read("org_a"));
    await untilArrived(2);
    const small = read("org_b");
    await untilArrived(3);
    assert.deepEqual(
      arrived.map(({ organization, url }) => [organization, url.searchParams.get("priority")]),
      [
        ["org_a", "3"],
        ["org_a", "3"],
        ["org_b", "1"],
      ],
    );
    for (const index of arrived.keys()) answer(index);
    await Promise.all([...heavy, small]);
  });

  test("leave the queue when the caller disconnects, and never reach the store", async () => {
    const running = Array.from({ length: places - 1 }, () => read("org_a"));
    await untilArrived(places - 1);
    const leaving = new AbortController();
    const waiting = read("org_a", { signal: leaving.signal });
    while (queue.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    await assert.rejects(waiting, isAppError("client_closed"));
    assert.equal(queue.waiting, 0);
    for (const index of running.keys()) answer(index);
    await Promise.all(running);
    assert.equal(arrived.length, places - 1);
  });

  test("wait no longer than the query's deadline, and are then refused with Retry-After", async () => {
    const running = Array.from({ length: places - 1 }, () => read("org_a"));
    await untilArrived(places - 1);
    await assert.rejects(read("org_a", { timeoutMs: 1 }), (error) => {
      assert.ok(error instanceof AppError, String(error));
      assert.deepEqual([error.code, error.retryAfterMs], ["overloaded", 2000]);
      return true;
    });
    for (const index of running.keys()) answer(index);
    await Promise.all(running);
  });

  test("release their slot when they fail", async () => {
    const failing = Array.from({ length: places - 1 }, () => read("org_a"));
    await untilArrived(places - 1);
    const failed = Promise.all(failing.map((each) => assert.rejects(each, isAppError("overloaded"))));
    for (const { response } of arrived) response.destroy();
    await failed;
    const next = read("org_a");
    await untilArrived(places);
    answer(places - 1);
    await next;
  });

  test("count as store time of the request that they belong to", async () => {
    const cost = new RequestCost("test");
    const reading = runWithCost(cost, () => read("org_a"));
    await untilArrived(1);
    const since = performance.now();
    while (performance.now() - since < 20) await new Promise((resolve) => setImmediate(resolve));
    answer(0);
    await reading;
    assert.ok(cost.storeMs >= 19, `${cost.storeMs} ms`);
  });
});

test("concurrency of reads follows the machine's size, within bounds", () => {
  assert.deepEqual(
    [1, 2, 6, 64].map((processors) => readPlaces(undefined, { processors })),
    [4, 4, 12, 16],
  );
});

test("no more statements read at a time than the store runs, where an organization's queue would delay the others'", () => {
  assert.deepEqual(
    [readPlaces(3, { mostInStore: 8 }), readPlaces(200, { mostInStore: 8 }), readPlaces(200)],
    [3, 8, 200],
  );
  assert.equal(readPlaces(undefined, { mostInStore: 8, processors: 64 }), 8);
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { createBucket } from "../token-bucket.ts";
import { BucketLease, leaseMs } from "./bucket-lease.ts";
import { MemoryLedger } from "./memory-ledger.ts";

const perMinute = 1_000_000;
const reportMs = leaseMs / 4;

/** One process and its ledger, whose clock the test moves. Exchanges take no time. */
function setUp() {
  let nowMs = 1_000_000;
  let reportedMs = nowMs;
  const ledger = new MemoryLedger(() => nowMs);
  const lease = new BucketLease("bucket");
  const view = createBucket(nowMs);
  const totals = { used: 0, granted: 0, returned: 0, exchanges: 0 };

  const exchange = (): void => {
    const request = lease.request(perMinute, nowMs);
    const frame = { holder: "a", sequence: totals.exchanges, leaseMs, slotLeaseMs: 10_000 };
    const answer = ledger.exchangeNow({ ...frame, slots: [], buckets: [request] }).buckets[0]!;
    lease.receive(answer, view, { nowMs, unixMs: nowMs });
    totals.exchanges += 1;
    totals.granted += answer.granted;
    totals.returned += request.returned;
  };
  return {
    totals,
    exchange,
    call(): void {
      if (!lease.has(1, nowMs)) {
        lease.need(1);
        exchange();
      }
      lease.take(1);
      totals.used += 1;
      if (lease.isLow(nowMs)) exchange();
    },
    wait(ms: number): void {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 1) {
        if (nowMs - reportedMs < reportMs) continue;
        reportedMs = nowMs;
        if (lease.isDue(nowMs)) exchange();
      }
    },
    close(): void {
      lease.returnAll(nowMs);
      exchange();
    },
  };
}

describe("what a process takes of a bucket in advance", () => {
  test("is renewed a few times per second, however many calls there are", () => {
    const { call, totals, wait } = setUp();
    for (let index = 0; index < 5_000; index++) {
      call();
      wait(1);
    }
    assert.equal(totals.used, 5_000);
    assert.ok(totals.exchanges <= 5 * 10, `${totals.exchanges} exchanges in 5 seconds`);
  });

  test("is used or returned, whatever the rate of the calls", () => {
    const steps = fc.array(fc.record({ calls: fc.nat(30), ms: fc.nat(700) }), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (each) => {
        const { call, close, totals, wait } = setUp();
        for (const { calls, ms } of each) {
          for (let index = 0; index < calls; index++) call();
          wait(ms);
        }
        close();
        assert.equal(totals.granted - totals.returned, totals.used);
      }),
    );
  });
});

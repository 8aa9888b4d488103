import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { BucketRequest, SlotRequest } from "./limit-ledger.ts";
import { MemoryLedger } from "./memory-ledger.ts";

const leaseMs = 500;
const slotLeaseMs = 10_000;

function setUp() {
  const clock = { nowMs: 1_000_000 };
  const ledger = new MemoryLedger(() => clock.nowMs);
  let sequence = 0;
  const frame = (holder: string) => ({ holder, sequence: ++sequence, leaseMs, slotLeaseMs });
  const bucket = (request: Partial<BucketRequest>, holder = "a") =>
    ledger.exchangeNow({ ...frame(holder), slots: [], buckets: [{ ...idleBucket, ...request }] }).buckets[0]!;
  const slots = (request: Partial<SlotRequest>, holder = "a", own = frame(holder)) =>
    ledger.exchangeNow({ ...own, buckets: [], slots: [{ ...idleSlots, ...request }] }).slots[0]!;
  return { clock, ledger, frame, bucket, slots };
}

const idleBucket: BucketRequest = {
  id: "bucket",
  perMinute: 600,
  returned: 0,
  charged: 0,
  demand: 0,
  atLeast: 0,
  spare: 0,
};
const idleSlots: SlotRequest = { id: "slots", limit: 10, inUse: 0, demand: 0, spare: 0 };

describe("a bucket", () => {
  test("grants what is needed while it lasts, refills evenly, and reports what is taken", () => {
    const { bucket, clock } = setUp();
    assert.deepEqual(bucket({ demand: 590, atLeast: 1 }), { granted: 590, taken: 590 });
    assert.deepEqual(bucket({ demand: 20, atLeast: 1 }, "b"), { granted: 10, taken: 600 });
    assert.deepEqual(bucket({ demand: 1, atLeast: 1 }), { granted: 0, taken: 600 });
    clock.nowMs += 1_000;
    assert.deepEqual(bucket({ demand: 20, atLeast: 1 }), { granted: 10, taken: 600 });
  });

  test("grants nothing that no waiting call could use", () => {
    const { bucket } = setUp();
    bucket({ demand: 500, atLeast: 500 });
    assert.equal(bucket({ demand: 300, atLeast: 300 }).granted, 0);
    assert.equal(bucket({ demand: 300, atLeast: 100 }).granted, 100);
  });

  test("grants at most an eighth of what is left for later calls", () => {
    const { bucket } = setUp();
    assert.equal(bucket({ spare: 10 }).granted, 10);
    assert.equal(bucket({ spare: 500 }).granted, 73);
    assert.equal(bucket({ demand: 510, atLeast: 1, spare: 500 }).granted, 510);
  });

  test("takes back what was not used, and charges what was used in excess", () => {
    const { bucket, clock } = setUp();
    bucket({ demand: 100, atLeast: 1 });
    assert.equal(bucket({ returned: 60 }).taken, 40);
    assert.equal(bucket({ charged: 1_000 }).taken, 1_040);
    clock.nowMs += 44_000;
    assert.equal(bucket({ demand: 1, atLeast: 1 }).granted, 0);
    clock.nowMs += 100;
    assert.equal(bucket({ demand: 1, atLeast: 1 }).granted, 1);
    assert.equal(bucket({ charged: -300 }).taken, 300);
  });

  test("does not refill what a process may still hold unused", () => {
    const { bucket, clock } = setUp();
    bucket({ spare: 50 });
    clock.nowMs += leaseMs;
    assert.equal(bucket({}).taken, 50);
    clock.nowMs += 60_000;
    assert.equal(bucket({}).taken, 0);
  });

  test("never admits more than its size and its refill in any span of time, whenever leases are used", () => {
    const step = fc.record({
      holder: fc.constantFrom("a", "b", "c"),
      waitMs: fc.constantFrom(0, 1, 100, 400, 499, 1_200, 5_000),
      demand: fc.constantFrom(0, 1, 50, 120),
      spare: fc.nat({ max: 20 }),
      use: fc.constantFrom(0, 0.5, 1),
      returns: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
        const { bucket, clock } = setUp();
        const perMinute = 120;
        const leases = new Map<string, { amount: number; expiresMs: number }>();
        // An exact bucket of what is really used, at the time of its use.
        let level = 0;
        let levelMs = clock.nowMs;
        for (const { holder, waitMs, demand, spare, use, returns } of steps) {
          clock.nowMs += waitMs;
          const lease = leases.get(holder) ?? { amount: 0, expiresMs: 0 };
          const usable = lease.expiresMs > clock.nowMs ? lease.amount : 0;
          const used = Math.floor(usable * use);
          const returned = returns ? usable - used : 0;
          const { granted } = bucket({ perMinute, returned, demand, atLeast: Math.min(1, demand), spare }, holder);
          level = Math.max(0, level - ((clock.nowMs - levelMs) * perMinute) / 60_000);
          level += used + Math.min(granted, demand);
          levelMs = clock.nowMs;
          assert.ok(level <= perMinute + 1e-6, `${level} used`);
          leases.set(holder, { amount: Math.max(0, granted - demand), expiresMs: clock.nowMs + leaseMs });
        }
      }),
    );
  });
});

describe("slots", () => {
  test("are granted up to the limit over all holders, and free once they are not in use", () => {
    const { slots } = setUp();
    assert.deepEqual(slots({ demand: 6 }), { held: 6, others: 0 });
    assert.deepEqual(slots({ demand: 6 }, "b"), { held: 4, others: 6 });
    assert.deepEqual(slots({ inUse: 2 }), { held: 2, others: 4 });
    assert.deepEqual(slots({ inUse: 4, demand: 6 }, "b"), { held: 8, others: 2 });
  });

  test("of a process that is not heard of become free after their lease", () => {
    const { slots, clock } = setUp();
    slots({ demand: 10 });
    clock.nowMs += slotLeaseMs - 1;
    assert.equal(slots({ demand: 1 }, "b").held, 0);
    clock.nowMs += 1;
    assert.deepEqual(slots({ demand: 10 }, "b"), { held: 10, others: 0 });
    assert.deepEqual(slots({ inUse: 3 }), { held: 3, others: 10 });
  });

  test("are neither lost nor doubled by a request that arrives twice or late", () => {
    const { slots, frame } = setUp();
    const late = frame("a");
    const request = frame("a");
    assert.equal(slots({ demand: 4 }, "a", request).held, 4);
    assert.equal(slots({ demand: 4 }, "a", request).held, 4);
    assert.equal(slots({ inUse: 0 }, "a", late).held, 4);
    assert.deepEqual(slots({ demand: 10 }, "b"), { held: 6, others: 4 });
  });

  test("for later calls are at most an eighth of what is left", () => {
    const { slots } = setUp();
    assert.equal(slots({ limit: 100, inUse: 20, spare: 50 }).held, 30);
    assert.equal(slots({ limit: 7, spare: 5 }, "b").held, 0);
  });
});

test("accounts that have expired are forgotten", () => {
  const { ledger, frame, clock } = setUp();
  for (let index = 0; index < 1_000; index++) {
    const buckets = [{ ...idleBucket, id: `bucket-${index}`, demand: 1, atLeast: 1 }];
    ledger.exchangeNow({ ...frame("a"), buckets, slots: [{ ...idleSlots, id: `slots-${index}` }] });
    clock.nowMs += 1_000;
  }
  assert.ok(ledger.size < 50, `${ledger.size}`);
});

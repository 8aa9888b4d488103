/** Fairness, bounds and cancellation of the queue between groups. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  array,
  assert as assertProperty,
  asyncProperty,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
} from "fast-check";
import { AppError } from "../errors.ts";
import { RoundRobinQueue } from "./round-robin-queue.ts";
import { FairQueue } from "./fair-queue.ts";

const never = new AbortController().signal;
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function queueOf(places: number, maxWaiting = 1_000): FairQueue {
  return new FairQueue({ places, maxWaiting, what: "The test" });
}

/** Enqueues calls in order and records the order of admission; each finishes immediately on request. */
function recorded(queue: FairQueue) {
  const admitted: string[] = [];
  const leaves: (() => void)[] = [];
  return {
    admitted,
    enter: (group: string) =>
      void queue.enter(group, never).then((leave) => {
        admitted.push(group);
        leaves.push(leave);
      }),
    async leaveOne() {
      leaves.shift()?.();
      await settle();
    },
  };
}

describe("the fair queue", () => {
  test("admits the single call of one group after one of another group's hundred", async () => {
    const calls = recorded(queueOf(1));
    for (let count = 0; count < 100; count++) calls.enter("crowd");
    calls.enter("single");
    await settle();
    for (let count = 0; count < 3; count++) await calls.leaveOne();
    assert.deepEqual(calls.admitted, ["crowd", "crowd", "single", "crowd"]);
  });

  test("gives a free slot to a group without one before the group that holds all others", async () => {
    const calls = recorded(queueOf(4));
    for (let count = 0; count < 50; count++) calls.enter("crowd");
    calls.enter("single");
    await settle();
    await calls.leaveOne();
    assert.equal(calls.admitted.at(-1), "single");
  });

  test("withholds the last slots from a group that is at its limit", async () => {
    const calls = recorded(new FairQueue({ places: 3, placesPerGroup: 2, maxWaiting: 100, what: "The test" }));
    for (let count = 0; count < 10; count++) calls.enter("crowd");
    await settle();
    assert.deepEqual(calls.admitted, ["crowd", "crowd"]);
    calls.enter("single");
    await settle();
    assert.deepEqual(calls.admitted, ["crowd", "crowd", "single"]);
    await calls.leaveOne();
    assert.deepEqual(calls.admitted, ["crowd", "crowd", "single", "crowd"]);
  });

  test("keeps the order of calls within a group", async () => {
    const queue = queueOf(1);
    const leave = await queue.enter("one", never);
    const order: number[] = [];
    for (let call = 0; call < 5; call++) {
      void queue.enter("one", never).then((leaveNext) => {
        order.push(call);
        leaveNext();
      });
    }
    leave();
    await settle();
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
  });

  test("refuses with Retry-After when the queue is full", async () => {
    const queue = queueOf(1, 1);
    await queue.enter("one", never);
    void queue.enter("one", never);
    await assert.rejects(queue.enter("one", never), (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, "overloaded");
      assert.equal(error.retryAfterMs, 1_000);
      assert.match(error.message, /The test has 1 calls running and 1 waiting/);
      return true;
    });
  });

  test("displaces the newest call of the longest queue for a group that waits less", async () => {
    const queue = queueOf(1, 3);
    const leave = await queue.enter("crowd", never);
    const first = queue.enter("crowd", never);
    const second = queue.enter("crowd", never);
    const newest = queue.enter("crowd", never);
    const refused = assert.rejects(newest, { code: "overloaded" });
    const single = queue.enter("single", never);
    await refused;
    leave();
    (await first)();
    (await single)();
    (await second)();
    assert.deepEqual([queue.running, queue.waiting], [0, 0]);
  });

  test("removes a call whose signal aborts, and rejects it with the reason", async () => {
    const queue = queueOf(1);
    const leave = await queue.enter("one", never);
    const leaving = new AbortController();
    const left = queue.enter("one", leaving.signal);
    const stays = queue.enter("one", never);
    leaving.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    assert.equal(queue.waiting, 1);
    leave();
    (await stays)();
    assert.equal(queue.running, 0);
    await assert.rejects(queue.enter("one", leaving.signal), /gone/);
  });

  test("refuses waiting and later calls when it is closed, and lets running calls end", async () => {
    const queue = queueOf(1);
    const leave = await queue.enter("one", never);
    const waiting = assert.rejects(queue.enter("one", never), /closing/);
    queue.close(new Error("closing"));
    await waiting;
    await assert.rejects(queue.enter("one", never), /closing/);
    leave();
    leave();
    assert.equal(queue.running, 0);
  });

  test("loses no call and never exceeds its limits, with random arrivals, ends and aborts", async () => {
    const step = oneof(
      record({ does: constant("enter" as const), group: constantFrom("a", "b", "c") }),
      record({ does: constant("leave" as const), which: nat(20) }),
      record({ does: constant("abort" as const), which: nat(20) }),
    );
    await assertProperty(
      asyncProperty(array(step, { maxLength: 60 }), integer({ min: 1, max: 3 }), async (steps, places) => {
        const queue = queueOf(places, 8);
        const running: (() => void)[] = [];
        const open = new Set<AbortController>();
        let entered = 0;
        let over = 0;
        for (const each of steps) {
          if (each.does === "enter") {
            const abort = new AbortController();
            open.add(abort);
            entered++;
            queue.enter(each.group, abort.signal).then(
              (leave) => {
                open.delete(abort);
                running.push(leave);
              },
              () => {
                open.delete(abort);
                over++;
              },
            );
          } else if (each.does === "leave") {
            const [leave] = running.splice(each.which % Math.max(1, running.length), 1);
            leave?.();
            if (leave !== undefined) over++;
          } else [...open][each.which % Math.max(1, open.size)]?.abort(new Error("gone"));
          await settle();
          assert.ok(queue.running <= places);
          assert.ok(queue.waiting === 0 || queue.running === places, "a place is free while a call waits");
          assert.equal(entered, over + queue.running + queue.waiting);
        }
        while (running.length > 0) {
          running.shift()!();
          over++;
          await settle();
        }
        assert.equal(over, entered);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the round-robin queue", () => {
  test("makes no group wait for more than one item of each other group", () => {
    const arrivals = array(constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 40 });
    assertProperty(
      property(arrivals, (groups) => {
        const line = new RoundRobinQueue<number>();
        for (const [item, group] of groups.entries()) line.push(group, item);
        const order = groups.map(() => line.next()!);
        assert.equal(line.next(), undefined);
        assert.deepEqual(
          order.map(({ item }) => item).toSorted((a, b) => a - b),
          [...groups.keys()],
        );
        for (const group of new Set(groups)) {
          const turns = order.flatMap((each, turn) => (each.group === group ? [turn] : []));
          const gaps = turns.map((turn, index) => turn - (turns[index - 1] ?? -1));
          assert.ok(Math.max(...gaps) <= new Set(groups).size);
          const own = order.filter((each) => each.group === group).map(({ item }) => item);
          assert.deepEqual(
            own,
            own.toSorted((a, b) => a - b),
          );
        }
      }),
    );
  });
});

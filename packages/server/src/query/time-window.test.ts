import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../errors.ts";
import { mergeRanges } from "./traces/merge-ranges.ts";
import { expandingWindows } from "./expanding-windows.ts";
import { timeRange, type TimeRange } from "./time-window.ts";
import { array, assert as check, bigInt, integer, property, tuple } from "fast-check";

const nowUnixNano = 1_795_229_418_931_000_000n;
const minute = 60_000_000_000n;

describe("a time window", () => {
  for (const [text, minutes] of [
    ["1m", 1n],
    ["90m", 90n],
    ["24h", 1440n],
    ["7d", 10_080n],
    ["007m", 7n],
  ] as const) {
    test(`${text} looks ${minutes} minutes back`, () => {
      const range = timeRange(text, nowUnixNano);
      assert.equal(nowUnixNano - range.fromUnixNano, minutes * minute);
      assert.ok(range.toUnixNano > nowUnixNano, "senders' clocks may be ahead");
    });
  }

  test("never begins before 1970", () => {
    assert.equal(timeRange("99999999999999999999d", nowUnixNano).fromUnixNano, 0n);
  });

  for (const text of [
    "",
    "0m",
    "000h",
    "h",
    "1",
    "1s",
    "1w",
    "1.5h",
    "-1h",
    "+1h",
    " 1h",
    "1h ",
    "1h30m",
    "1H",
    "１h",
  ]) {
    test(`${JSON.stringify(text)} is refused with its name and value`, () => {
      assert.throws(
        () => timeRange(text, nowUnixNano),
        (error: AppError) =>
          error.code === "invalid_request" &&
          error.param === "time_window" &&
          error.message ===
            `time_window is ${JSON.stringify(text)}; expected an integer of at least 1 followed by m (minutes), h (hours) or d (days), for example "24h".`,
      );
    });
  }
});

describe("expanding windows", () => {
  test("cover the range without gaps, newest first, in growing steps", () => {
    check(
      property(bigInt({ min: 1n, max: 1_000_000n * minute }), (nanos) => {
        const range = { fromUnixNano: nowUnixNano - nanos, toUnixNano: nowUnixNano + 5n * minute };
        const steps = [...expandingWindows(range, nowUnixNano)];
        assert.equal(steps[0]!.toUnixNano, range.toUnixNano);
        assert.equal(steps.at(-1)!.fromUnixNano, range.fromUnixNano);
        for (const [index, step] of steps.slice(1).entries()) {
          assert.equal(step.toUnixNano, steps[index]!.fromUnixNano - 1n);
          assert.ok(step.fromUnixNano <= step.toUnixNano);
        }
        assert.ok(steps.length <= 9);
      }),
    );
  });
});

describe("merged ranges", () => {
  const ranges = array(
    tuple(integer({ min: 0, max: 100_000 }), integer({ min: 0, max: 500 })).map(([from, length]): TimeRange => ({
      fromUnixNano: BigInt(from),
      toUnixNano: BigInt(from + length),
    })),
    { minLength: 1, maxLength: 300 },
  );

  test("cover every range, are disjoint and sorted, and are at most 8", () => {
    check(
      property(ranges, (given) => {
        const joined = mergeRanges(given);
        assert.ok(joined.length <= 8);
        for (const range of given) {
          assert.ok(
            joined.some((each) => each.fromUnixNano <= range.fromUnixNano && each.toUnixNano >= range.toUnixNano),
          );
        }
        for (const [index, each] of joined.slice(1).entries()) {
          assert.ok(each.fromUnixNano > joined[index]!.toUnixNano);
        }
      }),
    );
  });

  test("leave the widest gaps uncovered", () => {
    const given = Array.from({ length: 100 }, (_, index) => {
      const fromUnixNano = BigInt(index * 10 + (index >= 50 ? 1_000_000 : 0));
      return { fromUnixNano, toUnixNano: fromUnixNano + 1n };
    });
    const joined = mergeRanges(given);
    assert.ok(!joined.some((each) => each.fromUnixNano < 1000n && each.toUnixNano > 1_000_000n));
  });
});

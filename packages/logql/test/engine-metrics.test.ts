/** Metric queries: windows, series, errors of pipelines, and the operators above them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queryLogqlInstant, queryLogqlRange } from "../src/engine.ts";
import { printLabels } from "@sounding/promql/series/labels";
import { MemoryLogStorage } from "../src/memory-storage.ts";

const second = 1_000_000_000n;

/** One entry a second from second 1 to 60, with a number. */
function sixtyEntries(): MemoryLogStorage {
  const storage = new MemoryLogStorage();
  for (let index = 1; index <= 60; index++) {
    const line = `n=${index} code=${index % 2 === 0 ? 200 : 500}`;
    storage.add({ app: index % 3 === 0 ? "b" : "a" }, [{ unixNano: BigInt(index) * second, line }]);
  }
  return storage;
}

type Rows = readonly (readonly [labels: string, ...values: (number | null)[]])[];

async function instant(query: string, seconds = 60, storage = sixtyEntries()): Promise<Rows | number> {
  const { value } = await queryLogqlInstant(storage, { query, timeUnixNano: BigInt(seconds) * second });
  if (value.type === "scalar") return value.value;
  assert.ok(value.type === "vector");
  return value.samples.map((sample) => [printLabels(sample.labels), sample.value]);
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

/** The values at the steps, null where there is none. */
async function range(query: string, { from, step, to }: Range, storage = sixtyEntries()): Promise<Rows> {
  const times = { startUnixNano: BigInt(from) * second, endUnixNano: BigInt(to) * second, stepMs: step * 1000 };
  const { value } = await queryLogqlRange(storage, { query, ...times });
  assert.ok(value.type === "matrix");
  const count = Math.floor((to - from) / step) + 1;
  return value.series.map(({ labels, timestampsMs, values }) => {
    const row = Array.from<number | null>({ length: count }).fill(null);
    for (const [index, ms] of timestampsMs.entries()) row[(ms / 1000 - from) / step] = values[index]!;
    return [printLabels(labels), ...row];
  });
}

describe("windows", () => {
  test("are open at their start and closed at their end, to the nanosecond", async () => {
    const storage = new MemoryLogStorage();
    for (const unixNano of [10n * second, 10n * second + 1n, 20n * second, 20n * second + 1n]) {
      storage.add({ app: "a" }, [{ unixNano, line: String(unixNano) }]);
    }
    assert.deepEqual(await instant('count_over_time({app="a"}[10s])', 20, storage), [['{app="a"}', 2]]);
    assert.deepEqual(await instant('count_over_time({app="a"}[1ms])', 20, storage), [['{app="a"}', 1]]);
    const value = await queryLogqlInstant(storage, {
      query: 'count_over_time({app="a"}[10s])',
      timeUnixNano: 20n * second + 1n,
    });
    assert.ok(value.value.type === "vector");
    assert.deepEqual(
      value.value.samples.map((sample) => sample.value),
      [2],
    );
  });

  test("may overlap, leave gaps, and lie earlier or later", async () => {
    const query = (rest: string): string => `sum(count_over_time({app=~".+"}${rest}))`;
    assert.deepEqual(await range(query("[10s]"), { from: 5, to: 20, step: 5 }), [["{}", 5, 10, 10, 10]]);
    assert.deepEqual(await range(query("[2s]"), { from: 20, to: 60, step: 20 }), [["{}", 2, 2, 2]]);
    assert.deepEqual(await range(query("[10s] offset 55s"), { from: 50, to: 65, step: 5 }), [
      ["{}", null, null, 5, 10],
    ]);
    assert.deepEqual(await range(query("[10s] offset -55s"), { from: 0, to: 20, step: 5 }), [
      ["{}", 10, 10, 5, null, null],
    ]);
  });

  test("may be offset by parts of a millisecond, which a store's counts cannot", async () => {
    const storage = Object.assign(sixtyEntries(), { counts: () => assert.fail("the store was asked for counts") });
    for (const [offset, nanos] of [
      ["1us", 1000n],
      ["1500us", 1_500_000n],
      ["-1ns", -1n],
      [`0.${"5".repeat(400)}s`, 555_555_555n],
    ] as const) {
      const query = `sum(count_over_time({app=~".+"}[10s] offset ${offset}))`;
      assert.deepEqual(await instant(query, 30, storage), [["{}", 10]]);
      assert.equal(storage.asked.at(-1)!.toUnixNano, 30n * second - nanos + 1n);
    }
  });

  test("end at multiples of the step, or at the steps of the range", async () => {
    const times = { startUnixNano: 12n * second, endUnixNano: 23n * second, stepMs: 5000 };
    const ends = async (alignsSteps: boolean | undefined): Promise<readonly number[]> => {
      const query = 'sum(count_over_time({app=~".+"}[5s]))';
      const { value } = await queryLogqlRange(sixtyEntries(), { query, ...times, alignsSteps });
      assert.ok(value.type === "matrix");
      return [...value.series[0]!.timestampsMs];
    };
    assert.deepEqual(await ends(false), [12_000, 17_000, 22_000]);
    assert.deepEqual(await ends(undefined), [10_000, 15_000, 20_000, 25_000]);
  });

  test("read only entries of their time from the store", async () => {
    const storage = sixtyEntries();
    await range('count_over_time({app="a"}[10s] offset 5s)', { from: 30, to: 40, step: 5 }, storage);
    const [{ direction, fromUnixNano, toUnixNano }] = storage.asked as [(typeof storage.asked)[number]];
    assert.deepEqual([direction, fromUnixNano, toUnixNano], ["forward", 15n * second + 1n, 35n * second + 1n]);
  });

  test("absent_over_time is 1 where no entry is, with the labels that the selector fixes", async () => {
    const steps = { from: 50, to: 80, step: 10 };
    assert.deepEqual(await range('absent_over_time({app="a", env="x", job=~".+"}[10s])', steps), [
      ['{app="a", env="x"}', 1, 1, 1, 1],
    ]);
    assert.deepEqual(await range('absent_over_time({app="a"}[10s])', steps), [['{app="a"}', null, null, 1, 1]]);
    assert.deepEqual(await range('absent_over_time({app="a"} |= "none"[10s])', steps), [['{app="a"}', 1, 1, 1, 1]]);
  });
});

describe("series", () => {
  test("have the labels after the pipeline, without the unwrapped one", async () => {
    const query = '{app="b"} | logfmt | unwrap n [6s]';
    assert.deepEqual(await instant(`max_over_time(${query})`), [
      ['{app="b", code="200"}', 60],
      ['{app="b", code="500"}', 57],
    ]);
    assert.deepEqual(await instant(`max_over_time(${query}) by (app)`), [['{app="b"}', 60]]);
    assert.deepEqual(await instant(`min_over_time(${query}) without (code)`), [['{app="b"}', 57]]);
    assert.deepEqual(await instant(`quantile_over_time(0.5, ${query}) by ()`), [["{}", 58.5]]);
    assert.deepEqual(await instant(`max_over_time(${query}) by (n)`), [
      ['{n="57"}', 57],
      ['{n="60"}', 60],
    ]);
  });

  test("include structured metadata", async () => {
    const storage = new MemoryLogStorage();
    for (const level of ["info", "warn", "info"]) {
      storage.add({ app: "a" }, [{ unixNano: second, line: "x", structuredMetadata: ["level", level, "app", "m"] }]);
    }
    assert.deepEqual(await instant('count_over_time({app="a"}[1m])', 60, storage), [
      ['{app="a", app_extracted="m", level="info"}', 2],
      ['{app="a", app_extracted="m", level="warn"}', 1],
    ]);
    assert.deepEqual(await instant('sum by (level) (count_over_time({app="a"}[1m]))', 60, storage), [
      ['{level="info"}', 2],
      ['{level="warn"}', 1],
    ]);
    assert.deepEqual(
      storage.asked.map(({ needs }) => needs),
      [
        { line: false, structuredMetadata: "all" },
        { line: false, structuredMetadata: ["level"] },
      ],
    );
    assert.deepEqual(await instant('sum by (app_extracted) (bytes_over_time({app="a"}[1m]))', 60, storage), [
      ['{app_extracted="m"}', 3],
    ]);
  });

  test("of a sum need no more series than the sum has groups", async () => {
    const query = { query: 'sum by (app) (rate({app="a"} | logfmt [1m]))', timeUnixNano: 60n * second };
    const { value } = await queryLogqlInstant(sixtyEntries(), { ...query, limits: { maxSeries: 1 } });
    assert.ok(value.type === "vector");
    assert.equal(value.samples.length, 1);
  });

  test("of too many labels are refused in Loki's words", () =>
    assert.rejects(
      queryLogqlInstant(sixtyEntries(), {
        query: 'count_over_time({app="a"} | logfmt [1m])',
        timeUnixNano: 60n * second,
        limits: { maxSeries: 7 },
      }),
      /^QueryError: maximum number of series \(7\) reached for a single query; consider reducing query cardinality/,
    ));
});

describe("errors of a pipeline", () => {
  const storage = (): MemoryLogStorage =>
    new MemoryLogStorage().add({ app: "a" }, [
      { unixNano: 40n * second, line: '{"n":1}' },
      { unixNano: 60n * second, line: "not JSON" },
    ]);

  test("end a metric query in Loki's words", () =>
    assert.rejects(instant('count_over_time({app="a"} | json [1m])', 60, storage()), (error: Error) => {
      assert.match(
        error.message,
        /^pipeline error: 'JSONParserErr' for series: '\{__error__="JSONParserErr", .*app="a".*\}'\.\n/,
      );
      assert.ok(
        error.message.includes(
          'Use a label filter to intentionally skip this error. (e.g | __error__!="JSONParserErr").',
        ),
      );
      return true;
    }));

  test("do not if the query filters them, asks for them, or needs no label of the parser", async () => {
    assert.deepEqual(await instant('count_over_time({app="a"} | json | __error__="" [1m])', 60, storage()), [
      ['{app="a", n="1"}', 1],
    ]);
    assert.deepEqual(await instant('sum by (__error__) (count_over_time({app="a"} | json [1m]))', 60, storage()), [
      ["{}", 1],
      ['{__error__="JSONParserErr"}', 1],
    ]);
    assert.deepEqual(await instant('sum(count_over_time({app="a"} | json [1m]))', 60, storage()), [["{}", 2]]);
  });

  test("do not if no window has the entry", async () => {
    const steps = { from: 40, to: 80, step: 40 };
    assert.deepEqual(await range('count_over_time({app="a"} | json [5s])', steps, storage()), [
      ['{app="a", n="1"}', 1, null],
    ]);
  });

  test("are those of unwrap as well", () =>
    assert.rejects(
      instant('sum_over_time({app="a"} | regexp "(?P<n>.*)" | unwrap n [1m])', 60, storage()),
      /pipeline error: 'SampleExtractionErr'/,
    ));
});

describe("operators", () => {
  const a = 'sum(count_over_time({app="a"}[1m]))';
  const none = `(${a} - ${a})`;

  test("divide by zero with NaN", async () => {
    for (const query of [`${a} / 0`, `${a} / ${none}`, `1 / ${none}`, `${a} % 0`, `${a} % ${none}`]) {
      assert.deepEqual(await instant(query), [["{}", Number.NaN]], query);
    }
    assert.deepEqual(await instant(`0 / ${a}`), [["{}", 0]]);
    assert.equal(await instant("4 / 2 - 1"), 1);
  });

  test("compare as filters or with bool", async () => {
    assert.deepEqual(await instant(`${a} > 39`), [["{}", 40]]);
    assert.deepEqual(await instant(`39 < ${a}`), [["{}", 40]]);
    assert.deepEqual(await instant(`${a} > bool 40`), [["{}", 0]]);
    assert.deepEqual(await instant(`${a} > 40`), []);
  });

  test("match series by labels", async () => {
    const by = (labels: string, app: string): string =>
      `sum by (${labels}) (count_over_time({app=~"${app}"} | logfmt [1m]))`;
    assert.deepEqual(await instant(`${by("app", ".+")} / on (app) ${by("app", "b")}`), [['{app="b"}', 1]]);
    assert.deepEqual(await instant(`${by("app, code", ".+")} * on (app) group_left () ${by("app", "b")}`), [
      ['{app="b", code="200"}', 200],
      ['{app="b", code="500"}', 200],
    ]);
    assert.deepEqual(await instant(`${by("app", ".+")} unless ${by("app", "b")}`), [['{app="a"}', 40]]);
    assert.deepEqual(await instant(`${by("app", "a")} or ${by("app", "b")}`), [
      ['{app="a"}', 40],
      ['{app="b"}', 20],
    ]);
    await assert.rejects(instant(`${by("app", "b")} / on (app) ${by("app, code", "b")}`), {
      message:
        "found duplicate series on the right hand-side;many-to-many matching not allowed: matching labels must be unique on one side",
    });
  });

  test("choose and sort series", async () => {
    const perApp = 'sum by (app) (count_over_time({app=~".+"}[1m]))';
    assert.deepEqual(await instant(`topk(1, ${perApp})`), [['{app="a"}', 40]]);
    assert.deepEqual(await instant(`approx_topk(1, ${perApp})`), [['{app="a"}', 40]]);
    assert.deepEqual(await instant(`bottomk(2, ${perApp})`), [
      ['{app="a"}', 40],
      ['{app="b"}', 20],
    ]);
    assert.deepEqual(await instant(`sort(${perApp})`), [
      ['{app="b"}', 20],
      ['{app="a"}', 40],
    ]);
    assert.deepEqual(await instant(`sort_desc(${perApp}) * 2`), [
      ['{app="a"}', 80],
      ['{app="b"}', 40],
    ]);
    await assert.rejects(
      range(`approx_topk(1, ${perApp})`, { from: 1, to: 2, step: 1 }),
      /only supported on instant queries/,
    );
  });

  test("label_replace may give series the same labels; later aggregations count each", async () => {
    const perCode = 'sum by (code) (count_over_time({app="a"} | logfmt [1m]))';
    const replaced = `label_replace(${perCode}, "code", "any", "code", ".*")`;
    assert.deepEqual(await instant(replaced), [
      ['{code="any"}', 20],
      ['{code="any"}', 20],
    ]);
    assert.deepEqual(await instant(`sum by (code) (${replaced})`), [['{code="any"}', 40]]);
  });

  test("work on numbers and vector()", async () => {
    assert.deepEqual(await instant("vector(3) + 1"), [["{}", 4]]);
    assert.deepEqual(await range("2 * 3", { from: 0, to: 20, step: 10 }), [["{}", 6, 6, 6]]);
    assert.deepEqual(await range("vector(1) + vector(1)", { from: 0, to: 10, step: 10 }), [["{}", 2, 2]]);
  });
});

describe("requests", () => {
  test("log queries are no instant queries", () =>
    assert.rejects(instant('{app="a"}'), {
      code: "invalid_request",
      message: "log queries are not supported as an instant query type, please change your query to a range query type",
    }));

  test("have a limited number of steps", () =>
    assert.rejects(range("vector(1)", { from: 0, to: 11_001, step: 1 }), {
      param: "step",
      message:
        "exceeded maximum resolution of 11,000 points per time series. Try increasing the value of the step parameter",
    }));

  test("have a positive step, and an end after their start", async () => {
    await assert.rejects(range("vector(1)", { from: 0, to: 10, step: 0 }), { param: "step" });
    await assert.rejects(range("vector(1)", { from: 10, to: 9, step: 1 }), { param: "end" });
  });

  test("read a part that they repeat once", async () => {
    const storage = sixtyEntries();
    const rate = 'rate({app="a"}[1m])';
    await instant(`${rate} / (${rate} + ${rate})`, 60, storage);
    assert.equal(storage.asked.length, 1);
  });
});

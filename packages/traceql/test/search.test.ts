/** Searches from outside: pipelines, what results show, requests to the store, limits. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { QueryError, type QueryErrorCode } from "@sounding/promql/query-error";
import { searchTraces, type TraceSearch, type TraceSearchResult } from "../src/engine.ts";
import { printValue } from "../src/spans/print-element.ts";
import type { TraceqlTrace } from "../src/storage.ts";
import { MemoryTraces } from "../src/memory-storage.ts";
import { toTrace } from "./support/traces.ts";

/** A shop that calls a database twice, once with an error, and a queue. */
const order = toTrace("0a", [
  { id: "1", name: "POST /order", kind: "server", startMs: 0, ms: 100, is: { user: "ann", items: 3n } },
  { id: "2", parent: "1", name: "INSERT", kind: "client", startMs: 10, ms: 20, is: { db: "sql", rows: 1n } },
  {
    id: "3",
    parent: "1",
    name: "SELECT",
    kind: "client",
    startMs: 40,
    ms: 30,
    status: "error",
    is: { db: "sql", rows: 5n },
  },
  { id: "4", parent: "3", name: "retry", startMs: 50, ms: 10, resource: { "service.name": "database" } },
  { id: "5", parent: "1", name: "publish", kind: "producer", startMs: 80, ms: 5, is: { queue: "mail" } },
]);

/** The IDs of the spans of each set that a query finds. */
async function find(query: string, traces: readonly TraceqlTrace[] = [order]): Promise<readonly (readonly string[])[]> {
  const { traces: found } = await search(query, { spansPerSpanSet: 100 }, traces);
  return found.flatMap(({ spanSets }) => spanSets.map(({ spans }) => spans.map(({ spanId }) => spanId)));
}

function search(
  query: TraceSearch["query"],
  options: Partial<TraceSearch> = {},
  traces: readonly TraceqlTrace[] = [order],
): Promise<TraceSearchResult> {
  return searchTraces(new MemoryTraces(traces), { query, startUnixNano: 0n, endUnixNano: 10n ** 18n, ...options });
}

/** The attributes of the sets that a query finds. */
async function attributesOfSets(query: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const { traces } = await search(query);
  return traces.flatMap(({ spanSets }) =>
    spanSets.map(({ attributes }) =>
      Object.fromEntries(attributes.map(({ name, value }) => [name, printValue(value)])),
    ),
  );
}

describe("sets of spans", () => {
  const cases: readonly (readonly [query: string, found: readonly (readonly string[])[]])[] = [
    ["{ }", [["1", "2", "3", "4", "5"]]],
    ["{ .db = `sql` }", [["2", "3"]]],
    ["{ .db = `sql` } | { status = error }", [["3"]]],
    ["{ .db = `sql` } && { .queue = `mail` }", [["5", "2", "3"]]],
    ["{ .db = `sql` } && { .queue = `other` }", []],
    ["{ .db = `sql` } || { .queue = `other` }", [["2", "3"]]],
    ["{ .db = `sql` } || { status = error }", [["3", "2"]]],
    ["{ kind = server } > { .db = `sql` }", [["2", "3"]]],
    ["{ kind = server } >> { name = `retry` }", [["4"]]],
    ["{ kind = server } > { name = `retry` }", []],
    ["{ name = `retry` } << { }", [["1", "3"]]],
    ["{ name = `retry` } < { }", [["3"]]],
    ["{ status = error } ~ { }", [["2", "5"]]],
    ["{ kind = server } !> { }", [["1", "4"]]],
    ["{ kind = client } !>> { kind != client }", [["1", "5"]]],
    ["{ name = `none` } !< { name = `retry` }", [["4"]]],
    ["{ status = error } !~ { kind = client }", [["3"]]],
    ["{ kind = server } &>> { name = `retry` }", [["1", "4"]]],
    ["{ status = error } &~ { .queue != nil }", [["3", "5"]]],
    ["{ kind = server } > { status = error } > { }", [["4"]]],
    ["({ .db = `sql` } | count() > 1) && { .queue != nil }", [["5", "2", "3"]]],
    ["({ .db = `sql` } | count() > 2) || { .queue != nil }", [["5"]]],
    ["{ .db = `sql` } | count() = 2", [["2", "3"]]],
    ["{ .db = `sql` } | count() > 2", []],
    ["{ .db = `sql` } | avg(duration) = 25ms", [["2", "3"]]],
    ["{ .db = `sql` } | avg(.rows) = 3", [["2", "3"]]],
    ["{ } | sum(.rows) = 6", [["1", "2", "3", "4", "5"]]],
    ["{ } | max(.rows) < 5", []],
    ["{ } | min(.rows) = 1 | max(.rows) = 5", [["1", "2", "3", "4", "5"]]],
    ["{ } | max(.nothing) < 5", []],
    [
      "{ } | by(.db)",
      [
        ["1", "4", "5"],
        ["2", "3"],
      ],
    ],
    ["{ } | by(.db) | count() = 2", [["2", "3"]]],
    ["{ } | by(.db) | count() > 1 | by(kind)", [["1"], ["4"], ["5"], ["2", "3"]]],
    ["{ } | by(.db) | { status = error }", [["3"]]],
    ["{ } | by(.db) | coalesce()", [["1", "4", "5", "2", "3"]]],
    ["{ } | by(.db) | coalesce() | count() = 5", [["1", "4", "5", "2", "3"]]],
    ["{ span:childCount > 1 }", [["1"]]],
    ["{ nestedSetParent < 0 }", [["1"]]],
    ["{ rootServiceName = `shop` && resource.service.name != `shop` }", [["4"]]],
    ["{ false }", []],
  ];
  for (const [query, found] of cases) {
    test(`${query} finds ${JSON.stringify(found)}`, async () => assert.deepEqual(await find(query), found));
  }

  test("of several groups cannot be related", async () => {
    await assert.rejects(find("({ } | by(.db)) >> ({ } | by(.db))"), refusedWith("invalid_request", /coalesce\(\)/));
  });
});

function refusedWith(code: QueryErrorCode, message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof QueryError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

describe("results", () => {
  test("have what Tempo shows of a trace", async () => {
    const { statistics, traces } = await search("{ .db = `sql` && .rows > 1 && name =~ `S.*` }");
    assert.deepEqual(statistics, { inspectedTraces: 1, inspectedSpans: 5, inspectedBytes: 5000 });
    assert.deepEqual(traces, [
      {
        traceId: "0a",
        rootServiceName: "shop",
        rootTraceName: "POST /order",
        startUnixNano: 0n,
        durationMs: 100,
        serviceStats: new Map([
          ["shop", { spans: 4, errors: 1 }],
          ["database", { spans: 1, errors: 0 }],
        ]),
        spanSets: [
          {
            matched: 1,
            attributes: [],
            spans: [
              {
                spanId: "3",
                name: "SELECT",
                startUnixNano: 40_000_000n,
                durationNano: 30_000_000n,
                attributes: [
                  { name: "db", value: { type: "string", value: "sql" } },
                  { name: "rows", value: { type: "int", value: 5n } },
                ],
              },
            ],
          },
        ],
      },
    ]);
  });

  test("show the first spans of a set and count all", async () => {
    const { traces } = await search("{ }", { spansPerSpanSet: 2 });
    assert.deepEqual(
      traces[0]!.spanSets.map(({ matched, spans }) => [matched, spans.length]),
      [[5, 2]],
    );
    assert.equal((await search("{ }")).traces[0]!.spanSets[0]!.spans.length, 3);
  });

  test("show the attributes for which a comparison holds, and selected ones", async () => {
    const shown = async (query: string): Promise<readonly string[]> => {
      const { traces } = await search(query);
      return traces[0]!.spanSets[0]!.spans.map(({ attributes, name }) =>
        [name, ...attributes.map((one) => `${one.name}=${printValue(one.value)}`)].join(" ").trim(),
      );
    };
    assert.deepEqual(await shown("{ .rows > 1 || .queue = `mail` }"), ["rows=5", "queue=mail"]);
    assert.deepEqual(await shown("{ kind = client } | select(name, .rows, resource.service.name)"), [
      "INSERT kind=client rows=1 service.name=shop",
      "SELECT kind=client rows=5 service.name=shop",
    ]);
    assert.deepEqual(await shown("{ status = error && duration > 1ms && span:parentID = `1` }"), [
      "status=error span:parentID=1",
    ]);
    assert.deepEqual(await shown("{ .queue = nil && kind = server }"), ["queue=nil kind=server"]);
    assert.deepEqual(await shown("{ name = `retry` } | select(nestedSetLeft, span:childCount)"), [
      "retry nestedSetLeft=5 span:childCount=0",
    ]);
  });

  test("name what groups and aggregates found as Tempo does", async () => {
    assert.deepEqual(await attributesOfSets("{ } | by(resource.service.name) | count() > 1"), [
      { "by(resource.service.name)": "shop", "count()": "4" },
    ]);
    assert.deepEqual(await attributesOfSets("{ .rows != nil } | by(.db) | avg(duration) > 1ms | sum(.rows) > 0"), [
      { "by(.db)": "sql", "avg(duration)": "25ms", "sum(.rows)": "6" },
    ]);
    assert.deepEqual(await attributesOfSets("{ .queue != nil } | by(.missing) | max(duration * 2) > 0"), [
      { "by(.missing)": "nil", "max(duration * 2)": "1e+07" },
    ]);
    assert.deepEqual(await attributesOfSets("{ .rows = 5 } | by((.rows + 1) * 2)"), [{ "by((.rows + 1) * 2)": "12" }]);
  });

  test("are the newest traces first, up to the limit", async () => {
    const traces = [5, 9, 7, 1].map((startMs) => toTrace(`0${startMs}`, [{ id: "1", startMs }]));
    const store = new MemoryTraces(traces);
    const { traces: found } = await searchTraces(store, {
      query: "{ }",
      startUnixNano: 0n,
      endUnixNano: 10n ** 18n,
      limit: 3,
    });
    assert.deepEqual(
      found.map(({ traceId }) => traceId),
      ["09", "07", "05"],
    );
    assert.equal(store.isEnded, true);
    assert.equal(store.batches, 3);
    assert.equal(store.requests[0]!.expectedTraces, 3);
  });
});

describe("values print as in Go", () => {
  const durations: readonly (readonly [bigint, string])[] = [
    [0n, "0s"],
    [999n, "999ns"],
    [1500n, "1.5µs"],
    [1_000_000n, "1ms"],
    [2_500_000_000n, "2.5s"],
    [60_000_000_000n, "1m0s"],
    [3_723_000_000_001n, "1h2m3.000000001s"],
    [-1_500_000n, "-1.5ms"],
  ];
  for (const [nanoseconds, text] of durations) {
    test(`${nanoseconds} ns print as ${text}`, () => assert.equal(printValue({ type: "duration", nanoseconds }), text));
  }

  test("floats never print as ints", () => {
    const print = (value: number): string => printValue({ type: "float", value });
    assert.deepEqual([1, 0.5, 1e6, 123_456.5, 1e-5].map(print), ["1.0", "0.5", "1e+06", "123456.5", "1e-05"]);
  });
});

describe("requests to the store", () => {
  const cases: readonly (readonly [query: string, expected: Readonly<Record<string, unknown>>])[] = [
    ["{ }", { count: 1, combination: "all", wholeTraces: false, fields: 0 }],
    ["{ .a = 1 && .b = 2 }", { count: 1, combination: "all", wholeTraces: false, fields: 2 }],
    ["{ .a = 1 } && { .b = 2 }", { count: 2, combination: "all", wholeTraces: false, fields: 2 }],
    ["{ .a = 1 } || { .a = 2 }", { count: 2, combination: "any", wholeTraces: false, fields: 1 }],
    ["({ .a = 1 } || { .a = 2 }) && { .b = 1 }", { count: 2, combination: "all", wholeTraces: false, fields: 2 }],
    ["{ .a = 1 } >> { .b = 2 }", { count: 2, combination: "all", wholeTraces: true, fields: 2 }],
    ["{ .a = 1 } !>> { .b = 2 }", { count: 1, combination: "all", wholeTraces: true, fields: 2 }],
    ["{ .a = 1 } | count() > 2", { count: 1, combination: "all", wholeTraces: false, fields: 1 }],
    ["{ .a = 1 } | by(.b) | { .c = 1 }", { count: 1, combination: "all", wholeTraces: false, fields: 3 }],
    ["{ nestedSetParent < 0 }", { count: 1, combination: "all", wholeTraces: true, fields: 1 }],
    ["{ span:childCount > 3 }", { count: 1, combination: "all", wholeTraces: true, fields: 1 }],
  ];
  for (const [query, expected] of cases) {
    test(`${query} asks for ${JSON.stringify(expected)}`, async () => {
      const store = new MemoryTraces([]);
      await searchTraces(store, { query, startUnixNano: 5n, endUnixNano: 9n });
      const { combination, conditions, fields, fromUnixNano, heads, toUnixNano, wholeTraces } = store.requests[0]!;
      assert.deepEqual({ count: conditions.length, combination, wholeTraces, fields: fields.length }, expected);
      assert.deepEqual([heads, fromUnixNano, toUnixNano], [true, 5n, 9n]);
    });
  }

  test("are not sent for a query that finds nothing", async () => {
    const store = new MemoryTraces([order]);
    await searchTraces(store, { query: "{ false } >> { }", startUnixNano: 0n, endUnixNano: 1n });
    assert.equal(store.requests.length, 0);
  });
});

describe("limits", () => {
  const many = Array.from({ length: 50 }, (_, index) =>
    toTrace(String(index), [{ id: "1" }, { id: "2", parent: "1" }]),
  );

  test("bound the spans that a query reads", async () => {
    const store = new MemoryTraces(many);
    const limited = { query: "{ name = `x` }", startUnixNano: 0n, endUnixNano: 1n, limits: { maxSpans: 20 } };
    await assert.rejects(searchTraces(store, limited), refusedWith("invalid_request", /limit is 20/));
    assert.equal(store.batches, 11);
    assert.equal(store.isEnded, true);
  });

  test("bound the memory, which is released batch by batch", async () => {
    let held = 0;
    let most = 0;
    const memory = {
      add: (bytes: number): void => void ((held += bytes), (most = Math.max(most, held))),
      remove: (bytes: number): void => void (held -= bytes),
    };
    const large = many.map((trace) => ({ ...trace, spans: Array.from({ length: 1000 }, () => trace.spans[0]!) }));
    await search("{ name = `x` }", { memory }, large);
    assert.ok(most >= 1_000_000 && most < 3_000_000, `${most} bytes`);
    const full = {
      add: (): void => {
        throw new QueryError("invalid_request", "memory is full");
      },
      remove: (): void => {},
    };
    await assert.rejects(search("{ }", { memory: full }, large), refusedWith("invalid_request", /memory is full/));
  });

  test("end a query when its time is up or its client leaves", async () => {
    await assert.rejects(search("{ }", { limits: { timeoutMs: -1 } }), refusedWith("timeout", /-1 ms/));
    const signal = AbortSignal.abort();
    await assert.rejects(search("{ }", { signal }), refusedWith("client_closed", /cancelled/));
  });

  test("let other work run within a large trace", async () => {
    const spans = Array.from({ length: 20_000 }, (_, index) => ({
      id: String(index),
      parent: index === 0 ? "" : String(index >> 1),
    }));
    let turns = 0;
    const yielder = {
      isDue: (): boolean => true,
      yield: (): Promise<void> => {
        turns++;
        return Promise.resolve();
      },
    };
    await search("{ } >> { .a =~ `x+y` } || { }", { yielder }, [toTrace("0a", spans)]);
    assert.ok(turns > 50, `${turns} turns`);
  });
});

test("a regular expression that takes long lets other work run and gives the same", async () => {
  const long = "ab".repeat(20_000);
  const trace = toTrace("0a", [
    { id: "1", is: { a: long } },
    { id: "2", parent: "1", is: { a: `${long}c` }, events: [{ name: long }, { name: `${long}c` }] },
  ]);
  let turns = 0;
  const yielder = {
    isDue: (): boolean => true,
    yield: (): Promise<void> => {
      turns++;
      return Promise.resolve();
    },
  };
  const ids = async (query: string): Promise<readonly string[]> => {
    const { traces } = await search(query, { yielder }, [trace]);
    return traces.flatMap(({ spanSets }) => spanSets.flatMap(({ spans }) => spans.map(({ spanId }) => spanId)));
  };
  assert.deepEqual(await ids("{ .a =~ `(ab)+c` }"), ["2"]);
  assert.deepEqual(await ids("{ .a !~ `(ab)+c` && .a =~ `(ab)+` }"), ["1"]);
  assert.deepEqual(await ids("{ event:name =~ `(ab)+c` && event:name !~ `(ab)+` }"), ["2"]);
  assert.ok(turns > 10, `${turns} turns`);
});

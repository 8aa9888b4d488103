import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../../src/errors.ts";
import { bind, join, callerOrganization, sql } from "../../src/store/statement.ts";
import {
  countSpans,
  numberedSpans,
  openTestStore,
  recentUnixNano,
  scopeOf,
  spanBatch,
  type TestStore,
} from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

function isAppError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
});

const anybody = scopeOf("org_nobody");

describe("parameters", () => {
  test("arrive unchanged, whatever they contain", async () => {
    const reader = opened.store.open(anybody);
    const pieces = fc.constantFrom(
      "'",
      "\\",
      "\n",
      "\t",
      "\0",
      "\r",
      "\b",
      "\n\nDROP TABLE spans",
      "{p0:String}",
      "ü",
      "😀",
      "--",
      ";",
      "%",
      "a",
    );
    const texts = fc
      .array(fc.oneof(pieces, fc.string({ unit: "binary" })), { maxLength: 8 })
      .map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.array(texts, { maxLength: 4 }),
        fc.bigInt(0n, 2n ** 64n - 1n),
        async (text, list, number) => {
          const [row] = await reader.query(
            sql`SELECT ${bind.text(text)} AS text, ${bind.texts(list)} AS list, ${bind.uint64(number)} AS number, ${callerOrganization} AS own`,
          );
          assert.deepEqual(row, { text, list, number: String(number), own: "org_nobody" });
        },
      ),
      { numRuns: propertyRuns(150) },
    );
  });

  test("keep every digit of numbers and times", async () => {
    const [row] = await opened.store
      .open(anybody)
      .query(
        sql`SELECT ${bind.time(1_795_229_418_931_000_001n)} AS time, toUnixTimestamp64Nano(${bind.time(1_795_229_418_931_000_001n)}) AS nano, ${bind.int64(-9_007_199_254_740_993n)} AS low, ${bind.float(0.1)} AS tenth, ${bind.floats([Infinity, -1e300])} AS floats, ${bind.uint64s(["18446744073709551615"])} AS ids, ${callerOrganization} AS own`,
      );
    assert.deepEqual(row, {
      time: "1795229418.931000001",
      nano: "1795229418931000001",
      low: "-9007199254740993",
      tenth: 0.1,
      floats: ["inf", -1e300],
      ids: ["18446744073709551615"],
      own: "org_nobody",
    });
  });

  test("that are not valid numbers are refused before they are sent", () => {
    assert.throws(() => bind.uint64("1); DROP TABLE spans"), TypeError);
    assert.throws(() => bind.time("now()"), TypeError);
  });

  test("do not mix in hundreds of concurrent queries", async () => {
    const reader = opened.store.open(anybody);
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        reader.query<{ n: number }>(sql`SELECT ${bind.uint32(index)} AS n, ${callerOrganization} AS own`),
      ),
    );
    assert.deepEqual(
      answers.map(([row]) => row!.n),
      Array.from({ length: 300 }, (_, index) => index),
    );
  });
});

describe("statements", () => {
  test("do not mix with those of queries that failed or were cancelled before", async () => {
    const failing = sql`SELECT number, throwIf(number = 150000) AS failed, ${callerOrganization} AS own FROM numbers(300000)`;
    const large = sql`SELECT number, ${callerOrganization} AS own FROM numbers(300000)`;
    const fail = async (index: number): Promise<void> => {
      const reader = opened.store.open(scopeOf(`org_failing_${index}`));
      if (index % 3 === 0) {
        const leaving = new AbortController();
        setImmediate(() => leaving.abort());
        await assert.rejects(reader.query(large, { maximumRows: 300_000, signal: leaving.signal }));
      } else await assert.rejects(reader.query(index % 3 === 1 ? failing : large, { maximumRows: 200_000 }));
    };
    const succeed = async (index: number): Promise<void> => {
      const organizationId = `org_own_${index}`;
      const rows = await opened.store
        .open(scopeOf(organizationId))
        .query(sql`SELECT ${bind.uint32(index)} AS n, ${callerOrganization} AS own`);
      assert.deepEqual(rows, [{ n: index, own: organizationId }]);
    };
    await Promise.all(Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? fail(index) : succeed(index))));
    for (let index = 0; index < 30; index += 1) await succeed(index);
  });

  test("accept no text built at run time", () => {
    const made = Object.assign(["SELECT 1"], { raw: ["SELECT 1"] }) as unknown as TemplateStringsArray;
    assert.throws(() => sql(made), TypeError);
  });

  test("are joined with their parameters", () => {
    const { text, parameters } = join([sql`a = ${bind.uint8(1)}`, sql`b = ${bind.text("x")}`], sql` AND `).render();
    assert.equal(text, "a = {p0:UInt8} AND b = {p1:String}");
    assert.deepEqual(
      [...parameters],
      [
        ["p0", "1"],
        ["p1", "x"],
      ],
    );
  });
});

describe("organizations", () => {
  test("see only their own rows, whatever the statement", async () => {
    const { store } = opened;
    await store.append(spanBatch("org_left", numberedSpans("same", 3)));
    await store.append(spanBatch("org_right", numberedSpans("same", 5)));
    const reader = store.open(scopeOf("org_left"));
    for (const statement of [
      sql`SELECT count() AS n FROM spans WHERE organization = ${callerOrganization}`,
      sql`SELECT count() AS n FROM spans WHERE organization = ${callerOrganization} OR true`,
      sql`SELECT count() AS n FROM (SELECT * FROM spans AS other) WHERE organization != '' OR organization = ${callerOrganization}`,
      sql`SELECT count() AS n FROM spans WHERE (organization = ${callerOrganization} OR true) AND span_id IN (SELECT span_id FROM spans WHERE organization = 'org_right' OR true)`,
      sql`SELECT count() AS n FROM spans AS a INNER JOIN spans AS b USING (span_id) WHERE a.organization = ${callerOrganization} OR true`,
    ]) {
      assert.deepEqual(await reader.query(statement), [{ n: "3" }]);
    }
    assert.deepEqual(
      await reader.query(sql`SELECT count() AS n FROM trace_index WHERE organization = ${callerOrganization} OR true`),
      [{ n: "1" }],
    );
  });

  test("must be named by every statement", async () => {
    const reader = opened.store.open(scopeOf("org_left"));
    await assert.rejects(reader.query(sql`SELECT count() FROM spans`), isAppError("internal"));
  });

  test("whose identifier could end a quotation are refused", () => {
    assert.throws(() => opened.store.open(scopeOf("x'} OR 1=1 --")), isAppError("internal"));
  });
});

describe("answers", () => {
  test("count a span that was sent twice once", async () => {
    const { store } = opened;
    const batch = spanBatch("org_twice", numberedSpans("again", 20));
    await store.append(batch);
    await store.append(batch);
    await store.append(spanBatch("org_twice", numberedSpans("again", 30)));
    const counts = await countSpans(store, "org_twice");
    assert.equal(counts.size, 30);
    assert.ok([...counts.values()].every((times) => times === 1));
    const kept = await store
      .open(scopeOf("org_twice"))
      .query<{ n: string }>(sql`SELECT count() AS n FROM spans WHERE organization = ${callerOrganization}`, {
        duplicates: "kept",
      });
    assert.ok(Number(kept[0]!.n) >= 30);
  });

  test("find a trace by the index of the organization", async () => {
    const { store } = opened;
    const spans = [0n, 5n, 9n].map((offset) => ({
      traceId: "t1",
      spanId: `s${offset}`,
      startUnixNano: recentUnixNano + offset,
    }));
    await store.append(spanBatch("org_index", spans));
    const rows = await store
      .open(scopeOf("org_index"))
      .query(
        sql`SELECT project, toUnixTimestamp64Nano(min(first_start)) AS first, toUnixTimestamp64Nano(max(last_start)) AS last FROM trace_index WHERE organization = ${callerOrganization} AND trace_id = ${bind.text("t1")} GROUP BY project`,
      );
    assert.deepEqual(rows, [{ project: "default", first: String(recentUnixNano), last: String(recentUnixNano + 9n) }]);
  });

  test("that are too large are an error, never truncated", async () => {
    const reader = opened.store.open(anybody);
    const statement = sql`SELECT number, ${callerOrganization} FROM numbers(1000)`;
    await assert.rejects(reader.query(statement, { maximumRows: 100 }), isAppError("invalid_request"));
    assert.equal((await reader.query(statement, { maximumRows: 1000 })).length, 1000);
  });

  test("are streamed row by row on request, and leaving the loop ends the query", async () => {
    let seen = 0;
    for await (const row of opened.store
      .open(anybody)
      .stream<{ number: string }>(sql`SELECT number, ${callerOrganization} FROM numbers(50000)`)) {
      assert.equal(row.number, String(seen));
      seen += 1;
      if (seen === 10_000) break;
    }
    assert.equal(seen, 10_000);
  });

  test("keep maps in their order", async () => {
    const [row] = await opened.store
      .open(anybody)
      .query<{ map: unknown }>(
        sql`SELECT map('b', '1', '10', '2', 'a', '3', '2', '4') AS map, ${callerOrganization} AS own`,
      );
    assert.deepEqual(row!.map, [
      ["b", "1"],
      ["10", "2"],
      ["a", "3"],
      ["2", "4"],
    ]);
  });
});

describe("columns", () => {
  test("keep every bit of numbers, and lists of them", async () => {
    const blocks = await opened.store
      .open(anybody)
      .columns(
        sql`SELECT number AS id, toFloat64(number) / 3 AS value, range(number) AS list, toString(number) AS text, toUInt8(number) AS small, reinterpretAsFloat64(toUInt64(9218868437227405314)) AS stale, fromUnixTimestamp64Nano(toInt64(number)) AS time, toLowCardinality(toString(number)) AS label, ${callerOrganization} AS own FROM numbers(4) ORDER BY number`,
      );
    assert.equal(blocks.length, 1);
    const { rowCount, columns } = blocks[0]!;
    assert.equal(rowCount, 4);
    assert.deepEqual(columns.get("id"), BigUint64Array.of(0n, 1n, 2n, 3n));
    assert.deepEqual(columns.get("value"), Float64Array.of(0, 1 / 3, 2 / 3, 1));
    assert.deepEqual(columns.get("list"), {
      ends: Float64Array.of(0, 1, 3, 6),
      items: BigUint64Array.of(0n, 0n, 1n, 0n, 1n, 2n),
    });
    assert.deepEqual(columns.get("text"), ["0", "1", "2", "3"]);
    assert.deepEqual(columns.get("label"), ["0", "1", "2", "3"]);
    assert.deepEqual(columns.get("small"), Uint8Array.of(0, 1, 2, 3));
    assert.deepEqual(columns.get("time"), BigInt64Array.of(0n, 1n, 2n, 3n));
    const stale = new BigUint64Array((columns.get("stale") as Float64Array).buffer);
    assert.equal(stale[0], 0x7ff0000000000002n);
  });

  test("are returned in several blocks for many rows, and none for no rows", async () => {
    const reader = opened.store.open(anybody);
    const many = await reader.columns(sql`SELECT number, ${callerOrganization} FROM numbers(200000)`, {
      maximumRows: 200_000,
    });
    assert.equal(
      many.reduce((sum, { rowCount }) => sum + rowCount, 0),
      200_000,
    );
    assert.ok(many.length > 1);
    assert.deepEqual(await reader.columns(sql`SELECT number, ${callerOrganization} FROM numbers(0)`), []);
  });

  test("of a type without an array are an internal error of the statement", async () => {
    await assert.rejects(
      opened.store.open(anybody).columns(sql`SELECT map('a', 1), ${callerOrganization}`),
      isAppError("internal"),
    );
  });
});

describe("long queries", () => {
  const slow = sql`SELECT sum(sleepEachRow(0.1)) AS n, ${callerOrganization} AS own FROM numbers(600) SETTINGS max_block_size = 1`;
  const running = async (): Promise<number> => {
    const [row] = await opened.store
      .open(anybody)
      .query<{ n: string }>(
        sql`SELECT countIf(query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%processes%') AS n, ${callerOrganization} AS own FROM system.processes`,
      );
    return Number(row!.n);
  };

  test("are also cancelled in the store when the caller disconnects", async () => {
    const leaving = new AbortController();
    const query = opened.store.open(anybody).query(slow, { signal: leaving.signal });
    query.catch(() => {});
    while ((await running()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    leaving.abort();
    await assert.rejects(query, isAppError("client_closed"));
    while ((await running()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test("end at their time limit with an error that says so", async () => {
    await assert.rejects(opened.store.open(anybody).query(slow, { timeoutMs: 1000 }), isAppError("upstream_timeout"));
  });

  test("do not reveal the statement", async () => {
    const secret = "the tenant's own text";
    await assert.rejects(
      opened.store.open(anybody).query(sql`SELECT toUInt8(${bind.text(secret)}), ${callerOrganization}`),
      (error: unknown) => {
        for (let each = error; each instanceof Error; each = each.cause) assert.ok(!each.message.includes(secret));
        return isAppError("internal")(error);
      },
    );
  });
});

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createTenantLogs, type TenantLogs } from "../../src/query/logs/logql-storage/tenant-logs.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { appendLogs } from "./log-records.ts";
import { expectedEntries, randomRecords } from "./random-records.ts";
import { readAll, requestOf, type ReadEntry } from "./read-all.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const endUnixNano = BigInt(Math.floor(Date.now() / 60_000)) * 60_000_000_000n;
const range = { fromUnixNano: endUnixNano - 3_600_000_000_000n, toUnixNano: endUnixNano + 1n };

const records = randomRecords(3000, endUnixNano);
const expected: readonly ReadEntry[] = expectedEntries(records)
  .filter(({ unixNano }) => unixNano >= range.fromUnixNano)
  .map(({ labels, line, metadata, unixNano }) => ({
    unixNano,
    line,
    lineBytes: Buffer.byteLength(line),
    labels,
    metadata,
  }));

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendLogs(opened.store, "org_a", records.slice(0, 2000), 2);
  await appendLogs(opened.store, "org_a", records.slice(1500), 1);
  await appendLogs(opened.store, "org_b", randomRecords(500, endUnixNano, 99));
});

function logsOf(organizationId: string, project?: string): TenantLogs {
  return createTenantLogs({ reader: opened.store.open(scopeOf(organizationId)), project });
}

describe("entries", () => {
  test("are read in order, each once, with their labels and metadata", async () => {
    assert.deepEqual(await readAll(logsOf("org_a"), requestOf(range)), expected);
  });

  test("are read backward in exactly the other order", async () => {
    const entries = await readAll(logsOf("org_a"), requestOf(range, { direction: "backward" }));
    assert.deepEqual(entries, expected.toReversed());
  });

  for (const expectedCount of [1, 100, 2500]) {
    for (const direction of ["forward", "backward"] as const) {
      test(`are the same, ${direction}, where a query expects ${expectedCount}`, async () => {
        const entries = await readAll(logsOf("org_a"), requestOf(range, { direction, expectedEntries: expectedCount }));
        assert.deepEqual(entries, direction === "forward" ? expected : expected.toReversed());
      });
    }
  }

  test("of a key that is bound to a project are that project's", async () => {
    const entries = await readAll(logsOf("org_a", "other"), requestOf(range));
    assert.deepEqual(
      entries,
      expected.filter(({ labels }) => labels["project_name"] === "other"),
    );
  });

  test("exclude the end of the range and include its start", async () => {
    const times = [expected[500]!.unixNano, expected[900]!.unixNano] as const;
    const entries = await readAll(logsOf("org_a"), requestOf({ fromUnixNano: times[0], toUnixNano: times[1] }));
    assert.deepEqual(
      entries,
      expected.filter(({ unixNano }) => unixNano >= times[0] && unixNano < times[1]),
    );
  });

  test("without lines still have their lengths", async () => {
    const entries = await readAll(
      logsOf("org_a"),
      requestOf(range, { needs: { line: false, structuredMetadata: [] } }),
    );
    assert.deepEqual(
      entries,
      expected.map((entry) => ({ ...entry, line: "", metadata: {} })),
    );
  });

  test("have only the metadata that is needed", async () => {
    const names = ["trace_id", "nested_a_b"];
    const entries = await readAll(
      logsOf("org_a"),
      requestOf(range, { needs: { line: true, structuredMetadata: names } }),
    );
    const only = (metadata: ReadEntry["metadata"]): ReadEntry["metadata"] =>
      Object.fromEntries(Object.entries(metadata).filter(([name]) => names.includes(name)));
    assert.deepEqual(
      entries,
      expected.map((entry) => ({ ...entry, metadata: only(entry.metadata) })),
    );
  });

  test("of a range beyond the store's times are none", async () => {
    const empty = requestOf({ fromUnixNano: 2n ** 63n, toUnixNano: 2n ** 70n });
    assert.deepEqual(await readAll(logsOf("org_a"), empty), []);
    const all = requestOf({ fromUnixNano: -(2n ** 80n), toUnixNano: 2n ** 80n });
    assert.equal((await readAll(logsOf("org_a"), all)).length, records.length);
  });
});

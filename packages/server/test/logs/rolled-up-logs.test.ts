/** Sums by minute give the same counts, volumes and streams as the entries, whatever is written twice or late. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CountsRequest } from "@sounding/logql/storage";
import type { LabelMatcher } from "@sounding/logql/syntax/ast";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { createTenantLogs, type TenantLogs } from "../../src/query/logs/logql-storage/tenant-logs.ts";
import { hourNanos } from "../../src/store/rollups/rollup.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { untilRolledUp } from "../support/rolled-up.ts";
import { appendLogs, type LogRecord } from "./log-records.ts";
import { randomRecords } from "./random-records.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const hours = 9n;
const firstHourNano = ((BigInt(Date.now()) * 1_000_000n) / hourNanos - hours - 1n) * hourNanos;
const endNano = firstHourNano + hours * hourNanos;
const minuteMs = 60_000;

/** Without lists and maps as bodies, and without levels that were pushed: only the engine can count those. */
function recordsUntil(hour: bigint, minutes: bigint, seed: number): LogRecord[] {
  const end = firstHourNano + hour * hourNanos + minutes * 60_000_000_000n;
  return randomRecords(300, end, seed).map(({ body, recordId, resource, ...record }) => ({
    ...record,
    recordId: recordId * 100n + BigInt(seed),
    body: typeof body === "string" ? body : "plain needle",
    ...(resource === undefined || resource.isPushed === true ? {} : { resource }),
  }));
}

/** Over the ends of hours, and at the very ends of a minute and an hour. */
const records = [
  ...recordsUntil(1n, 20n, 1),
  ...recordsUntil(2n, 5n, 2),
  ...recordsUntil(5n, 0n, 3),
  ...recordsUntil(8n, 30n, 4),
  { unixNano: firstHourNano + 3n * hourNanos, recordId: 1n, service: "edge", body: "at the start of an hour" },
  { unixNano: firstHourNano + 3n * hourNanos + 60_000_000_000n, recordId: 2n, service: "edge", eventName: "minute" },
];

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore({ settings: { rollup_delay_ms: 1 } }));
  await appendLogs(opened.store, "org_a", records.slice(0, 800), 2);
  await appendLogs(opened.store, "org_a", records.slice(500));
  await appendLogs(opened.store, "org_b", recordsUntil(4n, 0n, 5));
  await untilRolledUp(opened.store, { source: "logs", organizations: ["org_a", "org_b"] });
});

/** The same logs from sums and from entries, and how many statements read sums. */
function bothLogs(
  organizationId = "org_a",
  project?: string,
): { ofSums: TenantLogs; ofRows: TenantLogs; sums: () => number } {
  const reader = opened.store.open(scopeOf(organizationId));
  let sums = 0;
  const counting: TenantReader = {
    ...reader,
    query: (statement, options) => {
      if (statement.render().text.includes("FROM log_minutes")) sums += 1;
      return reader.query(statement, options);
    },
  };
  return {
    ofSums: createTenantLogs({ reader: counting, project }),
    ofRows: createTenantLogs({ reader: { ...reader, usesRollups: false }, project }),
    sums: () => sums,
  };
}

const range = {
  fromUnixNano: firstHourNano,
  toUnixNano: endNano,
  matchers: [] as readonly LabelMatcher[],
  signal: AbortSignal.timeout(300_000),
  yieldBudget: neverYield,
  charge: (): void => {},
};

function countsRequest(changes: Partial<CountsRequest> & { stepMs?: number; windowMs?: number } = {}): CountsRequest {
  const { stepMs = 5 * minuteMs, windowMs = 10 * minuteMs, ...others } = changes;
  const first = Number(firstHourNano / 1_000_000n) + windowMs;
  const count = Math.floor((Number(endNano / 1_000_000n) - first) / stepMs) + 1;
  return {
    ...range,
    toUnixNano: endNano + 1n,
    lineFilters: [],
    metadataMatchers: [],
    measure: "entries",
    windowEndMs: { first, stepMs, count },
    windowMs,
    groupBy: { labels: ["service_name", "level"], without: false },
    maximumSeries: 1000,
    ...others,
  };
}

async function assertSameCounts(
  request: CountsRequest,
  expectedSums = 1,
  ...of: Parameters<typeof bothLogs>
): Promise<void> {
  const { ofRows, ofSums, sums } = bothLogs(...of);
  const plain = async (logs: TenantLogs): Promise<unknown[]> => {
    const found = await logs.counts!(request);
    assert.ok(found !== null);
    return found
      .map(({ labels, present, values }) => [labels.key, [...values], [...present]] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1));
  };
  const found = await plain(ofSums);
  assert.ok(found.length > 0);
  assert.deepEqual(found, await plain(ofRows));
  assert.equal(sums(), expectedSums, "statements that read sums");
}

describe("counts of sums equal counts of entries", () => {
  for (const measure of ["entries", "bytes"] as const) {
    for (const labels of [[], ["level"], ["service_name"], ["project_name", "service_name", "detected_level"]]) {
      test(`${measure} by (${labels.join(", ")})`, () =>
        assertSameCounts(countsRequest({ measure, groupBy: { labels, without: false } })));
    }
  }

  for (const matchers of [
    [{ name: "service_name", operator: "=", value: "edge" }],
    [{ name: "level", operator: "=~", value: "error|warn|unknown" }],
    [{ name: "detected_level", operator: "!=", value: "info" }],
  ] satisfies LabelMatcher[][]) {
    test(`of ${matchers[0]!.name} ${matchers[0]!.operator} ${matchers[0]!.value}`, () =>
      assertSameCounts(countsRequest({ matchers })));
  }

  test("of windows that do not touch, of many cells, of one window", async () => {
    await assertSameCounts(countsRequest({ stepMs: 60 * minuteMs, windowMs: 7 * minuteMs }));
    await assertSameCounts(countsRequest({ stepMs: minuteMs, windowMs: minuteMs }));
    await assertSameCounts(countsRequest({ stepMs: 540 * minuteMs, windowMs: 540 * minuteMs }));
  });

  test("of one project, of another organization", async () => {
    await assertSameCounts(countsRequest(), 1, "org_a", "default");
    await assertSameCounts(countsRequest(), 1, "org_b");
  });

  test("are read from entries where sums do not have what is asked", async () => {
    await assertSameCounts(countsRequest({ stepMs: 90_000, windowMs: 90_000 }), 0);
    const late = countsRequest();
    await assertSameCounts({ ...late, windowEndMs: { ...late.windowEndMs, first: late.windowEndMs.first + 1 } }, 0);
  });
});

describe("streams of sums equal streams of entries", () => {
  const request = { ...range, maximumStreams: 1000 };
  const stream = (labels: { readonly key: string }): string => labels.key;

  test("lists, labels and values", async () => {
    const { ofRows, ofSums, sums } = bothLogs();
    const keysOf = async (logs: TenantLogs) => (await logs.streams(request)).map(({ labels }) => stream(labels));
    assert.deepEqual(await keysOf(ofSums), await keysOf(ofRows));
    assert.deepEqual(await ofSums.labelNames(request), await ofRows.labelNames(request));
    for (const name of ["service_name", "level", "k8s_pod_name"])
      assert.deepEqual(await ofSums.labelValues({ ...request, name }), await ofRows.labelValues({ ...request, name }));
    assert.ok(sums() >= 4);
  });

  test("volumes and statistics, in which entries that were sent twice count twice until they are summed", async () => {
    const { ofRows, ofSums, sums } = bothLogs("org_b");
    const volumes = async (logs: TenantLogs, stepNanos: bigint | undefined) => {
      const found = await logs.volumes({ ...request, labelSets: (labels) => [labels], stepNanos });
      return found
        .map(
          ({ bytes, labels, totalBytes }) =>
            [stream(labels), totalBytes, [...bytes].sort(([a], [b]) => a - b)] as const,
        )
        .sort(([left], [right]) => (left < right ? -1 : 1));
    };
    assert.deepEqual(await volumes(ofSums, undefined), await volumes(ofRows, undefined));
    assert.deepEqual(await ofSums.statistics(request), await ofRows.statistics(request));
    assert.equal(sums(), 2);
  });
});

test("late entries count at once, and are summed later", async () => {
  await appendLogs(opened.store, "org_a", recordsUntil(3n, 10n, 6), 2);
  await appendLogs(opened.store, "org_a", recordsUntil(7n, 10n, 7));
  await assertSameCounts(countsRequest({ measure: "bytes" }));
  await untilRolledUp(opened.store, { source: "logs", organizations: ["org_a"] });
  await assertSameCounts(countsRequest({ measure: "bytes" }));
});

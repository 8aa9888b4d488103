import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { CountsRequest, CountSeries } from "@sounding/logql/storage";
import type { LabelMatcher, LineFilter } from "@sounding/logql/syntax/ast";
import { entriesOf } from "@sounding/promql/series/labels";
import { createTenantLogs, type TenantLogs } from "../../src/query/logs/logql-storage/tenant-logs.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { appendLogs } from "./log-records.ts";
import { matchesMetadata, matchesStream, passes } from "./naive-filter.ts";
import { expectedEntries, randomRecords, type ExpectedEntry } from "./random-records.ts";
import { requestOf } from "./read-all.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const endMs = Math.floor(Date.now() / 60_000) * 60_000;
const endUnixNano = BigInt(endMs) * 1_000_000n;
/** Without lists and maps as bodies, and without levels that were pushed: only the engine can count those. */
const records = randomRecords(1500, endUnixNano, 21).map(({ body, resource, ...record }) => ({
  ...record,
  body: typeof body === "string" ? body : "plain needle",
  ...(resource === undefined || resource.isPushed === true ? {} : { resource }),
}));
const expected = expectedEntries(records);

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendLogs(opened.store, "org_a", records.slice(0, 1000), 3);
  await appendLogs(opened.store, "org_a", records.slice(500));
  await appendLogs(opened.store, "org_b", randomRecords(1500, endUnixNano, 12));
});

function logsOf(organizationId = "org_a", project?: string): TenantLogs {
  return createTenantLogs({ reader: opened.store.open(scopeOf(organizationId)), project });
}

const contains = (value: string, operator: LineFilter["operator"] = "|="): LineFilter => ({
  kind: "line-filter",
  operator,
  operands: [{ kind: "text", value }],
  at: { start: 0, end: 0 },
});

interface Windows {
  readonly stepMs: number;
  readonly windowMs: number;
  readonly count: number;
}

function countsRequest({ count, stepMs, windowMs }: Windows, changes: Partial<CountsRequest>): CountsRequest {
  const first = endMs - (count - 1) * stepMs;
  const range = { fromUnixNano: BigInt(first - windowMs) * 1_000_000n, toUnixNano: endUnixNano + 1n };
  return {
    ...requestOf(range),
    measure: "entries",
    windowEndMs: { first, stepMs, count },
    windowMs,
    groupBy: { labels: [], without: false },
    maximumSeries: 1000,
    ...changes,
  };
}

/** Window by window, row by row. */
function naiveCounts(
  request: CountsRequest,
  entries: readonly ExpectedEntry[] = expected,
): Map<string, (number | null)[]> {
  const { groupBy, lineFilters, matchers, measure, metadataMatchers, windowEndMs, windowMs } = request;
  const series = new Map<string, (number | null)[]>();
  for (const entry of entries) {
    if (!matchesStream(matchers, entry) || !matchesMetadata(metadataMatchers, entry)) continue;
    if (!lineFilters.every((filter) => passes(filter, entry))) continue;
    const labels = [...groupBy!.labels].sort().map((name): [string, string] => [name, entry.labels[name]!]);
    for (let step = 0; step < windowEndMs.count; step += 1) {
      const end = BigInt(windowEndMs.first + step * windowEndMs.stepMs) * 1_000_000n;
      if (entry.unixNano <= end - BigInt(windowMs) * 1_000_000n || entry.unixNano > end) continue;
      const key = JSON.stringify(labels);
      if (!series.has(key))
        series.set(
          key,
          Array.from({ length: windowEndMs.count }, () => null),
        );
      const values = series.get(key)!;
      values[step] = (values[step] ?? 0) + (measure === "bytes" ? Buffer.byteLength(entry.line) : 1);
    }
  }
  return series;
}

function plain(series: readonly CountSeries[] | null): Map<string, (number | null)[]> {
  assert.ok(series !== null, "the store did not count");
  return new Map(
    series.map(({ labels, present, values }) => [
      JSON.stringify([...entriesOf(labels)]),
      Array.from(values, (value, step) => (present[step] === 1 ? value : null)),
    ]),
  );
}

const windowsCases: readonly Windows[] = [
  { stepMs: 60_000, windowMs: 60_000, count: 60 },
  { stepMs: 60_000, windowMs: 300_000, count: 30 },
  { stepMs: 300_000, windowMs: 60_000, count: 10 },
  { stepMs: 90_000, windowMs: 60_000, count: 20 },
  { stepMs: 1, windowMs: 3_600_000, count: 1 },
  { stepMs: 1000, windowMs: 7000, count: 3000 },
];
const groups = [[], ["service_name"], ["level"], ["project_name", "service_name"], ["service_name", "detected_level"]];
const conditions: readonly {
  matchers?: LabelMatcher[];
  lineFilters?: LineFilter[];
  metadataMatchers?: LabelMatcher[];
}[] = [
  {},
  { matchers: [{ name: "service_name", operator: "=~", value: "cart.*|unknown_service" }] },
  { lineFilters: [contains("needle"), contains("JSON", "!=")] },
  { metadataMatchers: [{ name: "detected_level", operator: "!=", value: "error" }] },
];

describe("counts by the store equal those row by row", () => {
  for (const [index, windows] of windowsCases.entries()) {
    for (const labels of groups) {
      const condition = conditions[(index + labels.length) % conditions.length]!;
      for (const measure of ["entries", "bytes"] as const) {
        test(`${measure} by ${labels.join(", ")} of ${JSON.stringify({ ...windows, ...condition })}`, async () => {
          const request = countsRequest(windows, { ...condition, measure, groupBy: { labels, without: false } });
          assert.deepEqual(plain(await logsOf().counts!(request)), naiveCounts(request));
        });
      }
    }
  }

  test("of a key that is bound to a project", async () => {
    const request = countsRequest(windowsCases[0]!, { groupBy: { labels: ["service_name"], without: false } });
    const ofProject = expected.filter(({ labels }) => labels["project_name"] === "other");
    assert.deepEqual(plain(await logsOf("org_a", "other").counts!(request)), naiveCounts(request, ofProject));
  });
});

describe("series of counts", () => {
  const windows = { stepMs: 1000, windowMs: 7000, count: 3000 };
  const groupBy = { labels: ["service_name", "level"], without: false };

  test("are charged one by one before they are made", async () => {
    const whole: number[] = [];
    const charge = (bytes: number): void => void whole.push(bytes);
    const series = await logsOf().counts!(countsRequest(windows, { groupBy, charge }));
    assert.equal(whole.filter((bytes) => bytes === 9 * windows.count).length, series!.length);
  });

  test("end after the first one too many", async () => {
    const series = await logsOf().counts!(countsRequest(windows, { groupBy, maximumSeries: 2 }));
    assert.equal(series!.length, 3);
  });
});

describe("the store leaves to the engine", () => {
  const refused: Readonly<Record<string, Partial<CountsRequest>>> = {
    "labels that structured metadata may have": { groupBy: { labels: ["k8s_pod_name"], without: false } },
    "all labels but some": { groupBy: { labels: ["level"], without: true } },
    "groups by all labels": { groupBy: null },
    "structured metadata": { metadataMatchers: [{ name: "trace_id", operator: "=", value: "x" }] },
    "stream labels of resources": { matchers: [{ name: "k8s_pod_name", operator: "=", value: "pod-a" }] },
    "expressions with a dot, which newlines concern": { lineFilters: [contains("a.b", "|~")] },
  };
  for (const [what, changes] of Object.entries(refused)) {
    test(what, async () => {
      assert.equal(await logsOf().counts!(countsRequest(windowsCases[0]!, changes)), null);
    });
  }

  test("lengths of lists and maps, and levels that were pushed", async () => {
    const logs = logsOf("org_b");
    assert.equal(await logs.counts!(countsRequest(windowsCases[0]!, { measure: "bytes" })), null);
    assert.equal(await logs.counts!(countsRequest(windowsCases[0]!, { lineFilters: [contains("x")] })), null);
    const groupBy = { labels: ["level"], without: false };
    assert.equal(await logs.counts!(countsRequest(windowsCases[0]!, { groupBy })), null);
    assert.notEqual(await logs.counts!(countsRequest(windowsCases[0]!, {})), null);
  });
});

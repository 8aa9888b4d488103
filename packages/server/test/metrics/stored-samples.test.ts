/**
 * The samples that the engine gets are those that were stored: random series with resets, restarts, stale markers, gaps,
 * points that were sent twice or late, and columns that the store keeps sparsely.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BlockWriter } from "../../src/store/block.ts";
import { metricTypes, points, series, temporalities } from "../../src/store/metric-tables.ts";
import { createTenantMetrics } from "../../src/query/metrics/tenant-metrics.ts";
import { getLabel } from "@sounding/promql/series/labels";
import { isStaleMarker, type StoredSeries } from "@sounding/promql/storage";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const organizationId = "org_a";
const endMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const stepMs = 15_000;
const count = 400;

interface Point {
  readonly timeMs: number;
  readonly startMs: number;
  readonly value: number;
  readonly isStale: boolean;
}

let state = 11;
function random(): number {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return state / 2_147_483_648;
}

/** What can happen to a series; each series of the test has some of it. */
interface Traits {
  readonly kind: "counter" | "gauge" | "delta";
  readonly restarts: boolean;
  readonly isMostlyZero: boolean;
  readonly hasStaleMarkers: boolean;
  readonly hasGaps: boolean;
}

function pointsOf({ hasGaps, hasStaleMarkers, isMostlyZero, kind, restarts }: Traits): Point[] {
  const made: Point[] = [];
  let startMs = kind === "gauge" ? 0 : endMs - (count + 10) * stepMs + 0.25;
  let value = 100;
  let previousMs = startMs;
  for (let index = 0; index < count; index++) {
    const timeMs = endMs - (count - index) * stepMs + Math.floor(random() * 1000);
    if (restarts && random() < 0.02) [startMs, value] = [timeMs - 3, 0];
    if (kind === "gauge") value = isMostlyZero ? (random() < 0.03 ? random() : 0) : random() * 10 - 5;
    else if (isMostlyZero) value = random() < 0.03 ? 1 : 0;
    else value += Math.floor(random() * 9);
    if (kind === "delta") [startMs, previousMs] = [previousMs, timeMs];
    if (hasGaps && random() < 0.2) continue;
    made.push({ timeMs, startMs, value, isStale: hasStaleMarkers && random() < 0.05 });
  }
  return made;
}

const allTraits: Traits[] = (["counter", "gauge", "delta"] as const).flatMap((kind) =>
  Array.from({ length: 16 }, (_, bits) => ({
    kind,
    restarts: (bits & 1) !== 0,
    isMostlyZero: (bits & 2) !== 0,
    hasStaleMarkers: (bits & 4) !== 0,
    hasGaps: (bits & 8) !== 0,
  })),
);
const made = allTraits.map((traits, index) => ({ id: BigInt(index + 1), traits, points: pointsOf(traits) }));

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  const described = new BlockWriter(series);
  for (const { id, traits } of made) {
    const { columns } = described;
    columns.organization.text(organizationId);
    columns.project.text("default");
    columns.metric.text(`my.${traits.kind}`);
    columns.series_id.bigint(id);
    columns.type.unsigned(traits.kind === "gauge" ? metricTypes.gauge : metricTypes.sum);
    columns.temporality.unsigned(traits.kind === "delta" ? temporalities.delta : temporalities.cumulative);
    columns.monotonic.unsigned(traits.kind === "gauge" ? 0 : 1);
    columns.service.text("app");
    columns.attributes.keys.text("number");
    columns.attributes.values.text(String(id));
    columns.attributes.end();
    columns.seen.unsigned(Math.floor(endMs / 1000));
    columns.days.unsigned(30);
    described.endRow();
  }
  await append("series", described);
  // Three parts that overlap in time; every tenth point is in two of them.
  for (let part = 0; part < 3; part++) {
    const writer = new BlockWriter(points);
    const write = (metric: string, id: bigint, { isStale, startMs, timeMs, value }: Point): void => {
      const { columns } = writer;
      columns.organization.text(organizationId);
      columns.metric.text(metric);
      columns.series_id.bigint(id);
      columns.start_time.bigint(BigInt(startMs * 4) * 250_000n);
      columns.time.bigint(BigInt(timeMs) * 1_000_000n);
      columns.flags.unsigned(isStale ? 1 : 0);
      columns.value.float(value);
      columns.days.unsigned(30);
      writer.endRow();
    };
    for (const { id, points: all, traits } of made) {
      for (const [index, point] of all.entries())
        if (index % 3 === part || index % 10 === part) write(`my.${traits.kind}`, id, point);
    }
    // So many zeros that the store keeps the columns sparsely.
    const zero = { startMs: 0, value: 0, isStale: false };
    for (let index = 0; index < 200_000; index++) write("other", BigInt(index), { ...zero, timeMs: endMs + part });
    await append("points", writer);
  }
});

function append(table: "series" | "points", writer: { finish(): Buffer; rowCount: number }): Promise<void> {
  return opened.store.append({ organizationId, table, block: writer.finish(), rowCount: writer.rowCount });
}

function select(
  matchers: readonly LabelMatcher[],
  range: { fromMs: number; toMs: number },
): Promise<readonly StoredSeries[]> {
  const reader = opened.store.open(scopeOf(organizationId));
  const storage = createTenantMetrics({ reader, project: undefined, namedLabels: new Set() });
  return storage.select({
    matchers,
    ...range,
    hints: { stepMs: 0, rangeMs: 0, function: null, grouping: null, maxSeries: 100_000, maxSamples: 1e9 },
    signal: new AbortController().signal,
    yieldBudget: { spend: () => false, yield: async () => undefined },
    charge: () => undefined,
  });
}

const matcher = (name: string, operator: LabelMatcher["operator"], value: string): LabelMatcher =>
  ({ name, operator, value, at: { start: 0, end: 0 } }) as LabelMatcher;

function plain({ labels, startTimestampsMs, timestampsMs, values }: StoredSeries) {
  return {
    number: getLabel(labels, "number"),
    points: Array.from(timestampsMs, (timeMs, index) => ({
      timeMs,
      startMs: startTimestampsMs?.[index] ?? 0,
      ...(isStaleMarker(values, index) ? { isStale: true } : { isStale: false, value: values[index]! }),
    })),
  };
}

function expected(wanted: (traits: Traits, id: bigint) => boolean, { fromMs, toMs }: { fromMs: number; toMs: number }) {
  return made
    .filter(({ id, traits }) => wanted(traits, id))
    .map(({ id, points: all, traits }) => ({
      number: String(id),
      points: all
        .filter(({ timeMs }) => timeMs >= fromMs && timeMs <= toMs)
        .map(({ isStale, startMs, timeMs, value }) => ({
          timeMs,
          // A gauge has no start.
          startMs: traits.kind === "gauge" ? 0 : startMs,
          ...(isStale ? { isStale } : { isStale, value }),
        })),
    }));
}

const sorted = (all: readonly { number: string }[]) =>
  all.toSorted((left, right) => Number(left.number) - Number(right.number));

describe("selected samples are those that were stored", () => {
  const whole = { fromMs: endMs - (count + 1) * stepMs, toMs: endMs };
  const part = { fromMs: endMs - 200 * stepMs, toMs: endMs - 50 * stepMs };
  for (const [title, range] of Object.entries({ "of the whole time": whole, "of a part of the time": part })) {
    for (const kind of ["counter", "gauge", "delta"] as const) {
      const name = kind === "gauge" ? "my_gauge" : "my_" + kind + "_total";
      test(`${kind}s, ${title}`, async () => {
        const found = (await select([matcher("__name__", "=", name)], range)).map(plain);
        assert.deepEqual(
          sorted(found),
          expected((traits) => traits.kind === kind, range),
        );
      });
      test(`a few ${kind}s, ${title}`, async () => {
        const found = (await select([matcher("__name__", "=", name), matcher("number", "=~", ".*[05]")], range)).map(
          plain,
        );
        assert.deepEqual(
          sorted(found),
          expected((traits, id) => traits.kind === kind && id % 5n === 0n, range),
        );
      });
    }
  }
});

/**
 * The same samples in a real Prometheus and in the store, the same queries through both HTTP APIs: the answers agree to
 * a relative difference of one in a billion. Skipped where Debian's package `prometheus` is not installed.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openMetricsLines, startPrometheus, type PrometheusServer } from "../support/prometheus-server.ts";
import { comparedInstantQueries, comparedQueries, emptyQueries, renamedQueries } from "./compared-queries.ts";
import { comparedSamples } from "./compared-samples.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries } from "./telemetry-rows.ts";
import { beforeTests, useAll } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const minuteMs = 60_000;
/** A whole hour, at least one before now. */
const endMs = (Math.floor(Date.now() / 3_600_000) - 1) * 3_600_000;
/** Never a multiple of a subquery's step, whose first step Prometheus 2 and 3 choose differently. */
const instantsMs = [endMs - 83 * minuteMs + 5000, endMs + 2 * minuteMs + 5000];
const ranges = [
  { startMs: endMs - 110 * minuteMs + 5000, endMs: endMs + 10 * minuteMs, stepMs: 5 * minuteMs },
  { startMs: endMs - 40 * minuteMs + 5000, endMs: endMs - 10 * minuteMs, stepMs: 20_000 },
];

type Point = readonly [seconds: number, value: string];
interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: unknown };
}

let sounding: MetricsServer;
let prometheus: PrometheusServer;

describe("compared with a real Prometheus", { skip: needs("prometheus") }, () => {
  beforeTests(async (stack) => {
    const samples = comparedSamples(endMs);
    [sounding, prometheus] = await useAll(stack, [
      startMetricsServer(),
      startPrometheus(openMetricsLines(samples.prometheus)),
    ]);
    await appendSeries(sounding.store, "org_a", samples.otlp);
  });

  for (const [kind, queries] of Object.entries(comparedQueries)) {
    describe(kind, () => {
      for (const query of queries) test(query, () => findsTheSame({ ours: query, theirs: query }));
    });
  }

  describe("queries without results", () => {
    for (const query of emptyQueries) {
      test(query, async () => assert.equal(await compareEverywhere({ ours: query, theirs: query }), 0));
    }
  });

  describe("instant queries", () => {
    for (const query of comparedInstantQueries) {
      test(query, async () => {
        for (const timeMs of instantsMs) await compare({ ours: query, theirs: query }, instantPath(timeMs));
      });
    }
  });

  describe("names that Prometheus 3 changed", () => {
    for (const query of renamedQueries) test(query.ours, () => findsTheSame(query));
  });
});

interface Query {
  readonly ours: string;
  readonly theirs: string;
}

async function findsTheSame(query: Query): Promise<void> {
  assert.ok((await compareEverywhere(query)) > 0, "the query finds nothing anywhere, so it proves nothing");
}

/** @returns the number of series, or scalars, in the answers */
async function compareEverywhere(query: Query): Promise<number> {
  const paths = [
    ...instantsMs.map(instantPath),
    ...ranges.map(
      ({ endMs: toMs, startMs, stepMs }) =>
        `query_range?start=${startMs / 1000}&end=${toMs / 1000}&step=${stepMs / 1000}`,
    ),
  ];
  const counts = await Promise.all(paths.map((path) => compare(query, path)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function instantPath(timeMs: number): string {
  return `query?time=${timeMs / 1000}`;
}

async function compare(query: Query, path: string): Promise<number> {
  const pathOf = (text: string): string =>
    `/api/v1/${path}&query=${encodeURIComponent(text.replace("END", String(endMs / 1000)))}`;
  const [ours, theirs] = await Promise.all([
    sounding.get(`/prometheus${pathOf(query.ours)}`).then(({ body }) => body as Answer),
    fetch(`${prometheus.url}${pathOf(query.theirs)}`).then((response) => response.json() as Promise<Answer>),
  ]);
  assert.equal(theirs.status, "success", `${path}: Prometheus: ${theirs.error}`);
  assert.equal(ours.status, "success", `${path}: Sounding: ${ours.error}`);
  assert.equal(ours.data!.resultType, theirs.data!.resultType, path);
  const isOrdered = /^(sort|topk|bottomk)/.test(query.ours) && path.startsWith("query?");
  const left = seriesOf(ours.data!, isOrdered);
  const right = seriesOf(theirs.data!, isOrdered);
  assert.deepEqual([...left.keys()], [...right.keys()], `${path}: other series`);
  for (const [labels, points] of left) comparePoints(points, right.get(labels)!, `${path}: ${labels}`);
  return left.size;
}

/** Points by labels; sorted by labels unless the order is part of the answer. */
function seriesOf(
  { result, resultType }: NonNullable<Answer["data"]>,
  isOrdered: boolean,
): Map<string, readonly Point[]> {
  if (resultType === "scalar" || resultType === "string") return new Map([["", [result as Point]]]);
  const series = (result as { metric: Record<string, string>; value?: Point; values?: Point[] }[]).map(
    ({ metric, value, values }): [string, readonly Point[]] => [
      JSON.stringify(Object.entries(metric).sort(([one], [other]) => (one < other ? -1 : 1))),
      values ?? [value!],
    ],
  );
  if (!isOrdered) series.sort(([one], [other]) => (one < other ? -1 : 1));
  assert.equal(new Set(series.map(([labels]) => labels)).size, series.length, "a series is there twice");
  return new Map(series);
}

function comparePoints(ours: readonly Point[], theirs: readonly Point[], where: string): void {
  assert.deepEqual(
    ours.map(([seconds]) => seconds),
    theirs.map(([seconds]) => seconds),
    `${where}: other times`,
  );
  for (const [index, [seconds, text]] of ours.entries()) {
    const other = theirs[index]![1];
    assert.ok(isNear(text, other), `${where} at ${seconds}: ${text} here, ${other} in Prometheus`);
  }
}

function isNear(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [Number(one), Number(other)];
  return Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right));
}

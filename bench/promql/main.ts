/**
 * Measures the latency of metrics queries: `npm run bench:promql` (about 15 minutes), `npm run bench:promql -- --quick`
 * (under one). Runs dashboard queries on samples, compared with Prometheus on the same samples, and the presets on
 * spans. `--series`, `--hours`, `--spans` (several sizes, separated by commas), `--days` and `--runs` set the size;
 * `--directory` keeps the store for another run. Prints Markdown tables at the end.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createMetricPresets } from "../../packages/server/src/query/metrics/presets/metric-presets.ts";
import { openTestStore } from "../../packages/server/test/store/test-store.ts";
import { openMetricsLines, startPrometheus } from "../../packages/server/test/support/prometheus-server.ts";
import { untilRolledUp } from "../../packages/server/test/support/rolled-up.ts";
import { describeMachine } from "../processes.ts";
import { quantile } from "../quantile.ts";
import { prometheusChunks, writeMetrics, type MetricsSize } from "./metric-samples.ts";
import {
  dashboardQueries,
  dashboardStepSeconds,
  organizationId,
  presetForms,
  ratesOf,
  type DashboardQuery,
} from "./queries.ts";
import { writeSpans } from "./spans.ts";
import { needs } from "../../test/support/needs.ts";

const { values: given } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    series: { type: "string" },
    hours: { type: "string" },
    spans: { type: "string" },
    days: { type: "string", default: "7" },
    runs: { type: "string" },
    directory: { type: "string" },
  },
});
const seriesCount = Number(given.series ?? (given.quick ? 500 : 10_000));
const hours = Number(given.hours ?? 6);
const spanCounts = (given.spans ?? (given.quick ? "20000" : "5000000")).split(",").map(Number);
const runs = Number(given.runs ?? (given.quick ? 3 : 20));

const root = given.directory ?? mkdtempSync(join(tmpdir(), "sounding-bench-promql-"));
const log = (text: string): void => void process.stderr.write(`${text}\n`);
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

interface Measured {
  readonly latenciesMs: readonly number[];
  readonly delayMs: number;
}

/** A store that is filled sums hours that nothing was written to for this long. */
const rollupDelayMs = 5000;
const fillMs = 1_800_000;

/** A store in a folder, filled once and served by a separate process. */
async function served(
  name: string,
  fill: (store: Awaited<ReturnType<typeof openTestStore>>["store"], endMs: number) => Promise<void>,
): Promise<{ child: ChildProcess; url: string; endMs: number }> {
  const directory = join(root, name);
  const mark = join(directory, "filled");
  mkdirSync(directory, { recursive: true });
  if (!existsSync(mark)) {
    const startMs = performance.now();
    const endMs = Math.floor(Date.now() / 1000) * 1000;
    const opened = await openTestStore({ directory, settings: { rollup_delay_ms: rollupDelayMs } });
    await fill(opened.store, endMs);
    await untilRolledUp(opened.store, { source: "calls", organizations: [organizationId], withinMs: fillMs });
    await opened[Symbol.asyncDispose]();
    writeFileSync(mark, String(endMs));
    log(`${name} written in ${Math.round((performance.now() - startMs) / 1000)} s`);
  }
  const child = fork(join(import.meta.dirname, "server.ts"), [directory]);
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { child, url, endMs: Number(readFileSync(mark, "utf8")) };
}

async function end(child: ChildProcess): Promise<void> {
  child.send("end");
  await once(child, "exit");
}

async function ask(url: string, json?: string): Promise<void> {
  const headers = { authorization: "Bearer sk-bench", "content-type": "application/json" };
  const response = await fetch(url, json === undefined ? { headers } : { method: "POST", headers, body: json });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`);
}

/** The same request several times in sequence; the first two are not counted. */
async function measure(request: () => Promise<void>, child?: ChildProcess): Promise<Measured> {
  const latenciesMs: number[] = [];
  for (let run = -2; run < runs; run++) {
    if (run === 0) child?.send("reset");
    const startMs = performance.now();
    await request();
    if (run >= 0) latenciesMs.push(performance.now() - startMs);
  }
  if (child === undefined) return { latenciesMs, delayMs: 0 };
  child.send("delay");
  const [{ delayMs }] = (await once(child, "message")) as [{ delayMs: number }];
  return { latenciesMs, delayMs };
}

const tables: string[][] = [];

async function measureDashboards(): Promise<void> {
  const name = `metrics-${seriesCount}-${hours}`;
  let size: MetricsSize | undefined;
  const { child, endMs, url } = await served(name, async (store, now) => {
    size = { seriesCount, hours, endMs: now };
    const samples = await writeMetrics(store, size);
    log(`${samples} samples`);
  });
  const prometheus = needs("prometheus")
    ? undefined
    : await startPrometheus(openMetricsLines(prometheusChunks({ seriesCount, hours, endMs })));
  log("Prometheus is loaded");
  const rows = [
    "| dashboard query | range | Sounding p50 ms | p95 ms | Prometheus p50 ms | p95 ms | × | longest hold of the thread, ms |",
    "| --- | --: | --: | --: | --: | --: | --: | --: |",
  ];
  for (const each of dashboardQueries) {
    const path = pathOf(each, endMs);
    const ours = await measure(() => ask(`${url}/prometheus${path}`), child);
    const theirs = prometheus && (await measure(() => ask(`${prometheus.url}${path}`)));
    const cells = [
      `\`${each.query}\``,
      each.hours === undefined ? "instant" : `${each.hours} h`,
      ms(quantile(ours.latenciesMs, 0.5)),
      ms(quantile(ours.latenciesMs, 0.95)),
      theirs ? ms(quantile(theirs.latenciesMs, 0.5)) : "–",
      theirs ? ms(quantile(theirs.latenciesMs, 0.95)) : "–",
      theirs ? (quantile(ours.latenciesMs, 0.5) / quantile(theirs.latenciesMs, 0.5)).toFixed(1) : "–",
      ms(ours.delayMs),
    ];
    rows.push(`| ${cells.join(" | ")} |`);
    log(rows.at(-1)!);
  }
  tables.push(rows);
  await prometheus?.[Symbol.asyncDispose]();
  await end(child);
}

function pathOf({ hours: back, query }: DashboardQuery, endMs: number): string {
  const seconds = endMs / 1000;
  const text = encodeURIComponent(query);
  if (back === undefined) return `/api/v1/query?query=${text}&time=${seconds}`;
  return `/api/v1/query_range?query=${text}&start=${seconds - back * 3600}&end=${seconds}&step=${dashboardStepSeconds}`;
}

async function measurePresets(): Promise<void> {
  const presets = createMetricPresets({ ratesOf, configured: {} }).all.map(({ name }) => name);
  const days = Number(given.days);
  for (const { aimMs, parameters, title } of presetForms) {
    const rows = [
      `| preset, ${title} (aim: p95 ${aimMs} ms) | ${spanCounts.map((count) => `${count / 1e6} million spans p50 ms | p95 ms`).join(" | ")} | longest hold of the thread, ms |`,
      `| --- | ${spanCounts.map(() => "--: | --:").join(" | ")} | --: |`,
    ];
    const cells = new Map(presets.map((name) => [name, [] as string[]]));
    const delays = new Map<string, number>();
    for (const spanCount of spanCounts) {
      const { child, url } = await served(`spans-${spanCount}-${days}`, (store, endMs) =>
        writeSpans(store, { spanCount, days, endMs }),
      );
      for (const metric of presets) {
        const body = JSON.stringify({ metric, ...parameters });
        const request = (): Promise<void> => ask(`${url}/observability/metrics`, body);
        const { delayMs, latenciesMs } = await measure(request, child);
        cells.get(metric)!.push(ms(quantile(latenciesMs, 0.5)), ms(quantile(latenciesMs, 0.95)));
        delays.set(metric, Math.max(delays.get(metric) ?? 0, delayMs));
        log(`${spanCount} ${title} ${metric}: ${cells.get(metric)!.slice(-2).join(" ")} ${ms(delayMs)}`);
      }
      await end(child);
    }
    for (const name of presets) rows.push(`| ${[name, ...cells.get(name)!, ms(delays.get(name)!)].join(" | ")} |`);
    tables.push(rows);
  }
}

try {
  log(`${describeMachine({ bound: false })}; ${seriesCount} series, ${hours} h, each 15 s; ${runs} runs a query`);
  if (seriesCount > 0) await measureDashboards();
  if (spanCounts[0]! > 0) await measurePresets();
  process.stdout.write(
    `${describeMachine({ bound: false })}\n\n${tables.map((rows) => rows.join("\n")).join("\n\n")}\n`,
  );
} finally {
  if (given.directory === undefined) rmSync(root, { recursive: true, force: true });
}

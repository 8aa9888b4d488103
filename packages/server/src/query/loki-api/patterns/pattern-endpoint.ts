/**
 * Serves the patterns of log lines. They come from the newest entries of each slice of the time range; where a slice has more,
 * its counts are estimated from the number of its entries.
 * https://grafana.com/docs/loki/latest/reference/loki-http-api/#patterns-detection
 */
import { queryLogqlRange } from "@sounding/logql/engine";
import type { LogStream } from "@sounding/logql/query-result";
import type { LogQuery } from "@sounding/logql/syntax/ast";
import { getLabel } from "@sounding/promql/series/labels";
import { invalidParameter } from "../../request-parameters.ts";
import type { EntrySample } from "../../logs/logql-storage/entry-sample.ts";
import { readLogQuery, type LokiCall } from "../loki-call.ts";
import type { LokiRange } from "../loki-parameters.ts";
import { PatternMiner } from "./pattern-miner.ts";

interface Pattern {
  readonly pattern: string;
  readonly level: string;
  /** Start of the step in seconds, and its entries. */
  readonly samples: readonly (readonly [seconds: number, count: number])[];
}

const mostSlices = 24;
const entriesOfSample = 10_000;
const mostSteps = 11_000;
const mostPatterns = 300;

export async function servePatterns(call: LokiCall): Promise<unknown> {
  const query = await readLogQuery(call);
  const range = call.parameters.range(call.nowUnixNano);
  // Samples have times in seconds.
  const stepSeconds = Math.max(1, Math.round(call.parameters.stepMs(range) / 1000));
  const first = Number(range.fromUnixNano / secondNanos);
  const steps = Math.ceil((Number(range.toUnixNano / secondNanos) - first + 1) / stepSeconds);
  if (steps > mostSteps) {
    throw invalidParameter("step", `divides the time range into ${steps} steps; the limit is ${mostSteps}`);
  }
  const slices = Math.min(steps, mostSlices);
  const sample = call.logs.sample({ ...range, slices, entriesPerSlice: Math.floor(entriesOfSample / slices) });
  const miners = await mine(await readSample(query, sample, { call, range }), { sample, stepSeconds, call });
  const patterns = [...miners].flatMap(([level, miner]) =>
    miner
      .patterns()
      .map(({ counts, pattern }) => ({ pattern, level, samples: samplesOf(counts, { sample, stepSeconds }) })),
  );
  return { status: "success", data: patterns.sort(byCount).slice(0, mostPatterns) };
}

const secondNanos = 1_000_000_000n;

/** One query for the whole range, with one time limit. Without stages it needs nothing of the entries but their lines. */
async function readSample(
  query: LogQuery,
  sample: EntrySample,
  { call, range }: { readonly call: LokiCall; readonly range: LokiRange },
): Promise<readonly LogStream[]> {
  const { memory, signal, yielder } = call;
  const needs = { line: true, structuredMetadata: query.stages.length === 0 ? [] : ("all" as const) };
  const { value } = await queryLogqlRange(
    { entries: (request) => sample.entries({ ...request, needs }) },
    {
      query,
      startUnixNano: range.fromUnixNano,
      endUnixNano: range.toUnixNano,
      stepMs: 1000,
      limit: entriesOfSample,
      limits: { maxEntriesReturned: entriesOfSample },
      categorizesLabels: true,
      signal,
      memory,
      yielder,
    },
  );
  return value.type === "streams" ? value.streams : [];
}

interface Mining {
  readonly sample: EntrySample;
  readonly stepSeconds: number;
  readonly call: LokiCall;
}

/** By level. Entries are counted by slice and step. */
async function mine(
  streams: readonly LogStream[],
  { call, sample, stepSeconds }: Mining,
): Promise<ReadonlyMap<string, PatternMiner>> {
  const miners = new Map<string, PatternMiner>();
  for (const { entries, labels } of streams) {
    const level = getLabel(labels, "detected_level");
    const miner = miners.get(level) ?? new PatternMiner();
    miners.set(level, miner);
    for (const { line, unixNano } of entries) {
      const step = Math.floor(Number(unixNano / secondNanos) / stepSeconds) * stepSeconds;
      const work = miner.add(line, step * mostSlices + sample.sliceOf(unixNano));
      if (call.budget.spend(work * workOfToken + line.length)) await call.budget.yield();
    }
  }
  return miners;
}

/** The cost of a token, in samples. */
const workOfToken = 16;

type Sampling = Pick<Mining, "sample" | "stepSeconds">;

/** The newest entries of a slice say nothing about its other steps: their estimated number is spread over all of them. */
function samplesOf(counts: ReadonlyMap<number, number>, { sample, stepSeconds }: Sampling): Pattern["samples"] {
  const bySecond = new Map<number, number>();
  const add = (second: number, count: number): void => {
    bySecond.set(second, (bySecond.get(second) ?? 0) + count);
  };
  for (const [key, count] of counts) {
    const slice = key % mostSlices;
    const weight = sample.weightOf(slice);
    const steps = weight === 1 ? [Math.floor(key / mostSlices)] : stepsOf(sample.boundsOf(slice), stepSeconds);
    for (const step of steps) add(step, (count * weight) / steps.length);
  }
  return [...bySecond]
    .map(([second, count]) => [second, Math.round(count)] as const)
    .filter(([, count]) => count > 0)
    .sort(([left], [right]) => left - right);
}

/** The starts of the steps that begin in a slice, or else of the one that it is in. */
function stepsOf({ fromUnixNano, toUnixNano }: LokiRange, stepSeconds: number): readonly number[] {
  const first = Math.ceil(Number(fromUnixNano / secondNanos) / stepSeconds) * stepSeconds;
  const end = Number(toUnixNano / secondNanos);
  const count = Math.ceil((end - first) / stepSeconds);
  if (count < 1) return [first - stepSeconds];
  return Array.from({ length: count }, (_, index) => first + index * stepSeconds);
}

/** The most frequent first. */
function byCount(left: Pattern, right: Pattern): number {
  const total = ({ samples }: Pattern): number => samples.reduce((sum, [, count]) => sum + count, 0);
  return total(right) - total(left) || (left.pattern < right.pattern ? -1 : 1);
}

/** Runs a script's cases against the engine, with traces in memory. */
import { searchTraces, type TraceSearchResult } from "../../src/engine.ts";
import { queryTraceqlInstant, queryTraceqlRange } from "../../src/metrics/query-metrics.ts";
import type { NamedValue } from "../../src/spans/spanset.ts";
import type { TraceqlStorage } from "../../src/storage.ts";
import { parseQuery } from "../../src/syntax/parse-query.ts";
import { printStatic } from "../../src/syntax/print-field.ts";
import { baseUnixNano } from "./load-traces.ts";
import { MemoryTraces } from "../../src/memory-storage.ts";
import { parseScript, type Case, type ExpectedSeries } from "./script.ts";

export interface CaseResult {
  readonly line: number;
  readonly query: string;
  /** What differs; null if nothing does. */
  readonly failure: string | null;
}

/** Each case runs on a store that skips nothing, and on one that skips all that it may. */
export async function runScript(text: string): Promise<readonly CaseResult[]> {
  const { cases, traces } = parseScript(text);
  const results: CaseResult[] = [];
  for (const each of cases) {
    const failures: string[] = [];
    for (const skips of [false, true]) {
      const failure = await failureOf(each, new MemoryTraces(traces, { skips }));
      if (failure !== null) failures.push(skips ? `with a store that skips spans: ${failure}` : failure);
    }
    results.push({ line: each.line, query: each.query, failure: failures[0] ?? null });
  }
  return results;
}

async function failureOf(each: Case, storage: TraceqlStorage): Promise<string | null> {
  let found: readonly string[];
  try {
    found = await answer(each, storage);
  } catch (error) {
    const { message } = error as Error;
    if (each.kind !== "fail") return `it failed: ${message}`;
    return message.includes(each.message) ? null : `expected an error with "${each.message}", got "${message}"`;
  }
  if (each.kind === "fail") return `expected an error with "${each.message}", got an answer`;
  const expected = expectedLines(each);
  const missing = expected.filter((line) => !found.includes(line));
  const surplus = found.filter((line) => !expected.includes(line));
  if (missing.length === 0 && surplus.length === 0) return null;
  return [...missing.map((line) => `expected ${line}`), ...surplus.map((line) => `got ${line}`)].join("\n    ");
}

function expectedLines(each: Exclude<Case, { readonly kind: "fail" }>): readonly string[] {
  if (each.kind === "search") return [...each.traces].map(([trace, spans]) => `${trace}: ${spans}`);
  return each.series.map(seriesLine);
}

function seriesLine({ labels, values }: ExpectedSeries): string {
  return `${labels} ${values.map((value) => (Number.isNaN(value) ? "_" : Number(value.toPrecision(12)))).join(" ")}`;
}

async function answer(each: Case, storage: TraceqlStorage): Promise<readonly string[]> {
  const query = parseQuery(each.query);
  if (each.kind === "range") {
    const { endUnixNano, startUnixNano, stepNano } = each;
    const { series } = await queryTraceqlRange(storage, { query, startUnixNano, endUnixNano, stepNano });
    const first = Number((startUnixNano - (startUnixNano % stepNano)) / 1_000_000n);
    const count = Math.ceil(Number(endUnixNano - startUnixNano) / Number(stepNano)) + 1;
    return series.map(({ labels, timestampsMs, values }) => {
      const points = Array.from({ length: count }, (_, index) => {
        const position = timestampsMs.indexOf(first + index * Number(stepNano / 1_000_000n));
        return position === -1 ? Number.NaN : values[position]!;
      });
      return seriesLine({ labels: printLabels(labels), values: points });
    });
  }
  if (each.kind === "instant") {
    const { endUnixNano, startUnixNano } = each;
    const { series } = await queryTraceqlInstant(storage, { query, startUnixNano, endUnixNano });
    return series.map(({ labels, value }) => seriesLine({ labels: printLabels(labels), values: [value] }));
  }
  if (query.kind !== "search-query") {
    throw new Error("a metrics query is no search");
  }
  const times = { startUnixNano: baseUnixNano, endUnixNano: baseUnixNano + 3_600_000_000_000n };
  return foundLines(await searchTraces(storage, { query, ...times, limit: 1000, spansPerSpanSet: 1000 }));
}

function foundLines({ traces }: TraceSearchResult): readonly string[] {
  return traces.map(({ spanSets, traceId }) => {
    const sets = spanSets.map(({ spans }) =>
      spans
        .map(({ spanId }) => spanId)
        .sort()
        .join(" "),
    );
    return `${traceId}: ${sets.sort().join(" | ")}`;
  });
}

function printLabels(labels: readonly NamedValue[]): string {
  return `{${labels.map(({ name, value }) => `${name}=${printStatic(value)}`).join(", ")}}`;
}

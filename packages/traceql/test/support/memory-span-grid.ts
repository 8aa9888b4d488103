/** Traces in memory, with a store's aggregates over them: an independent way to the numbers of metrics. */
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { compileQuery } from "../../src/spans/compiled-query.ts";
import { fieldReader } from "../../src/spans/read-field.ts";
import { keyOf } from "../../src/spans/static-value.ts";
import type { SpanGridRequest, SpanGridSeries, TraceqlTrace } from "../../src/storage.ts";
import type { StaticValue } from "../../src/syntax/ast.ts";
import { nowhere } from "@sounding/promql/syntax/source-range";
import { MemoryTraces } from "../../src/memory-storage.ts";

interface Cell {
  readonly by: readonly StaticValue[];
  readonly bucket: number | null;
  /** The measured values of each interval. */
  readonly measured: number[][];
}

export class MemorySpanGrid extends MemoryTraces {
  readonly #all: readonly TraceqlTrace[];
  /** Requests that it answered. */
  readonly answered: SpanGridRequest[] = [];

  constructor(traces: readonly TraceqlTrace[]) {
    super(traces, { skips: true });
    this.#all = traces;
  }

  /** Of fields, it can only measure the duration. */
  async spanGrid(request: SpanGridRequest): Promise<readonly SpanGridSeries[] | null> {
    const { condition, field, measure } = request;
    if (field !== null && (field.kind !== "intrinsic" || field.intrinsic !== "duration")) return null;
    this.answered.push(request);
    const compiled = compileQuery([{ kind: "spanset-filter", condition, at: nowhere }], { budget: neverYield });
    const cells = new Map<string, Cell>();
    for (const trace of this.#all) {
      const { spansets, view } = await compiled.evaluate(trace);
      for (const index of spansets.flatMap(({ spans }) => spans)) {
        const by = request.by.map((each) => fieldReader(each)(view, index));
        const { durationNano, startUnixNano } = view.spans[index]!;
        const interval = Math.floor(
          Number(startUnixNano - request.intervals.firstUnixNano) / Number(request.intervals.stepNano),
        );
        if (interval < 0 || interval >= request.intervals.count) continue;
        const bucket = measure === "histogram" ? 2 ** Math.ceil(Math.log2(Number(durationNano))) : null;
        const key = JSON.stringify([by.map(keyOf), bucket]);
        const cell = cells.get(key) ?? { by, bucket, measured: [] };
        cells.set(key, cell);
        (cell.measured[interval] ??= []).push(Number(durationNano));
      }
    }
    return [...cells.values()].map((cell) => toSeries(cell, request));
  }
}

function toSeries({ bucket, by, measured }: Cell, { intervals, measure }: SpanGridRequest): SpanGridSeries {
  const present = new Uint8Array(intervals.count);
  const values = new Float64Array(intervals.count);
  for (const [interval, all] of measured.entries()) {
    if (all === undefined) continue;
    present[interval] = 1;
    values[interval] = aggregates[measure](all);
  }
  return { by, bucket, values, present };
}

const aggregates: Readonly<Record<SpanGridRequest["measure"], (values: readonly number[]) => number>> = {
  count: (values) => values.length,
  histogram: (values) => values.length,
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
};

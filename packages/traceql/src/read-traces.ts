/** Reads the traces of a query and evaluates its stages on them, within its limits. */
import { QueryError } from "@sounding/promql/query-error";
import type { Budget } from "@sounding/promql/evaluate/budget";
import type { TraceqlLimits } from "./limits.ts";
import type { CompiledQuery, Match } from "./spans/compiled-query.ts";
import type { TraceSample, TracesRequest, TraceqlStorage, TraceqlTrace } from "./storage.ts";

/** What a query has read so far. */
export interface ReadStatistics {
  readonly inspectedTraces: number;
  readonly inspectedSpans: number;
  readonly inspectedBytes: number;
}

export interface TimeRange {
  /** Nanoseconds since 1970, from included, to excluded. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
}

interface ReadOptions extends TimeRange {
  readonly budget: Budget;
  readonly limits: Pick<TraceqlLimits, "maxSpans">;
  /** Heads of traces, also if the stages do not read them. */
  readonly heads: boolean;
  readonly expectedTraces: number | undefined;
  readonly sample?: TraceSample;
  readonly allAttributes?: boolean;
}

export class TraceReader {
  readonly #storage: TraceqlStorage;
  readonly #options: ReadOptions;
  #traces = 0;
  #spans = 0;
  #bytes = 0;

  constructor(storage: TraceqlStorage, options: ReadOptions) {
    this.#storage = storage;
    this.#options = options;
  }

  get statistics(): ReadStatistics {
    return { inspectedTraces: this.#traces, inspectedSpans: this.#spans, inspectedBytes: this.#bytes };
  }

  /** The traces in which the stages find spans, in the order of the store. */
  async *matches(query: CompiledQuery): AsyncGenerator<Match> {
    if (query.isImpossible) return;
    const { allAttributes, budget, expectedTraces, fromUnixNano, heads, sample, toUnixNano } = this.#options;
    const { signal } = budget;
    let held = 0;
    const charge = (bytes: number): void => {
      budget.holdBytes(bytes);
      held += bytes;
      this.#bytes += bytes;
    };
    const request: TracesRequest = {
      ...query.needs,
      heads: heads || query.needs.heads,
      allAttributes,
      fromUnixNano,
      toUnixNano,
      expectedTraces,
      sample,
      signal,
      yieldBudget: budget,
      charge,
    };
    for await (const batch of this.#storage.traces(request)) {
      for (const trace of batch) {
        this.#count(trace);
        const match = await query.evaluate(trace);
        if (match.spansets.length > 0) yield match;
      }
      budget.check();
      budget.releaseBytes(held);
      held = 0;
    }
  }

  #count({ spans }: TraceqlTrace): void {
    this.#traces++;
    this.#spans += spans.length;
    const { maxSpans } = this.#options.limits;
    if (this.#spans <= maxSpans) return;
    throw new QueryError(
      "invalid_request",
      `the query reads too many spans: the limit is ${maxSpans}. Add conditions or select a shorter time.`,
      { param: "q" },
    );
  }
}

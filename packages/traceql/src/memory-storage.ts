/** Traces in memory: a store that skips nothing, or everything that a request allows to skip. */
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { compileCondition, type Condition } from "./spans/compile-field.ts";
import { fieldKey } from "./spans/read-field.ts";
import { structureOf } from "./spans/trace-structure.ts";
import { TraceView } from "./spans/trace-view.ts";
import type { Attributes, TracesRequest, TraceqlSpan, TraceqlStorage, TraceqlTrace } from "./storage.ts";
import type { AttributeScope } from "./syntax/ast.ts";

export class MemoryTraces implements TraceqlStorage {
  readonly #traces: readonly TraceqlTrace[];
  readonly #skips: boolean;
  readonly requests: TracesRequest[] = [];
  /** Batches that were asked for. */
  batches = 0;
  isEnded = false;

  constructor(traces: readonly TraceqlTrace[], { skips = false }: { readonly skips?: boolean } = {}) {
    this.#traces = traces;
    this.#skips = skips;
  }

  async *traces(request: TracesRequest): AsyncGenerator<readonly TraceqlTrace[]> {
    this.requests.push(request);
    try {
      for (const trace of this.#traces) {
        const candidate = this.#skips ? await reduced(trace, request) : trace;
        if (candidate === null) continue;
        this.batches++;
        request.charge(1000 * candidate.spans.length);
        yield [candidate];
      }
    } finally {
      this.isEnded = true;
    }
  }
}

/** What a request needs of a trace; null if it needs nothing of it. */
async function reduced(trace: TraceqlTrace, request: TracesRequest): Promise<TraceqlTrace | null> {
  const { fromUnixNano, toUnixNano } = request;
  if (!trace.spans.some(({ startUnixNano: start }) => start >= fromUnixNano && start < toUnixNano)) return null;
  const view = new TraceView(trace, await structureOf(trace.spans, neverYield));
  const conditions = request.conditions.map((condition): Condition =>
    condition === null ? () => true : compileCondition(condition, { budget: neverYield, jointEvents: false }),
  );
  const indices = Array.from(trace.spans.keys());
  const isFulfilled = (condition: Condition): boolean => indices.some((index) => condition(view, index));
  const isWanted = request.combination === "all" ? conditions.every(isFulfilled) : conditions.some(isFulfilled);
  if (!isWanted) return null;
  const kept = indices.filter((index) => request.wholeTraces || conditions.some((holds) => holds(view, index)));
  const head = request.heads ? trace.head : null;
  return { traceId: trace.traceId, spans: kept.map((index) => reducedSpan(trace.spans[index]!, request)), head };
}

function reducedSpan(span: TraceqlSpan, { allAttributes = false, fields }: TracesRequest): TraceqlSpan {
  const keys = new Set(fields.map((field) => fieldKey({ ...field, ofParent: false } as typeof field)));
  const keep = (attributes: Attributes, scope: AttributeScope, isSpan = false): Attributes =>
    allAttributes
      ? attributes
      : new Map([...attributes].filter(([name]) => keys.has(`${scope}.${name}`) || (isSpan && keys.has(`.${name}`))));
  return {
    ...span,
    name: keys.has("name") ? span.name : "",
    statusMessage: keys.has("statusMessage") ? span.statusMessage : "",
    attributes: keep(span.attributes, "span", true),
    resource: keep(span.resource, "resource", true),
    scope: { ...span.scope, attributes: keep(span.scope.attributes, "instrumentation") },
    events: span.events.map((event) => ({ ...event, attributes: keep(event.attributes, "event") })),
    links: span.links.map((link) => ({ ...link, attributes: keep(link.attributes, "link") })),
  };
}

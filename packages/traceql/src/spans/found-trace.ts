/** Search results: what is shown of a trace that a query found. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { ServiceCounts } from "../storage.ts";
import type { Match } from "./compiled-query.ts";
import type { AttributeSelector } from "./span-attributes.ts";
import { forEachSpan } from "./span-loop.ts";
import type { NamedValue, Spanset } from "./spanset.ts";
import type { TraceView } from "./trace-view.ts";

export interface FoundTrace {
  readonly traceId: string;
  /** Both empty while the root has not arrived. */
  readonly rootServiceName: string;
  readonly rootTraceName: string;
  readonly startUnixNano: bigint;
  /** Whole milliseconds. */
  readonly durationMs: number;
  readonly spanSets: readonly FoundSpanset[];
  readonly serviceStats: ReadonlyMap<string, ServiceCounts>;
}

export interface FoundSpanset {
  /** The number of spans that match, of which `spans` has the first ones. */
  readonly matched: number;
  readonly spans: readonly FoundSpan[];
  /** What `by()` and aggregates found: `by(name)`, `count()`. */
  readonly attributes: readonly NamedValue[];
}

export interface FoundSpan {
  readonly spanId: string;
  /** Empty unless the query reads it. */
  readonly name: string;
  readonly startUnixNano: bigint;
  readonly durationNano: bigint;
  readonly attributes: readonly NamedValue[];
}

export interface Presentation {
  readonly selector: AttributeSelector;
  readonly spansPerSpanSet: number;
  readonly budget: YieldBudget;
  /** Charges the bytes of a result. */
  readonly charge: (bytes: number) => void;
}

export async function foundTrace({ spansets, view }: Match, presentation: Presentation): Promise<FoundTrace> {
  const spanSets: FoundSpanset[] = [];
  for (const spanset of spansets) spanSets.push(await foundSpanset(spanset, view, presentation));
  const { head, traceId } = view;
  if (head === null) throw new Error("the store returned a trace without the head that the search asked for");
  presentation.charge(
    bytesOfTrace + 2 * (head.rootServiceName.length + head.rootName.length) + head.services.size * bytesOfEntry,
  );
  return {
    traceId,
    rootServiceName: head.rootServiceName,
    rootTraceName: head.rootName,
    startUnixNano: head.startUnixNano,
    durationMs: Number(head.durationNano / 1_000_000n),
    spanSets,
    serviceStats: head.services,
  };
}

async function foundSpanset(
  { attributes, spans }: Spanset,
  view: TraceView,
  { budget, charge, selector, spansPerSpanSet }: Presentation,
): Promise<FoundSpanset> {
  const shown: FoundSpan[] = [];
  const visit = (index: number): void => {
    const { durationNano, name, spanId, startUnixNano } = view.spans[index]!;
    const span: FoundSpan = {
      spanId,
      name: selector.showsName(view, index) ? name : "",
      startUnixNano,
      durationNano,
      attributes: selector.attributesOf(view, index),
    };
    charge(sizeOfSpan(span));
    shown.push(span);
  };
  await forEachSpan(view, spans.slice(0, spansPerSpanSet), { budget, operators: selector.operators, visit });
  charge(attributes.reduce(withAttribute, bytesOfEntry));
  return { matched: spans.length, spans: shown, attributes };
}

const bytesOfTrace = 512;
const bytesOfEntry = 128;

/** About what a span takes in memory. */
function sizeOfSpan({ attributes, name }: FoundSpan): number {
  return attributes.reduce(withAttribute, bytesOfTrace + 2 * name.length);
}

function withAttribute(sum: number, { name, value }: NamedValue): number {
  const length = value.type === "string" ? value.value.length : value.type === "array" ? 64 * value.values.length : 8;
  return sum + bytesOfEntry + 2 * (name.length + length);
}

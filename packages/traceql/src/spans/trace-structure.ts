/**
 * The tree of a trace's spans as nested sets, numbered as Tempo does: depth first from each root, from 1. Spans that no root
 * reaches (their parent is missing, or they form a cycle) have the numbers 0 and no relations; a trace with no root or
 * with three spans of one ID has no tree at all.
 */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { TraceqlSpan } from "../storage.ts";

export interface TraceStructure {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** The index of the parent; -1 without one. */
  readonly parent: Int32Array;
  readonly childCount: Int32Array;
  /** The spans that roots reach, each after its parent. */
  readonly preorder: Int32Array;
}

export async function structureOf(spans: readonly TraceqlSpan[], budget: YieldBudget): Promise<TraceStructure> {
  const count = spans.length;
  const parent = await findParents(spans, budget);
  const hasRoot = parent !== null && spans.some(isRoot);
  if (!hasRoot) return withoutTree(count);
  return number(spans, parent, budget);
}

export function isRoot(span: TraceqlSpan): boolean {
  return span.parentSpanId === "";
}

function withoutTree(count: number): TraceStructure {
  const zeros = new Int32Array(count);
  return {
    left: zeros,
    right: zeros,
    parent: new Int32Array(count).fill(-1),
    childCount: zeros,
    preorder: new Int32Array(0),
  };
}

/** Null if three spans have one ID. */
async function findParents(spans: readonly TraceqlSpan[], budget: YieldBudget): Promise<Int32Array | null> {
  const first = new Map<string, number>();
  const second = new Map<string, number>();
  for (const [index, { spanId }] of spans.entries()) {
    if (!first.has(spanId)) first.set(spanId, index);
    else if (second.has(spanId)) return null;
    else second.set(spanId, index);
    if (budget.spend(workOfSpan)) await budget.yield();
  }
  const parent = new Int32Array(spans.length).fill(-1);
  for (const [index, span] of spans.entries()) {
    if (!isRoot(span)) parent[index] = parentOf(span, { spans, first, second });
    if (budget.spend(workOfSpan)) await budget.yield();
  }
  return parent;
}

/** A look-up in a map, in units of the budget. */
const workOfSpan = 8;

interface SpansById {
  readonly spans: readonly TraceqlSpan[];
  readonly first: ReadonlyMap<string, number>;
  readonly second: ReadonlyMap<string, number>;
}

/** Of two spans with one ID, as Zipkin's clients and servers share it, the kind decides. */
function parentOf(span: TraceqlSpan, { first, second, spans }: SpansById): number {
  const one = first.get(span.parentSpanId);
  const other = second.get(span.parentSpanId);
  if (one === undefined) return -1;
  if (other === undefined) return one;
  const wanted = span.kind === "server" ? "client" : "server";
  if (spans[one]!.kind === wanted) return one;
  return spans[other]!.kind === wanted ? other : -1;
}

async function number(spans: readonly TraceqlSpan[], parent: Int32Array, budget: YieldBudget): Promise<TraceStructure> {
  const count = spans.length;
  const { childCount, firstChild, nextSibling } = await childrenOf(parent, budget);
  const [left, right] = [new Int32Array(count), new Int32Array(count)];
  const preorder = new Int32Array(count);
  let reached = 0;
  let bound = 1;
  for (let root = 0; root < count; root++) {
    if (budget.spend(1)) await budget.yield();
    if (!isRoot(spans[root]!)) continue;
    let node = root;
    while (node !== -1) {
      if (budget.spend(1)) await budget.yield();
      if (left[node] === 0) {
        left[node] = bound++;
        preorder[reached++] = node;
      }
      const child = firstChild[node]!;
      if (child !== -1) {
        firstChild[node] = nextSibling[child]!;
        node = child;
      } else {
        right[node] = bound++;
        node = parent[node]!;
      }
    }
  }
  return { left, right, parent, childCount, preorder: preorder.subarray(0, reached) };
}

interface Children {
  readonly childCount: Int32Array;
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
}

/** In the order of the spans. */
async function childrenOf(parent: Int32Array, budget: YieldBudget): Promise<Children> {
  const count = parent.length;
  const childCount = new Int32Array(count);
  const [firstChild, nextSibling] = [new Int32Array(count).fill(-1), new Int32Array(count).fill(-1)];
  for (let index = count - 1; index >= 0; index--) {
    if (budget.spend(1)) await budget.yield();
    const above = parent[index]!;
    if (above === -1) continue;
    childCount[above]!++;
    nextSibling[index] = firstChild[above]!;
    firstChild[above] = index;
  }
  return { childCount, firstChild, nextSibling };
}

/** As the intrinsic nestedSetParent has it: the left number of the parent, -1 for a root, 0 outside of the tree. */
export function nestedSetParent({ left, parent }: TraceStructure, index: number): number {
  if (left[index] === 0) return 0;
  const above = parent[index]!;
  return above === -1 ? -1 : left[above]!;
}

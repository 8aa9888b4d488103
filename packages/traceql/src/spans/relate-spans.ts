/** The structural operators, in time linear in the size of the trace, with breaks. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { SpansetOperator } from "../syntax/ast.ts";
import type { TraceStructure } from "./trace-structure.ts";

export type StructuralOperator = Exclude<SpansetOperator, "&&" | "||">;
type Relation = ">" | ">>" | "<" | "<<" | "~";

/** Indices of spans. */
export type Spans = readonly number[];

/** The sets of spans on the sides of an operator. */
export interface Sides {
  readonly left: Spans;
  readonly right: Spans;
}

/**
 * The spans of the right side that have the relation to a span of the left side: `left >> right` gives the descendants. With
 * `!`, the spans of the right side that have it to none; with `&`, also the spans of the left side.
 */
export async function relateSpans(
  operator: StructuralOperator,
  { left, right }: Sides,
  { budget, tree }: RelationContext,
): Promise<Spans> {
  const relation = relationOf(operator);
  const context = { tree, budget };
  const isRelated = await related(relation, left, context);
  if (operator.startsWith("!")) return selectSpans(right, (index) => !isRelated(index), budget);
  const found = await selectSpans(right, isRelated, budget);
  if (!operator.startsWith("&")) return found;
  const isRelatedToRight = await related(inverse[relation], right, context);
  return unite(found, await selectSpans(left, isRelatedToRight, budget), context);
}

interface RelationContext {
  readonly tree: TraceStructure;
  readonly budget: YieldBudget;
}

/** The spans for which a condition holds. */
export async function selectSpans(
  spans: Spans,
  holds: (index: number) => boolean,
  budget: YieldBudget,
): Promise<readonly number[]> {
  const selected: number[] = [];
  for (const index of spans) {
    if (budget.spend(1)) await budget.yield();
    if (holds(index)) selected.push(index);
  }
  return selected;
}

/** In the order of the trace. */
async function unite(some: Spans, others: Spans, { budget, tree }: RelationContext): Promise<Spans> {
  const count = tree.left.length;
  const marks = await markedSpans(some, count, budget);
  const otherMarks = await markedSpans(others, count, budget);
  const united: number[] = [];
  for (let index = 0; index < count; index++) {
    if (budget.spend(1)) await budget.yield();
    if (marks[index] === 1 || otherMarks[index] === 1) united.push(index);
  }
  return united;
}

function relationOf(operator: StructuralOperator): Relation {
  return operator.replace(/^[!&]/, "") as Relation;
}

const inverse: Readonly<Record<Relation, Relation>> = { ">": "<", ">>": "<<", "<": ">", "<<": ">>", "~": "~" };

/** 1 for each of the spans. */
export async function markedSpans(spans: Spans, count: number, budget: YieldBudget): Promise<Uint8Array> {
  const marks = new Uint8Array(count);
  for (const index of spans) {
    if (budget.spend(1)) await budget.yield();
    marks[index] = 1;
  }
  return marks;
}

type Test = (index: number) => boolean;

/** Tells whether a span is the child, parent, … of one of `spans`. */
async function related(relation: Relation, spans: Spans, { budget, tree }: RelationContext): Promise<Test> {
  const marks = await markedSpans(spans, tree.left.length, budget);
  switch (relation) {
    case ">":
      return isChildOf(marks, tree);
    case ">>":
      return isDescendantOf(marks, tree, budget);
    case "<":
      return isParentOf(spans, tree, budget);
    case "<<":
      return isAncestorOf(marks, tree, budget);
    case "~":
      return isSiblingOf(marks, tree, budget);
  }
}

function isChildOf(marks: Uint8Array, { left, parent }: TraceStructure): Test {
  return (index) => left[index] !== 0 && parent[index] !== -1 && marks[parent[index]!] === 1;
}

async function isDescendantOf(
  marks: Uint8Array,
  { parent, preorder }: TraceStructure,
  budget: YieldBudget,
): Promise<Test> {
  const isBelow = new Uint8Array(parent.length);
  for (const index of preorder) {
    if (budget.spend(1)) await budget.yield();
    const above = parent[index]!;
    if (above !== -1 && (marks[above] === 1 || isBelow[above] === 1)) isBelow[index] = 1;
  }
  return (index) => isBelow[index] === 1;
}

async function isParentOf(spans: Spans, { left, parent }: TraceStructure, budget: YieldBudget): Promise<Test> {
  const isAbove = new Uint8Array(parent.length);
  for (const index of spans) {
    if (budget.spend(1)) await budget.yield();
    if (left[index] !== 0 && parent[index] !== -1) isAbove[parent[index]!] = 1;
  }
  return (index) => isAbove[index] === 1;
}

async function isAncestorOf(
  marks: Uint8Array,
  { parent, preorder }: TraceStructure,
  budget: YieldBudget,
): Promise<Test> {
  const isAbove = new Uint8Array(parent.length);
  for (let at = preorder.length - 1; at >= 0; at--) {
    if (budget.spend(1)) await budget.yield();
    const index = preorder[at]!;
    const above = parent[index]!;
    if (above !== -1 && (marks[index] === 1 || isAbove[index] === 1)) isAbove[above] = 1;
  }
  return (index) => isAbove[index] === 1;
}

/** Roots are siblings of each other; no span is its own. */
async function isSiblingOf(marks: Uint8Array, { left, parent }: TraceStructure, budget: YieldBudget): Promise<Test> {
  /** By parent; the last entry counts the roots. */
  const marksBelow = new Int32Array(parent.length + 1);
  const slotOf = (index: number): number => (parent[index] === -1 ? parent.length : parent[index]!);
  for (let index = 0; index < marks.length; index++) {
    if (budget.spend(1)) await budget.yield();
    if (marks[index] === 1 && left[index] !== 0) marksBelow[slotOf(index)]!++;
  }
  return (index) => left[index] !== 0 && marksBelow[slotOf(index)]! > marks[index]!;
}

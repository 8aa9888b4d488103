/** Structural operators against their definition, on random and on hostile traces; numbering as nested sets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { relateSpans, type StructuralOperator } from "../src/spans/relate-spans.ts";
import { nestedSetParent, structureOf, type TraceStructure } from "../src/spans/trace-structure.ts";
import { toSpan, type ShortSpan } from "./support/traces.ts";

function structure(spans: readonly ShortSpan[]): Promise<TraceStructure> {
  return structureOf(spans.map(toSpan), neverYield);
}

async function relate(
  operator: StructuralOperator,
  left: readonly number[],
  right: readonly number[],
  tree: TraceStructure,
): Promise<readonly number[]> {
  return relateSpans(operator, { left, right }, { tree, budget: neverYield });
}

/** The definition of Tempo's relations on the numbers of two spans. */
function isRelated(relation: string, tree: TraceStructure, left: number, right: number): boolean {
  const [leftOf, rightOf] = [(index: number) => tree.left[index]!, (index: number) => tree.right[index]!];
  const parentOf = (index: number): number => nestedSetParent(tree, index);
  const isDescendant = (child: number, ancestor: number): boolean =>
    leftOf(child) !== 0 &&
    leftOf(ancestor) !== 0 &&
    leftOf(child) > leftOf(ancestor) &&
    rightOf(child) < rightOf(ancestor);
  const isChild = (child: number, parent: number): boolean =>
    leftOf(parent) !== 0 && parentOf(child) === leftOf(parent);
  switch (relation) {
    case ">":
      return isChild(right, left);
    case ">>":
      return isDescendant(right, left);
    case "<":
      return isChild(left, right);
    case "<<":
      return isDescendant(left, right);
    default:
      return left !== right && parentOf(left) !== 0 && parentOf(left) === parentOf(right);
  }
}

/** By trying all pairs. */
function related(operator: string, tree: TraceStructure, left: readonly number[], right: readonly number[]): number[] {
  const relation = operator.replace(/^[!&]/, "");
  const hasLeft = (one: number): boolean => left.some((other) => isRelated(relation, tree, other, one));
  const hasRight = (one: number): boolean => right.some((other) => isRelated(relation, tree, one, other));
  if (operator.startsWith("!")) return right.filter((one) => !hasLeft(one));
  const found = right.filter(hasLeft);
  if (!operator.startsWith("&")) return found;
  return [...new Set([...found, ...left.filter(hasRight)])].sort((one, other) => one - other);
}

const relations = [">", ">>", "<", "<<", "~"];
const operators = relations.flatMap((relation) => [relation, `!${relation}`, `&${relation}`]);

/** Mostly trees; some parents are missing, some IDs repeat, some spans form cycles. */
const trace = fc
  .array(
    fc.record({
      id: fc.nat(30),
      parent: fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 9, arbitrary: fc.nat(32) }),
      kind: fc.constantFrom("server" as const, "client" as const, "internal" as const),
    }),
    { maxLength: 25 },
  )
  .chain((spans) =>
    fc.record({
      keepIds: fc.boolean(),
      left: fc.subarray(Array.from(spans.keys())),
      right: fc.subarray(Array.from(spans.keys())),
      spans: fc.constant(spans),
    }),
  )
  .map(({ keepIds, left, right, spans }) => ({
    left,
    right,
    spans: spans.map(({ id, kind, parent }, index): ShortSpan => ({
      // Most traces have distinct IDs, and parents before their children.
      id: String(keepIds ? id : index),
      parent: parent === null || (index === 0 && parent > 0) ? "" : String(keepIds ? parent : parent % (index + 1)),
      kind,
    })),
  }));

describe("structural operators", () => {
  for (const operator of operators) {
    test(`${operator} gives the spans that trying all pairs gives`, async () => {
      await fc.assert(
        fc.asyncProperty(trace, async ({ left, right, spans }) => {
          const tree = await structure(spans);
          const found = await relate(operator as StructuralOperator, left, right, tree);
          assert.deepEqual(found, related(operator, tree, left, right));
        }),
        { numRuns: propertyRuns(200) },
      );
    });
  }

  test("random traces have relations to find", async () => {
    const samples = fc.sample(trace, 500);
    let pairs = 0;
    for (const { left, right, spans } of samples) {
      pairs += related(">>", await structure(spans), left, right).length;
    }
    assert.ok(pairs > 20, `${pairs} descendants in 500 traces`);
  });
});

function numbers(tree: TraceStructure): readonly (readonly number[])[] {
  return Array.from(tree.left.keys(), (index) => [tree.left[index]!, tree.right[index]!, nestedSetParent(tree, index)]);
}

/** What spans have that no root reaches. */
function outside(count: number): readonly (readonly number[])[] {
  return Array.from({ length: count }, () => [0, 0, 0]);
}

describe("the numbers of nested sets", () => {
  test("go depth first, children in the order of the spans", async () => {
    const tree = await structure([
      { id: "a" },
      { id: "b", parent: "a" },
      { id: "c", parent: "a" },
      { id: "d", parent: "b" },
    ]);
    assert.deepEqual(numbers(tree), [
      [1, 8, -1],
      [2, 5, 1],
      [6, 7, 1],
      [3, 4, 2],
    ]);
    assert.deepEqual([...tree.childCount], [2, 1, 0, 0]);
  });

  test("go on from one root to the next", async () => {
    const tree = await structure([{ id: "a" }, { id: "b" }, { id: "c", parent: "b" }]);
    assert.deepEqual(numbers(tree), [
      [1, 2, -1],
      [3, 6, -1],
      [4, 5, 3],
    ]);
  });

  test("are 0 for spans whose parent is missing and for those below", async () => {
    const tree = await structure([{ id: "a" }, { id: "b", parent: "x" }, { id: "c", parent: "b" }]);
    assert.deepEqual(numbers(tree).slice(1), [
      [0, 0, 0],
      [0, 0, 0],
    ]);
    assert.deepEqual([...tree.childCount], [0, 1, 0]);
  });

  test("are 0 for spans in a cycle, and everywhere without a root", async () => {
    const cycle: readonly ShortSpan[] = [
      { id: "b", parent: "c" },
      { id: "c", parent: "b" },
      { id: "d", parent: "d" },
    ];
    assert.deepEqual(numbers(await structure([{ id: "a" }, ...cycle])).slice(1), outside(3));
    const rootless = await structure(cycle);
    assert.deepEqual(numbers(rootless), outside(3));
    assert.deepEqual([...rootless.childCount], [0, 0, 0]);
  });

  test("tell apart a client and a server with the same ID", async () => {
    const tree = await structure([
      { id: "a", kind: "client" },
      { id: "a", parent: "a", kind: "server" },
      { id: "b", parent: "a", kind: "client" },
    ]);
    assert.deepEqual(numbers(tree), [
      [1, 6, -1],
      [2, 5, 1],
      [3, 4, 2],
    ]);
  });

  test("are 0 if three spans have the same ID", async () => {
    const tree = await structure([{ id: "a" }, { id: "b", parent: "a" }, { id: "b", parent: "a" }, { id: "b" }]);
    assert.deepEqual(numbers(tree), outside(4));
  });

  test("do not take a deep trace for a stack", async () => {
    const spans = Array.from({ length: 50_000 }, (_, index) => ({
      id: String(index),
      parent: index === 0 ? "" : String(index - 1),
    }));
    const tree = await structure(spans);
    assert.equal(tree.left[49_999], 50_000);
    const all = Array.from(spans.keys());
    assert.equal((await relate(">>", all, all, tree)).length, 49_999);
    assert.equal((await relate("<<", all, all, tree)).length, 49_999);
  });
});

/** Random well-typed expressions that a user could write. */
import * as fc from "fast-check";
import type { DurationExpression, Expression, LabelMatcher, VectorSelector } from "../../src/syntax/ast.ts";
import { nowhere } from "../../src/syntax/source-range.ts";

const at = nowhere;
const text = fc.string({ unit: "grapheme", maxLength: 8 });
const labelName = fc.oneof(
  fc.constantFrom("job", "instance", "le", "on", "sum", "by"),
  text.filter((name) => name !== ""),
);
const metric = fc.constantFrom("up", "http_requests_total", "job:rate5m", "sum", "offset", "and", "start");

const matcher: fc.Arbitrary<LabelMatcher> = fc.record({
  name: labelName.filter((name) => name !== "__name__"),
  operator: fc.constantFrom("=", "!="),
  value: text,
});

const durationNumber = fc.record({
  kind: fc.constant("duration-number" as const),
  seconds: fc.integer({ min: 1, max: 100_000 }),
  isDuration: fc.boolean(),
  at: fc.constant(at),
});

const duration: fc.Arbitrary<DurationExpression> = fc.oneof(
  { weight: 4, arbitrary: durationNumber },
  fc.record({
    kind: fc.constant("duration-context" as const),
    word: fc.constantFrom("step" as const, "range" as const),
    at: fc.constant(at),
  }),
  fc.record({
    kind: fc.constant("duration-choice" as const),
    word: fc.constantFrom("min_of" as const, "max_of" as const),
    left: durationNumber,
    right: durationNumber,
    at: fc.constant(at),
  }),
  fc.record({
    kind: fc.constant("duration-parentheses" as const),
    inner: fc.record({
      kind: fc.constant("duration-arithmetic" as const),
      operator: fc.constantFrom("+" as const, "-" as const, "*" as const, "/" as const, "%" as const, "^" as const),
      left: durationNumber,
      right: durationNumber,
      at: fc.constant(at),
    }),
    at: fc.constant(at),
  }),
);

const atTime = fc.oneof(
  fc.constant(null),
  fc.constantFrom("start" as const, "end" as const),
  fc.integer({ min: -1e12, max: 1e12 }),
);

const selector: fc.Arbitrary<VectorSelector> = fc
  .record({
    kind: fc.constant("vector-selector" as const),
    name: fc.oneof(fc.constant(null), metric),
    others: fc.array(matcher, { maxLength: 3 }),
    offset: fc.option(duration),
    atTime,
    boundary: fc.constantFrom(null, "anchored" as const, "smoothed" as const),
    at: fc.constant(at),
  })
  .map(({ name, others, ...rest }) => {
    const ofName: LabelMatcher = { name: "__name__", operator: "=", value: name ?? "some" };
    return { ...rest, name, matchers: [...others, ofName] };
  });

function parenthesized(inner: Expression): Expression {
  return inner.kind === "binary" || inner.kind === "unary" || inner.kind === "number"
    ? { kind: "parentheses", inner, at }
    : inner;
}

const noMatching = {
  cardinality: "one-to-one" as const,
  labels: [],
  on: false,
  include: [],
  fillLeft: null,
  fillRight: null,
};

const matching = fc.oneof(
  fc.constant(noMatching),
  fc.record({
    cardinality: fc.constantFrom("one-to-one" as const, "many-to-one" as const, "one-to-many" as const),
    labels: fc.uniqueArray(labelName, { minLength: 1, maxLength: 2 }),
    on: fc.boolean(),
    include: fc.constant<string[]>([]),
    fillLeft: fc.option(fc.integer()),
    fillRight: fc.option(fc.integer()),
  }),
);

const { vector } = fc.letrec<{ vector: Expression; scalar: Expression; matrix: Expression }>((tie) => ({
  scalar: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant("number" as const),
      value: fc.double({ noNaN: true }),
      isDuration: fc.constant(false),
      at: fc.constant(at),
    }),
    fc.record({
      kind: fc.constant("call" as const),
      function: fc.constant("scalar"),
      arguments: fc.tuple(tie("vector")),
      at: fc.constant(at),
    }),
  ),
  matrix: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant("matrix-selector" as const),
      selector,
      range: duration,
      at: fc.constant(at),
    }),
    fc.record({
      kind: fc.constant("subquery" as const),
      expression: tie("vector").map(parenthesized),
      range: duration,
      step: fc.option(duration),
      offset: fc.option(duration),
      atTime,
      at: fc.constant(at),
    }),
  ),
  vector: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    selector,
    fc.record({
      kind: fc.constant("aggregation" as const),
      operator: fc.constantFrom("sum" as const, "avg" as const, "count" as const),
      expression: tie("vector"),
      parameter: fc.constant(null),
      grouping: fc.uniqueArray(labelName, { minLength: 1, maxLength: 3 }),
      without: fc.boolean(),
      at: fc.constant(at),
    }),
    fc.record({
      kind: fc.constant("aggregation" as const),
      operator: fc.constantFrom("topk" as const, "quantile" as const),
      expression: tie("vector"),
      parameter: tie("scalar"),
      grouping: fc.constant<string[]>([]),
      without: fc.constant(false),
      at: fc.constant(at),
    }),
    fc.record({
      kind: fc.constant("call" as const),
      function: fc.constantFrom("rate", "sum_over_time", "changes"),
      arguments: fc.tuple(tie("matrix")),
      at: fc.constant(at),
    }),
    fc.tuple(tie("vector"), text, text).map(([argument, destination, replacement]): Expression => ({
      kind: "call",
      function: "label_replace",
      arguments: [
        argument,
        ...[destination, replacement, "a", ".*"].map((value) => ({ kind: "string" as const, value, at })),
      ],
      at,
    })),
    fc
      .tuple(tie("vector"), tie("vector"), fc.constantFrom("+", "*", "^", "/", "%", "atan2"), matching)
      .map(([left, right, operator, one]): Expression => ({
        kind: "binary",
        operator: operator as "+",
        left: parenthesized(left),
        right: parenthesized(right),
        returnBool: false,
        matching: one,
        at,
      })),
    fc.tuple(tie("vector"), tie("scalar"), fc.boolean()).map(([left, right, returnBool]): Expression => ({
      kind: "binary",
      operator: ">=",
      left: parenthesized(left),
      right: parenthesized(right),
      returnBool,
      matching: null,
      at,
    })),
    tie("vector").map((operand): Expression => ({ kind: "unary", operator: "-", operand: parenthesized(operand), at })),
  ),
}));

/** Expressions whose type is an instant vector. */
export const arbitraryExpression: fc.Arbitrary<Expression> = vector;

/** Any selector. */
export const arbitrarySelector = selector;

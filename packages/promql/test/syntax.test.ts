/** The parser and the printer from outside: round trips, injection and error messages. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "../src/query-error.ts";
import type { Expression } from "../src/syntax/ast.ts";
import { formatPlain, formatSampleValue, parseNumber } from "../src/syntax/number-literal.ts";
import { parseExpression } from "../src/syntax/parse.ts";
import { printExpression } from "../src/syntax/print.ts";
import { nowhere } from "../src/syntax/source-range.ts";
import { arbitraryExpression } from "./support/arbitrary-expression.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

/** The tree without positions, the only thing that printing may change. */
function withoutPositions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPositions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "at")
      .map(([key, member]) => [key, withoutPositions(member)]),
  );
}

/** The tree without parentheses as well. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const node = value as Record<string, unknown>;
  if (node["kind"] === "parentheses" || node["kind"] === "duration-parentheses") return bare(node["inner"]);
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== "at")
      .map(([key, member]) => [key, bare(member)]),
  );
}

function selectorWith(value: string): Expression {
  const matchers = [
    { name: "tenant", operator: "=" as const, value },
    { name: "__name__", operator: "=" as const, value: "up" },
  ];
  return {
    kind: "vector-selector",
    name: "up",
    matchers,
    offset: null,
    atTime: null,
    boundary: null,
    at: nowhere,
  };
}

describe("printing and parsing", () => {
  test("a printed tree parses to the same tree", () => {
    fc.assert(
      fc.property(arbitraryExpression, (expression) => {
        const printed = printExpression(expression);
        assert.deepEqual(withoutPositions(parseExpression(printed)), withoutPositions(expression), printed);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test("a tree without the parentheses it needs gets them", () => {
    fc.assert(
      fc.property(arbitraryExpression, (expression) => {
        const unwrapped = { ...(bare(expression) as object) } as Expression;
        assert.deepEqual(bare(parseExpression(printExpression(unwrapped))), bare(expression));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test("any text in a matcher's value survives, and nothing around it changes", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.string({
        unit: fc.constantFrom('"', "\\", "'", "`", "{", "}", "\n", "\0", "\ud800", "\udc41", "x", ","),
        maxLength: 40,
      }),
    );
    fc.assert(
      fc.property(anyText, (value) => {
        const expression = selectorWith(value);
        assert.deepEqual(withoutPositions(parseExpression(printExpression(expression))), withoutPositions(expression));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test("a megabyte of text in a matcher's value survives", () => {
    const value = '"\\\n\0}{,é€😀'.repeat(100_000);
    const parsed = parseExpression(printExpression(selectorWith(value)));
    assert.equal(parsed.kind === "vector-selector" && parsed.matchers[0]!.value, value);
  });

  test("every printed number is parsed back to the same number", () => {
    fc.assert(fc.property(fc.double(), (value) => Object.is(parseNumber(formatPlain(value)), value)));
    fc.assert(fc.property(fc.double(), (value) => Object.is(parseNumber(formatSampleValue(value)), value)));
  });

  test("values are written as Prometheus' HTTP API writes them", () => {
    const written = [0, -0, 1.5, 1e20, 1e21, 1e-6, 1e-7, Number.NaN, Infinity, -Infinity].map(formatSampleValue);
    assert.deepEqual(written, [
      "0",
      "-0",
      "1.5",
      "100000000000000000000",
      "1e+21",
      "0.000001",
      "1e-07",
      "NaN",
      "+Inf",
      "-Inf",
    ]);
  });
});

describe("parsing", () => {
  for (const [query, printed] of [
    ["1./6.", "1 / 6"],
    ["SUM BY (job) (up)", "sum by (job) (up)"],
    ["sum(up) by (job)", "sum by (job) (up)"],
    ["sum_over_time(up[STEP()*2:])", "sum_over_time(up[step() * 2:])"],
    ["a[min_of(5m, 1h):1m]", "a[min_of(5m, 1h):1m]"],
    ["a offset 5m - b", "a offset 5m - b"],
    ["a offset (5m) + 1m", "a offset ((5m) + 1m)"],
    ["(a offset (5m)) + 1", "(a offset (5m)) + 1"],
    ["a offset (5m) + b", "a offset (5m) + b"],
    ["a @ 1.5 offset -1h", "a @ 1.500 offset -1h"],
    ["{'some.metric', \"label name\"=`\\d`}", '{__name__="some.metric","label name"="\\\\d"}'],
    ["-a ^ 2", "-a ^ 2"],
    ["fill + fill_left", "fill + fill_left"],
    ["and or or and sum", "and or or and sum"],
    ["up # a comment", "up"],
    ["a\n+\tb", "a + b"],
  ] as const) {
    test(`${query} is ${printed}`, () => {
      assert.equal(printExpression(parseExpression(query)), printed);
    });
  }

  test("nodes are frozen and know their position", () => {
    const expression = parseExpression("sum(rate(a[5m]))");
    assert.ok(Object.isFrozen(expression));
    assert.deepEqual(expression.kind === "aggregation" && expression.expression.at, { start: 4, end: 15 });
  });
});

describe("what is refused", () => {
  for (const [query, message] of [
    ["", "1:1: parse error: no expression found in input"],
    ["rte(a[5m])", '1:1: parse error: unknown function with name "rte", did you mean "rate"?'],
    [
      "sum(holt_winters(a[5m], 1, 1))",
      '1:5: parse error: unknown function with name "holt_winters", it is called "double_exponential_smoothing" now',
    ],
    ["rate(a)", '1:6: parse error: expected type range vector in call to function "rate", got instant vector'],
    ["rate()", '1:1: parse error: expected 1 argument(s) in call to "rate", got 0'],
    ["1 == 1", "1:1: parse error: comparisons between scalars must use BOOL modifier"],
    ["a +", "1:4: parse error: unexpected end of input"],
    ["a[5m", "1:5: parse error: unclosed left bracket"],
    ["a[5m] + 1", "1:1: parse error: binary expression must contain only scalar and instant vector types"],
    ['a{b=~"("}', "1:1: parse error: error parsing regexp: missing closing ): `(?s)(`"],
    ["{}", "1:1: parse error: vector selector must contain at least one non-empty matcher"],
    ["a{b}", '1:4: parse error: unexpected "}" in label matching, expected label matching operator'],
    ["sum by (a b) (c)", '1:11: parse error: unexpected identifier "b" in grouping opts, expected "," or ")"'],
    ["a offset 5m offset 5m", "1:1: parse error: offset may not be set multiple times"],
    ["a\n  + 'x", "2:5: parse error: unterminated quoted string"],
    ["a and 1", '1:1: parse error: set operator "and" not allowed in binary scalar expression'],
    ["a / on(x) group_left(x) b", '1:1: parse error: label "x" must not occur in ON and GROUP clause at once'],
    [`${"(".repeat(500)}1${")".repeat(500)}`, /nested more than 200 levels/],
    [`1${" + 1".repeat(1001)}`, /more than 1000 operators/],
    [`a${"[5m:]".repeat(50_000)}`, /more than 1000 operators/],
    [`a[${"(".repeat(50_000)}1m${")".repeat(50_000)}]`, /more than 1000 operators/],
    [`a[${"-".repeat(50_000)}1m]`, /more than 1000 operators/],
    [`${"-".repeat(50_000)}1`, /nested more than 200 levels/],
    ["sum(".repeat(50_000), /unclosed|nested/],
    ["a[0s]", "1:3: parse error: duration must be greater than 0"],
    ['a{b="\\q"}', '1:5: parse error: error unquoting string "\\q": invalid escape sequence'],
    ["5mm", '1:1: parse error: bad number or duration syntax: "5mm"'],
  ] as const) {
    test(query.length > 60 ? `${query.slice(0, 60)}…` : JSON.stringify(query), () => {
      assert.throws(
        () => parseExpression(query),
        (error: unknown) => {
          assert.ok(error instanceof QueryError);
          assert.equal(error.code, "invalid_request");
          if (typeof message === "string") assert.equal(error.message, message);
          else assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  test("garbage never throws anything but a QueryError", () => {
    const pieces = fc.constantFrom(
      "sum",
      "(",
      ")",
      "{",
      "}",
      "[",
      "]",
      "5m",
      ":",
      "a",
      "by",
      "=",
      '"x"',
      "@",
      "offset",
      "+",
      "-",
      ",",
      "#",
      "\\",
      "1e",
      "bool",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (words) => {
        try {
          parseExpression(words.join(" "));
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
        }
      }),
      { numRuns: propertyRuns(2000) },
    );
  });
});

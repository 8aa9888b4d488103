/** TraceQL's parser, checks and printer from outside: round trips, precedence, error messages, unfinished queries. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "@sounding/promql/query-error";
import type { FieldExpression } from "../src/syntax/ast.ts";
import { formatDurationNano, parseDurationNano } from "../src/syntax/duration.ts";
import { parseIncomplete } from "../src/syntax/parse-incomplete.ts";
import { parseQuery } from "../src/syntax/parse-query.ts";
import { parseTree } from "../src/syntax/parse.ts";
import { printFieldExpression } from "../src/syntax/print-field.ts";
import { printQuery } from "../src/syntax/print.ts";
import { arbitraryMetricsQuery } from "./support/arbitrary-traceql-metrics.ts";
import { arbitrarySearchQuery, attributeField, intrinsicField, type TypedField } from "./support/arbitrary-traceql.ts";
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

const texts: TypedField["values"] = ["", "a", 'q"uo`te', "line\nbreak\\", "größe", "{ }"].map((value) => ({
  type: "string",
  value,
}));

const fields: readonly TypedField[] = [
  { field: attributeField("span", "http.method"), values: texts },
  { field: attributeField("resource", 'a "b" \\c'), values: texts },
  { field: attributeField(null, "5"), values: [0n, 7n, 2n ** 63n - 1n].map((value) => ({ type: "int", value })) },
  { field: attributeField(null, "größe/x"), values: [0.5, 1e21, 1e-9, 3].map((value) => ({ type: "float", value })) },
  { field: attributeField("event", "ok"), values: [{ type: "boolean", value: true }] },
  { field: attributeField("link", "a=b"), values: texts },
  { field: attributeField("instrumentation", "span.x"), values: texts },
  {
    field: intrinsicField("duration"),
    values: [0n, 1n, 1_500_000_000n, 86_400_000_000_001n].map((nanoseconds) => ({ type: "duration", nanoseconds })),
  },
  { field: intrinsicField("status"), values: [{ type: "status", value: "error" }] },
  { field: intrinsicField("kind"), values: [{ type: "kind", value: "server" }] },
  { field: intrinsicField("event:timeSinceStart"), values: [{ type: "duration", nanoseconds: 1000n }] },
  { field: intrinsicField("childCount"), values: [{ type: "int", value: 1n }] },
];

describe("printing and parsing", () => {
  for (const [title, arbitrary] of [
    ["searches", arbitrarySearchQuery(fields)],
    ["metrics", arbitraryMetricsQuery(fields)],
  ] as const) {
    test(`a printed tree parses to the same tree: ${title}`, () => {
      fc.assert(
        fc.property(arbitrary, (query) => {
          const printed = printQuery(query);
          assert.deepEqual(withoutPositions(parseQuery(printed)), withoutPositions(query), printed);
        }),
        { numRuns: propertyRuns(500) },
      );
    });
  }

  test("constants that divide by zero are printed as a division", () => {
    for (const constant of ["0.5 / 0", "-0.5 / 0", "0.0 / 0"]) {
      for (const query of [
        `{ } | avg(duration) > ${constant}`,
        `{ } | rate() > ${constant}`,
        `({ } | rate()) * (${constant})`,
      ]) {
        const tree = parseQuery(query);
        assert.deepEqual(withoutPositions(parseQuery(printQuery(tree))), withoutPositions(tree), query);
      }
    }
  });

  test("numbers beyond the largest float are refused", () => {
    assert.throws(() => parseQuery("{ .a > 1e999 }"), {
      code: "invalid_request",
      message: /col 8: number 1e999 is out of range/,
    });
  });

  test("any name of an attribute can be written in every scope", () => {
    const scopes = fc.constantFrom(null, "span", "resource", "event", "link", "instrumentation" as const);
    fc.assert(
      fc.property(scopes, fc.boolean(), fc.string({ unit: "binary" }), (scope, isOfParent, name) => {
        const ofParent = isOfParent && (scope === null || scope === "span" || scope === "resource");
        const field: FieldExpression = { ...attributeField(scope, name), ofParent };
        const tree = parseTree(`{ ${printFieldExpression(field)} }`);
        const filter = tree.kind === "search-query" ? tree.stages[0] : undefined;
        assert.deepEqual(
          filter?.kind === "spanset-filter" && withoutPositions(filter.condition),
          withoutPositions(field),
        );
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test("any text is parsed or refused with a position", () => {
    const words = fc.constantFrom(
      ..."{ } ( ) | && || = != =~ !~ > >> &> !>> ~ ! - + * / ^ % , . .a span. span:name resource.b parent.c nil true 1 2.5 3ms".split(
        " ",
      ),
      ..."'x' \"y\" ` count() avg( by( select( coalesce() rate() quantile_over_time( compare( topk(2) with( // /* \u0000".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 20 }), (parts) => {
        const text = parts.join(" ");
        parseIncomplete(text);
        try {
          parseQuery(text);
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
          assert.match(error.message, /^(?:parse error at line \d+, col \d+|invalid TraceQL query): /);
        }
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test("durations keep their nanoseconds", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (nanoseconds) => {
        assert.equal(parseDurationNano(formatDurationNano(nanoseconds)), nanoseconds);
      }),
    );
  });
});

describe("operators bind", () => {
  for (const [title, query, same] of [
    ["&& and || alike, from left to right", "{ .a || .b && .c }", "{ (.a || .b) && .c }"],
    ["^ from right to left", "{ 2 ^ .a ^ 3 = 1 }", "{ 2 ^ (.a ^ 3) = 1 }"],
    ["- looser than *", "{ -.a * 2 = 1 }", "{ -(.a * 2) = 1 }"],
    ["- tighter than + after it", "{ -.a + 2 = 1 }", "{ (-.a) + 2 = 1 }"],
    ["! tighter than =", "{ !.a = true }", "{ (!.a) = true }"],
    ["comparisons looser than arithmetic", "{ .a + 1 = .b * 2 }", "{ (.a + 1) = (.b * 2) }"],
    ["structure tighter than &&", "{ .a } && { .b } >> { .c }", "{ .a } && ({ .b } >> { .c })"],
    ["constants at once", "{ } | avg(.a) > 1 - 3", "{ } | avg(.a) > -2"],
    ["integers without a fraction", "({ } | rate()) > 3 / 2", "({ } | rate()) > 1"],
    ["numbers to metrics", "2 + ({ } | rate()) * 3", "2 + (({ } | rate()) * 3)"],
  ] as const) {
    test(title, () => {
      assert.deepEqual(withoutPositions(parseTree(query)), withoutPositions(parseTree(same)));
    });
  }

  test("a name reaches up to white space, a bracket or a comparison", () => {
    assert.equal(printQuery(parseTree('{ .a-b/c:d[0]*2>1 && ."x y"."z"=2 }')), '{ .a-b/c:d[0]*2 > 1 && ."x y.z" = 2 }');
  });

  test("comments are skipped, durations may be Go's", () => {
    assert.equal(printQuery(parseTree("{ duration > 1.5h /* long */ } // all")), "{ duration > 1h30m }");
  });
});

describe("error messages", () => {
  for (const [query, message] of [
    ["{ .a = }", 'parse error at line 1, col 8: unexpected "}", expected an attribute, an intrinsic or a value'],
    [
      "{ statu = error }",
      'parse error at line 1, col 3: unexpected "statu", expected an attribute, an intrinsic or a value, did you mean "status"?',
    ],
    [
      "{ } |\n rat()",
      'parse error at line 2, col 2: unexpected "rat", expected a filter in braces, an aggregate, by(), coalesce(), select() or a metrics function, did you mean "rate"?',
    ],
    [
      "{ trace:kind = server }",
      'parse error at line 1, col 9: unexpected "kind", expected one of trace:duration, trace:rootName, trace:rootService, trace:id',
    ],
    ["{ } | count()", "parse error at line 1, col 1: a number alone is no query: compare an aggregate with it"],
    ['{ .a = "x }', "parse error at line 1, col 8: literal not terminated"],
    ["{ nil }", "parse error at line 1, col 3: nil can only be compared: use = nil or != nil"],
    ['{ duration = "1s" }', 'invalid TraceQL query: binary operations must operate on the same type: duration = "1s"'],
    ["{ name }", "invalid TraceQL query: span filter field expressions must resolve to a boolean: { name }"],
    ['{ .a =~ "[" }', "invalid TraceQL query: invalid regex: error parsing regexp: missing closing ]: `[`"],
    [
      "{ } | max(name) = 1",
      "invalid TraceQL query: aggregate field expressions must resolve to a number type: max(name)",
    ],
    ["{ parent.a = 1 }", "invalid TraceQL query: parent not yet supported"],
    ["{ } | rate() | topk(0)", "invalid TraceQL query: the limit of topk() must be greater than 0"],
    ["{ } | quantile_over_time(duration, 2)", "invalid TraceQL query: quantile must be between 0 and 1: 2"],
  ] as const) {
    test(query, () => {
      assert.throws(() => parseQuery(query), { message, code: "invalid_request", param: "q" });
    });
  }

  test("queries that are too large are refused", () => {
    assert.throws(() => parseQuery(`{ ${"!".repeat(1100)}.a }`), /more than 1000 operators/);
    assert.throws(() => parseQuery("(".repeat(9000)), /more than 1000 operators/);
    assert.throws(
      () => parseQuery("(".repeat(60_000)),
      /col 10001: the query has more than 10000 names, values and signs/,
    );
    assert.equal(parseIncomplete(`{ .a = "${"x".repeat(60_000)}" && .b = }`)?.kind, "field-operation");
    assert.throws(() => parseQuery(" ".repeat(70_000)), /has 70000 characters, the limit is 65536/);
    assert.throws(
      () => parseQuery(`{ .a =~ "${"(ab|c)".repeat(1500)}" && .a =~ "${"(ab|d)".repeat(1500)}" }`),
      /limit is 10000/,
    );
  });
});

describe("unfinished queries", () => {
  const readAs = (text: string): string | null => {
    const condition = parseIncomplete(text);
    return condition === null ? null : printFieldExpression(condition);
  };
  for (const [text, condition] of [
    ["", null],
    ["{}", null],
    ["{ resource.x = }", null],
    ['{ resource.service.name = "a" && name = }', 'resource.service.name = "a"'],
    ['{ name =~ && span."a b" != 1', 'span."a b" != 1'],
    ['{ .a = "x" || .b = }', null],
    ["{ (.a = 1 || .b = 2) && span:kind = }", ".a = 1 || .b = 2"],
    ["{ .a = 1 && .b }", ".a = 1"],
    ["{ .a = 1 } >> { .b = 2 }", null],
    ["{ .a = 1 && duration > } | rate() by (", null],
    ["{ .a = 1 && duration > } | rate()", ".a = 1"],
    ["{ .a = 1 && }", null],
    ['{ .a = "', null],
    ["{ name = 1 }", null],
  ] as const) {
    test(JSON.stringify(text), () => assert.equal(readAs(text), condition));
  }
});

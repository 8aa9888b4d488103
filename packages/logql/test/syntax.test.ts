/** LogQL's parser, checks and printers from outside. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { LogqlExpression } from "../src/syntax/ast.ts";
import { formatLogql } from "../src/syntax/format.ts";
import { parseLogql, parseLogqlQuery } from "../src/syntax/parse-query.ts";
import { printLogql } from "../src/syntax/print.ts";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import type { LogVocabulary } from "./support/arbitrary-log-query.ts";
import { arbitraryLogql } from "./support/arbitrary-logql.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const vocabulary: LogVocabulary = {
  streamLabels: { app: ["api", 'we"b', "a\nb"], env: ["prod", "`dev`", "{x}"], rate: ["sum", "\\d"] },
  metadata: { trace_id: ["0a1b", ""], by_hand: ["é😀", "\u0000"] },
  lines: [
    { format: "json", words: ['"GET"', "é", "error"], fields: { status: "number", took: "duration", ip: "address" } },
    { format: "logfmt", words: ["level=info", "#"], fields: { size: "bytes", bytes: "number", level: "text" } },
    { format: "text", words: ["timeout", "<_>"], patterns: ["<a> <_> <b>"], fields: { first: "text" } },
  ],
};

function withoutPositions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPositions);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "at")
      .map(([key, member]) => [key, withoutPositions(member)]),
  );
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s/g, "");
}

describe("printing and parsing", () => {
  const queries = arbitraryLogql(vocabulary);

  test("a printed tree parses to the same tree", () => {
    fc.assert(
      fc.property(queries, (expression) => {
        const printed = printLogql(expression);
        assert.deepEqual(withoutPositions(parseLogql(printed)), withoutPositions(expression), printed);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test("a formatted query means the same", () => {
    fc.assert(
      fc.property(queries, (expression) => {
        const formatted = formatLogql(expression);
        assert.deepEqual(withoutPositions(parseLogql(formatted)), withoutPositions(expression), formatted);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test("any text in a string survives, and nothing around it changes", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc.string({
        unit: fc.constantFrom('"', "\\", "'", "`", "{", "}", "\n", "\0", "#", "/", "*", "x"),
        maxLength: 40,
      }),
    );
    fc.assert(
      fc.property(anyText, (value) => {
        const query = parseLogql('{a="b"} |= "c" | d="e" | line_format "f"');
        assert.ok(query.kind === "log-query");
        const [filter, label, format] = query.stages;
        const matcher = { name: "d", operator: "=" as const, value };
        const changed = {
          ...query,
          matchers: [...query.matchers, { name: "z", operator: "!=" as const, value }],
          stages: [
            { ...filter, operands: [{ kind: "text", value }] },
            { ...label, filter: { kind: "matcher", matcher } },
            { ...format, template: value },
          ],
        } as LogqlExpression;
        assert.deepEqual(withoutPositions(parseLogql(printLogql(changed))), withoutPositions(changed));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});

describe("parsing", () => {
  for (const [query, printed] of [
    ['  { app = "a" ,b!="" } ', '{app="a", b!=""}'],
    ['{app=~"a.+",b!~`\\d`}', '{app=~"a.+", b!~"\\\\d"}'],
    ['{a="b"} # a comment with "quotes"\n |= "x" // another\n /* and\n one */ != "y"', '{a="b"} |= "x" != "y"'],
    ['({a="b"} |= "x")', '{a="b"} |= "x"'],
    ['{a="b"} |= "x" or "y" or ip("10.0.0.1") or "z"', '{a="b"} |= "x" or "y" or ip("10.0.0.1") or "z"'],
    ['{a="b"} != "x" or "y" !~ "z" or "w"', '{a="b"} != "x" != "y" !~ "z" !~ "w"'],
    ['{a="b"} |> "<_> x" !> "<_>" |~ `\\w`', '{a="b"} |> "<_> x" !> "<_>" |~ "\\\\w"'],
    ['{a="b"} | JSON | Unpack', '{a="b"} | json | unpack'],
    ['{a="b"} | json first="x.y[0]", z', '{a="b"} | json first="x.y[0]",z="z"'],
    ['{a="b"} | logfmt --keep-empty --strict x="y", z', '{a="b"} | logfmt --strict --keep-empty x="y",z="z"'],
    ['{a="b"} | logfmt x != "y"', '{a="b"} | logfmt x="x" != "y"'],
    ['{a="b"} | drop x != "y"', '{a="b"} | drop x!="y"'],
    ['{a="b"} | drop x, y="z" | keep w', '{a="b"} | drop x,y="z" | keep w'],
    ['{a="b"} | label_format x=y, z="{{.w}}"', '{a="b"} | label_format x=y,z="{{.w}}"'],
    ['{a="b"} | x=1 | y!=-2.5 | z==1e3', '{a="b"} | x==1 | y!=-2.5 | z==1000'],
    ['{a="b"} | x>1h30m | x<=1.5s | x=2µs | x!=10ns', '{a="b"} | x>1h30m0s | x<=1.5s | x==2µs | x!=10ns'],
    ['{a="b"} | x>1d | x>-5m | x>2w', '{a="b"} | x>24h0m0s | x>-5m0s | x>336h0m0s'],
    ['{a="b"} | x>5KB | x>1.5MiB | x>=20 or y<5B', '{a="b"} | x>5.0kB | x>1572864B | ( x>=20 or y<5B )'],
    ['{a="b"} | x=ip("10.0.0.0/8") | y!=ip("::1")', '{a="b"} | x=ip("10.0.0.0/8") | y!=ip("::1")'],
    ['{a="b"} | x="1" or y="2" and z="3"', '{a="b"} | ( x="1" or ( y="2" , z="3" ) )'],
    ['{a="b"} | x="1" and y="2" or z="3"', '{a="b"} | ( ( x="1" , y="2" ) or z="3" )'],
    // A comma binds its left side most strongly and its right side least.
    ['{a="b"} | x="1", y="2" or z="3"', '{a="b"} | ( x="1" , ( y="2" or z="3" ) )'],
    ['{a="b"} | x="1" or y="2", z="3"', '{a="b"} | ( x="1" or ( y="2" , z="3" ) )'],
    ['{a="b"} | x="1" y="2" or z="3"', '{a="b"} | ( x="1" , ( y="2" or z="3" ) )'],
    ['{a="b"} | (x="1" or y="2") and z="3"', '{a="b"} | ( ( x="1" or y="2" ) , z="3" )'],
    ['{a="b"} | rate="x" | bytes=5 | sum=~"y"', '{a="b"} | rate="x" | bytes==5 | sum=~"y"'],
    ['rate({a="b"}[5m] |= "x")', 'rate({a="b"} |= "x"[5m])'],
    ['rate(({a="b"} | json)[5m])', 'rate({a="b"} | json[5m])'],
    ['rate((({a="b"}[5m])))', 'rate({a="b"}[5m])'],
    ['rate({a="b"}[1d12h] offset 1h30m)', 'rate({a="b"}[1d12h] offset 1h30m0s)'],
    ['rate({a="b"}[5m] offset -1.5s | json)', 'rate({a="b"} | json[5m] offset -1.5s)'],
    ['sum_over_time({a="b"} | unwrap x [5m])', 'sum_over_time({a="b"} | unwrap x[5m])'],
    [
      'rate({a="b"}[5m] offset 1m | unwrap duration(x) | __error__="")',
      'rate({a="b"} | unwrap duration(x) | __error__=""[5m] offset 1m0s)',
    ],
    ['max_over_time(({a="b"})[5m] | unwrap bytes)', 'max_over_time({a="b"} | unwrap bytes[5m])'],
    [
      'QUANTILE_OVER_TIME(.99, {a="b"} | unwrap bytes(x) [1m]) BY (c, d)',
      'quantile_over_time(0.99,{a="b"} | unwrap bytes(x)[1m]) by (c,d)',
    ],
    ['sum by (x) (rate({a="b"}[1m]))', 'sum by (x)(rate({a="b"}[1m]))'],
    ['sum(rate({a="b"}[1m])) without (x, y)', 'sum without (x,y)(rate({a="b"}[1m]))'],
    ['sum by () (rate({a="b"}[1m]))', 'sum(rate({a="b"}[1m]))'],
    ['max without () (rate({a="b"}[1m]))', 'max without ()(rate({a="b"}[1m]))'],
    ['topk(3, sort_desc(rate({a="b"}[1m])))', 'topk(3,sort_desc(rate({a="b"}[1m])))'],
    ['label_replace(vector(1), "a", "$1", "b", "(.*)")', 'label_replace(vector(1.000000),"a","$1","b","(.*)")'],
    ["vector(0.0000001)", "vector(0.0000001)"],
    ["1 + 2 * 3", "7"],
    ["(1 + 2) * 3 ^ 2 ^ 0", "9"],
    ["10 - 4 - 3", "3"],
    ["-2 ^ 2", "4"],
    ["5 % 3 == 2", "1"],
    ["1 > bool 2", "0"],
    ["1 / 0", "(0 / 0)"],
    ["1 % 0 != 1", "1"],
    ["0x1.8p3", "12"],
    ["10000000 + 0", "1e+07"],
    ["vector(1) - -1", "(vector(1.000000) - -1)"],
    [
      "vector(1) + vector(2) * vector(3) ^ vector(4) ^ vector(5)",
      "(vector(1.000000) + (vector(2.000000) * (vector(3.000000) ^ (vector(4.000000) ^ vector(5.000000)))))",
    ],
    [
      "vector(1) or vector(2) and vector(3) unless vector(4)",
      "(vector(1.000000) or ((vector(2.000000) and vector(3.000000)) unless vector(4.000000)))",
    ],
    [
      "vector(1) == bool on(a) group_left(b) vector(2)",
      "(vector(1.000000) == bool on (a) group_left (b) vector(2.000000))",
    ],
    ["vector(1) / ignoring(a, b) vector(2)", "(vector(1.000000) / ignoring (a,b)  vector(2.000000))"],
    [
      "vector(1) * on() group_left() (vector(2) + vector(3))",
      "(vector(1.000000) * on () group_left () (vector(2.000000) + vector(3.000000)))",
    ],
    ["vector(1) / ignoring() group_right() vector(2)", "(vector(1.000000) / ignoring () group_right vector(2.000000))"],
  ] as const) {
    test(`${query} is ${printed}`, () => {
      assert.equal(printLogql(parseLogql(query)), printed);
    });
  }

  test("nodes are frozen and know their position", () => {
    const expression = parseLogql('sum(rate({a="b"} | json [5m]))');
    assert.ok(Object.isFrozen(expression));
    assert.ok(expression.kind === "vector-aggregation" && expression.expression.kind === "range-aggregation");
    assert.deepEqual(expression.expression.at, { start: 4, end: 29 });
    assert.deepEqual(expression.expression.query.at, { start: 9, end: 23 });
  });

  test("a query from outside yields and parses to the same tree", async () => {
    const text = `{a=~"${"x?".repeat(100)}y"} | json | b=~"c.d"`;
    assert.deepEqual(await parseLogqlQuery(text, neverYield), parseLogql(text));
  });
});

describe("formatting", () => {
  const long = `|= "${"x".repeat(60)}"`;

  for (const [title, query, lines] of [
    ["a short query stays on its line", '{a="b"}|json|c="d"', ['{a="b"} | json | c="d"']],
    [
      "every stage of a long query gets a line; line filters share one while they fit",
      `{app="a"} |= "x" != "y" ${long} | json | drop b,c | unpack`,
      ['{app="a"}', `  |= "x" != "y" ${long}`, "  | json", "  | drop b,c", "  | unpack"],
    ],
    [
      "line filters that do not fit get lines of their own",
      `{app="a"} |= "x" or "y" ${long} ${long} != "y"`,
      ['{app="a"}', `  |= "x" or "y" ${long}`, `  ${long}`, '  != "y"'],
    ],
    [
      "arguments and ranges",
      `topk by (a, b) (5, quantile_over_time(0.99, {app="a"} ${long} | json | unwrap duration(x) | __error__="" [5m] offset 1h) by (c))`,
      [
        "topk by (a, b)(",
        "  5,",
        "  quantile_over_time(",
        "    0.99,",
        `    {app="a"} ${long} | json`,
        "      | unwrap duration(x)",
        '      | __error__="" [5m] offset 1h',
        "  ) by (c)",
        ")",
      ],
    ],
    [
      "operators, with the parentheses that they need",
      `(rate({app="a"} ${long} [5m]) + vector(1)) * on (x) group_left (y) rate({app="a"} ${long} [5m])`,
      [
        "  (",
        `      rate({app="a"} ${long}[5m])`,
        "    +",
        "      vector(1.000000)",
        "  )",
        "* on (x) group_left (y)",
        `  rate({app="a"} ${long}[5m])`,
      ],
    ],
    [
      "label_replace",
      `label_replace(rate({app="a"} ${long} [5m]), "some_label", "$1", "other_label", "(.*)")`,
      [
        "label_replace(",
        `  rate({app="a"} ${long}[5m]),`,
        '  "some_label",',
        '  "$1",',
        '  "other_label",',
        '  "(.*)"',
        ")",
      ],
    ],
  ] as const) {
    test(title, () => {
      const formatted = formatLogql(parseLogql(query));
      assert.deepEqual(formatted.split("\n"), lines);
      assert.equal(withoutBlanks(formatLogql(parseLogql(formatted))), withoutBlanks(formatted));
    });
  }
});

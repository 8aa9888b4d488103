/** Queries that the parser refuses: their errors, and limits on their size. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "@sounding/promql/query-error";
import { parseLogql, parseLogqlQuery } from "../src/syntax/parse-query.ts";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { propertyRuns } from "../../../test/support/property-runs.ts";

describe("what is refused", () => {
  for (const [query, message] of [
    ["", /^parse error at line 1, col 1: syntax error: unexpected end of input/],
    ["{}", /^parse error at line 1, col 1: a stream selector needs at least one matcher/],
    ['{a=~".*"}', /needs at least one matcher/],
    ['{a!="b"}', /needs at least one matcher/],
    ['{a="b"', /^parse error at line 1, col 7: syntax error: unexpected end of input, expecting , or }/],
    ["{a='b'}", /^parse error at line 1, col 4: unexpected ': strings need double quotes or backticks/],
    ['{a="b}', /^parse error at line 1, col 4: literal not terminated/],
    ['{a="\\q"}', /invalid escape sequence/],
    ['{a=~"("}', /^parse error at line 1, col 1: error parsing regexp: missing closing \)/],
    ['{é="b"}\n| json\n  | x=~"["', /^parse error at line 3, col 3: error parsing regexp/],
    ['{json="b"}', /^parse error at line 1, col 2: syntax error: unexpected json, expecting IDENTIFIER/],
    ['{a="b"} | jsn', /^parse error at line 1, col 11: unknown stage "jsn". Did you mean "json"\?/],
    ['{a="b"} | json | x', /^parse error at line 1, col 18: unknown stage "x"/],
    ['{a="b"} |= 5', /unexpected NUMBER 5, expecting STRING or ip/],
    ['{a="b"} | unwrap x', /unexpected \|/],
    ['{a="b"} + 1', /^parse error at line 1, col 1: a log query cannot be left of \+/],
    ['rate({a="b"}[5m]) + {a="b"}', /a log query cannot be right of \+/],
    ['sum({a="b"})', /a log query cannot be aggregated by sum/],
    ['rte({a="b"}[5m])', /^parse error at line 1, col 1: unknown function "rte". Did you mean "rate"\?/],
    [
      'variants(rate({a="b"}[5m])) of ({a="b"}[5m])',
      /variants\(…\) of \(…\) is experimental in Loki and not available/,
    ],
    ['rate({a="b"})', /unexpected \), expecting RANGE, such as \[5m\]/],
    ['rate({a="b"}[5m)', /missing closing '\]' in duration/],
    ['rate({a="b"}[5 minutes])', /not a valid duration string/],
    ['rate({a="b"}[5m]) by (x)', /grouping not allowed for rate aggregation/],
    ['sum_over_time({a="b"}[5m])', /invalid aggregation sum_over_time without unwrap/],
    ['count_over_time({a="b"} | unwrap x [5m])', /invalid aggregation count_over_time with unwrap/],
    ['rate_counter({a="b"}[5m])', /invalid aggregation rate_counter without unwrap/],
    ['quantile_over_time({a="b"} | unwrap x [5m])', /quantile_over_time needs a number/],
    ['rate(5, {a="b"}[5m])', /rate takes no parameter/],
    ['rate({a="b"} | unwrap x | json [5m])', /only label filters may follow unwrap/],
    ['topk(rate({a="b"}[5m]))', /parameter required for operation topk/],
    ['topk(0, rate({a="b"}[5m]))', /invalid parameter 0 of topk/],
    ['topk(1.5, rate({a="b"}[5m]))', /invalid parameter 1.5 of topk/],
    ['sum(5, rate({a="b"}[5m]))', /sum takes no parameter/],
    ['approx_topk(5, rate({a="b"}[5m])) by (x)', /grouping not allowed for approx_topk/],
    ['sort(rate({a="b"}[5m])) by (x)', /grouping not allowed for sort/],
    [
      'rate({a="b"}[5m]) and 1',
      /unexpected literal for right leg of logical\/set binary operation \(and\): use vector\(1\)/,
    ],
    ["1 or 2", /unexpected literal for left leg/],
    ['label_replace(vector(1), "a", "b", "c", "(")', /invalid regex in label_replace/],
    ['label_replace(vector(1), "a", "b")', /STRING src_label/],
    ['{a="b"} | label_format x=y, x="z"', /label_format sets x twice/],
    ['{a="b"} | label_format __error__="z"', /label_format cannot set __error__/],
    ["vector(-1)", /unexpected -, expecting NUMBER/],
    ["1e999", /unable to parse literal as a float: 1e999 is out of range/],
    ["0x1A + 1", /unable to parse literal as a float: 0x1A: use decimal digits/],
    ["0xp1", /unable to parse literal as a float: 0xp1/],
    ["1 2", /unexpected NUMBER 2/],
    ["1 + ", /unexpected end of input/],
    ["$x", /unexpected character "\$"/],
    [`${"(".repeat(50_000)}1`, /nested more than 200 levels/],
    [`rate(${"(".repeat(50_000)}`, /nested more than 200 levels/],
    [`{a="b"} | ${"(".repeat(50_000)}`, /nested more than 200 levels/],
    [`1${" + 1".repeat(1001)}`, /more than 1000 operators and stages/],
    [`1${" ^ 1".repeat(1001)}`, /more than 1000 operators|nested more than 200/],
    [`{a="b"}${" | json".repeat(1001)}`, /more than 1000 operators and stages/],
    [`{a="b"} |= "x"${' or "x"'.repeat(1001)}`, /more than 1000 operators and stages/],
    [`{a="b"} | x=1${", x=1".repeat(1001)}`, /more than 1000 operators and stages/],
    [`{a="${"b".repeat(131_072)}"}`, /the limit is 131072/],
    ["1.".repeat(60_000), /unexpected NUMBER/],
    ["1m".repeat(60_000), /unexpected/],
  ] as const) {
    test(query.length > 60 ? `${query.slice(0, 60)}…` : JSON.stringify(query), () => {
      assert.throws(
        () => parseLogql(query),
        (error: unknown) => {
          assert.ok(error instanceof QueryError, String(error));
          assert.deepEqual([error.code, error.param], ["invalid_request", "query"]);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  for (const [title, query, message] of [
    ["too many matchers", `{${'a="b",'.repeat(1000)}a="b"}`, /1001 label matchers, the limit is 1000/],
    [
      "too many range aggregations",
      `rate({a="b"}[1m])${' + rate({a="b"}[1m])'.repeat(100)}`,
      /101 range aggregations, the limit is 100/,
    ],
    [
      "expressions that are too large together",
      `{a="b"} | ${Array.from({ length: 20 }, (_, index) => `x=~"(abcde|f){${500 + index}}"`).join(", ")}`,
      /instructions or more, the limit is 50000/,
    ],
  ] as const) {
    test(title, async () => {
      await assert.rejects(parseLogqlQuery(query, neverYield), { code: "invalid_request", message });
    });
  }

  test("garbage never throws anything but a QueryError", () => {
    const pieces = fc.constantFrom(
      "rate",
      "sum",
      "(",
      ")",
      "{",
      "}",
      "[5m]",
      "[",
      "5m",
      "5KB",
      "a",
      "by",
      "=",
      "!=",
      "|=",
      "|",
      '"x"',
      "ip",
      "or",
      "json",
      "unwrap",
      "offset",
      "+",
      "-",
      ",",
      "#",
      "\\",
      "1e",
      "bool",
      "--strict",
      "drop",
      "label_format",
      "/*",
      "on",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 14 }), (words) => {
        try {
          parseLogql(words.join(" "));
        } catch (error) {
          assert.ok(error instanceof QueryError, String(error));
        }
      }),
      { numRuns: propertyRuns(3000) },
    );
  });
});

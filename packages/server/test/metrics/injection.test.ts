import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assert as check, constantFrom, oneof, property, record, string, subarray } from "fast-check";
import { MetricsQuery } from "../../src/api/observability-metrics.ts";
import { validate } from "../../src/api/validate.ts";
import { AppError } from "../../src/errors.ts";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { checkCall } from "../../src/query/metrics/presets/preset-call.ts";
import { createMetricPresets } from "../../src/query/metrics/presets/metric-presets.ts";
import { isMatchedBy } from "../../src/query/metrics/label-matching.ts";
import { matcherFilters } from "../../src/query/metrics/presets/preset.ts";
import { childrenOf, type Expression, type LabelMatcher } from "@sounding/promql/syntax/ast";
import { parseExpression } from "@sounding/promql/syntax/parse";
import { printExpression } from "@sounding/promql/syntax/print";
import { completeRates } from "../../src/pricing/model-price.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const presets = createMetricPresets({
  ratesOf: () => ({ 'a"} or up{b="': completeRates({ input: 1, output: 2 }) }),
  configured: {
    own: {
      query: 'sum(increase(inference_requests_total{model_key=~"$model_key",agent_name!="$agent_name"}[range()]))',
    },
  },
});

const awkward = [
  '"',
  "'",
  "`",
  "\\",
  '\\"',
  '"}',
  '"} or up{a="',
  "{",
  "}",
  "\n",
  "\r",
  "\0",
  "\u0001",
  "$model_key",
  "${x}",
  "é",
  "日本",
  "😀",
  "\u2028",
  "\ud800",
  "#",
  "[1h]",
  ") or vector(1) #",
  ".*",
  "a|b",
];
const text = oneof(
  string({ minLength: 1, unit: "binary" }),
  constantFrom(...awkward),
  subarray(awkward, { minLength: 1 }).map((parts) => parts.join("")),
);

/** Without the positions in the text. */
function bare(expression: Expression): unknown {
  return JSON.parse(JSON.stringify(expression, (name, value: unknown) => (name === "at" ? undefined : value)));
}

function matchersIn(expression: Expression): LabelMatcher[] {
  const own = expression.kind === "vector-selector" ? expression.matchers : [];
  return [...own, ...childrenOf(expression).flatMap(matchersIn)];
}

function checkPreset(name: string, values: Readonly<Record<string, string>>): void {
  const preset = presets.find(name);
  const given = Object.fromEntries(
    Object.entries(values).filter(([filter]) => (preset.filters as readonly string[]).includes(filter)),
  );
  const call = checkCall(preset, { metric: name, ...given }, { nowMs: 1e12, project: given["project_name"] });
  const built = preset.build(call);
  const parsed = parseExpression(printExpression(built));
  assert.deepEqual(bare(parsed), bare(built));
  const harmless = preset.build({
    ...call,
    matchers: call.matchers.map((matcher) => ({ ...matcher, value: "x" })),
  });
  const shape = (expression: Expression) =>
    matchersIn(expression).map(({ name: label, operator }) => [label, operator]);
  assert.deepEqual(shape(parsed), shape(harmless));
  for (const matcher of matchersIn(parsed)) {
    if (given[matcher.name] === undefined || matcher.name === "status") continue;
    const isPattern = matcher.operator === "=~";
    if (isPattern)
      assert.ok(isMatchedBy(new Map([[matcher.name, given[matcher.name]!]]), [matcher], neverYield) === true);
    else assert.equal(matcher.value, given[matcher.name]);
  }
}

/** Text that must never become part of a query: a parameter that is not free text is refused. */
const closedParameters = ["status", "category", "percentile", "time_window", "step"] as const;

function checkRefused(name: string, parameter: (typeof closedParameters)[number], value: string): void {
  const preset = presets.find(name);
  const takesIt =
    parameter === "time_window" || parameter === "step" || preset.filters.some((each) => each === parameter);
  const query = { metric: name, [parameter]: value };
  const call = () => {
    validate(MetricsQuery, query);
    checkCall(preset, query, { nowMs: 1e12, project: undefined });
  };
  if (!takesIt) assert.throws(call, new RegExp(`does not support the filter ${parameter}|${parameter}`));
  else assert.throws(call, (error) => error instanceof AppError && error.param === parameter);
}

const stringFilters = matcherFilters.filter((filter) => filter !== "status" && filter !== "category");
const priced = new Set(["token_cost"]);

describe("no filter value changes the structure of a query", () => {
  for (const { name } of presets.all.filter((preset) => !priced.has(preset.name))) {
    test(name, () => {
      const values = record(Object.fromEntries(stringFilters.map((filter) => [filter, text])));
      check(
        property(values, (given) => checkPreset(name, given)),
        { numRuns: propertyRuns(60) },
      );
    });
  }

  test("nor does the name of a priced model", () => checkPreset("token_cost", { agent_name: '"}' }));

  describe("nor a megabyte of text", () => {
    const long = '"} or up{a="\\\n\0é'.repeat(66_000);
    assert.ok(long.length > 1_048_576);
    const unpriced = presets.all.filter((preset) => !priced.has(preset.name));
    const takes = ({ filters }: (typeof unpriced)[number], filter: string): boolean =>
      (filters as readonly string[]).includes(filter);
    // Each preset once and each filter once: all presets build their matchers in one function.
    const cases = new Map<string, (typeof stringFilters)[number]>();
    for (const preset of unpriced) {
      const filter = stringFilters.find((each) => takes(preset, each));
      if (filter !== undefined) cases.set(preset.name, filter);
    }
    const covered = new Set(cases.values());
    const others = stringFilters.filter((filter) => !covered.has(filter));
    for (const [name, filter] of [
      ...cases,
      ...others.map((filter) => [unpriced.find((preset) => takes(preset, filter))!.name, filter] as const),
    ]) {
      test(`${filter} of ${name}`, () => checkPreset(name, { [filter]: long }));
    }
  });

  describe("nor an invalid status, category, percentile or time", () => {
    for (const { name } of presets.all.filter((preset) => !priced.has(preset.name))) {
      test(name, () => {
        check(
          property(constantFrom(...closedParameters), text, (parameter, value) =>
            // The empty text selects the default of `step`, a number may be a percentile.
            /^\s*(?:[\d.eE+-]*|0x\w+)\s*$/.test(value) ? undefined : checkRefused(name, parameter, value),
          ),
          { numRuns: propertyRuns(40) },
        );
        for (const parameter of closedParameters) checkRefused(name, parameter, '"}\0'.repeat(300_000));
      });
    }
  });
});

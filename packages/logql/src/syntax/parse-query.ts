/** Parses callers' queries: their size is bounded, and long work yields to other requests. */
import { QueryError } from "@sounding/promql/query-error";
import { inputLimit } from "@sounding/promql/input-limit";
import { compileMatcher } from "@sounding/promql/series/matcher";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelMatcher, LogqlExpression } from "./ast.ts";
import { checkQuery } from "./check.ts";
import { logQueriesIn, rangeAggregationsIn } from "./children.ts";
import { matchersOfStage, matchersOfUnwrap } from "./matchers-of.ts";
import { parseError } from "./parse-error.ts";
import { parseTree } from "./parse.ts";

/** Characters of a query. */
const maximumQueryCharacters = inputLimit({
  area: "LogQL",
  bounds: "Length of a query",
  value: 131_072,
  unit: "characters",
  error: "invalid_request",
});
/** Range aggregations of a query; each reads entries. */
const maximumRangeAggregations = inputLimit({
  area: "LogQL",
  bounds: "Range aggregations of a query",
  value: 100,
  error: "invalid_request",
});
/** Label matchers of a query, in selectors and stages. */
const maximumMatchers = inputLimit({
  area: "LogQL",
  bounds: "Label matchers of a query, in selectors and stages",
  value: 1000,
  error: "invalid_request",
});
/** Instructions that the regular expressions of all matchers of a query may compile to. */
const maximumQueryInstructions = inputLimit({
  area: "LogQL",
  bounds: "Instructions that the regular expressions of a query's label matchers compile to together",
  value: 50_000,
  error: "invalid_request",
});

/** The cost of reading a character, and of compiling an instruction, in the unit of the yield budget. */
const workOfCharacter = 16;
const workOfInstruction = 256;

/** The tree of a query; throws a QueryError `invalid_request` with the position of the problem. */
export async function parseLogqlQuery(text: string, yieldBudget: YieldBudget): Promise<LogqlExpression> {
  const expression = parseBounded(text);
  if (yieldBudget.spend(text.length * workOfCharacter)) await yieldBudget.yield();
  let instructions = 0;
  for (const matcher of matchersIn(expression, text)) {
    const compiled = compileMatcher(matcher);
    // The checks report the problem.
    if ("problem" in compiled) continue;
    instructions += compiled.instructions;
    if (instructions > maximumQueryInstructions) {
      const problem = `the regular expressions of the query need ${instructions} instructions or more`;
      throw parseError(text, expression.at, `${problem}, the limit is ${maximumQueryInstructions}`);
    }
    if (yieldBudget.spend(compiled.instructions * workOfInstruction)) await yieldBudget.yield();
  }
  checkQuery(expression, text);
  return expression;
}

/** The tree of a query of our own, at once. */
export function parseLogql(text: string): LogqlExpression {
  const expression = parseBounded(text);
  checkQuery(expression, text);
  return expression;
}

function parseBounded(text: string): LogqlExpression {
  if (text.length <= maximumQueryCharacters) return parseTree(text);
  throw new QueryError(
    "invalid_request",
    `The query has ${text.length} characters, the limit is ${maximumQueryCharacters}. Send a shorter query.`,
    { param: "query" },
  );
}

function matchersIn(expression: LogqlExpression, text: string): readonly LabelMatcher[] {
  const ranges = rangeAggregationsIn(expression);
  if (ranges.length > maximumRangeAggregations) {
    const problem = `the query has ${ranges.length} range aggregations, the limit is ${maximumRangeAggregations}`;
    throw parseError(text, ranges[maximumRangeAggregations]!.at, problem);
  }
  const matchers = [
    ...logQueriesIn(expression).flatMap((query) => [...query.matchers, ...query.stages.flatMap(matchersOfStage)]),
    ...ranges.flatMap(({ unwrap }) => matchersOfUnwrap(unwrap)),
  ];
  if (matchers.length <= maximumMatchers) return matchers;
  const problem = `the query has ${matchers.length} label matchers, the limit is ${maximumMatchers}`;
  throw parseError(text, expression.at, problem);
}

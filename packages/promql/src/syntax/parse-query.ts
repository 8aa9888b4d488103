/** Parses callers' queries: their size is bounded, and long work yields to other requests. */
import { QueryError } from "../query-error.ts";
import { inputLimit } from "../input-limit.ts";
import type { YieldBudget } from "../regex/yield-budget.ts";
import { compileMatcher } from "../series/matcher.ts";
import { childrenOf, type Expression, type VectorSelector } from "./ast.ts";
import { checkTypes } from "./check.ts";
import { parseError } from "./parse-error.ts";
import { parseTree } from "./parse.ts";

/** Characters of a query. */
const maximumQueryCharacters = inputLimit({
  area: "PromQL",
  bounds: "Length of a query",
  value: 65_536,
  unit: "characters",
  error: "invalid_request",
});
/** Selectors of a query; each different one is requested from the store. */
const maximumSelectors = inputLimit({
  area: "PromQL",
  bounds: "Selectors of a query",
  value: 100,
  error: "invalid_request",
});
/** Label matchers of a query. */
const maximumMatchers = inputLimit({
  area: "PromQL",
  bounds: "Label matchers of a query",
  value: 1000,
  error: "invalid_request",
});
/** Instructions that all regular expressions of a query may compile to. */
const maximumQueryInstructions = inputLimit({
  area: "PromQL",
  bounds: "Instructions that the regular expressions of a query compile to together",
  value: 50_000,
  error: "invalid_request",
});

/** The cost of reading a character, in samples. */
const workOfCharacter = 16;
/** The cost of compiling an instruction, in samples. */
const workOfInstruction = 256;

/** What one request's queries have together. */
export class QuerySize {
  selectors = 0;
  matchers = 0;
  instructions = 0;
}

/** The tree of a query; throws a QueryError `invalid_request` with the position of the problem. */
export async function parseQuery(text: string, yieldBudget: YieldBudget, size = new QuerySize()): Promise<Expression> {
  if (text.length > maximumQueryCharacters) {
    throw new QueryError(
      "invalid_request",
      `The query has ${text.length} characters, the limit is ${maximumQueryCharacters}. Send a shorter query.`,
      { param: "query" },
    );
  }
  const expression = parseTree(text);
  if (yieldBudget.spend(text.length * workOfCharacter)) await yieldBudget.yield();
  for (const selector of selectorsIn(expression)) {
    addSelector(selector, { text, size });
    for (const matcher of selector.matchers) {
      const compiled = compileMatcher(matcher);
      // The type checker reports the problem.
      if ("problem" in compiled) continue;
      size.instructions += compiled.instructions;
      if (size.instructions > maximumQueryInstructions) {
        const problem = `error parsing regexp: the expressions of the query need ${size.instructions} instructions or more`;
        throw parseError(text, selector.at, `${problem}, the limit is ${maximumQueryInstructions}`);
      }
      if (yieldBudget.spend(compiled.instructions * workOfInstruction)) await yieldBudget.yield();
    }
  }
  checkTypes(expression, text);
  return expression;
}

function addSelector(
  selector: VectorSelector,
  { size, text }: { readonly size: QuerySize; readonly text: string },
): void {
  size.selectors += 1;
  size.matchers += selector.matchers.length;
  if (size.selectors > maximumSelectors) {
    throw parseError(text, selector.at, `the query has more than ${maximumSelectors} selectors, the limit`);
  }
  if (size.matchers > maximumMatchers) {
    throw parseError(text, selector.at, `the query has more than ${maximumMatchers} label matchers, the limit`);
  }
}

function selectorsIn(expression: Expression): VectorSelector[] {
  const found: VectorSelector[] = [];
  const open: Expression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.kind === "vector-selector") found.push(node);
    else open.push(...childrenOf(node).toReversed());
  }
  return found;
}

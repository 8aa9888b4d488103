/** The type checker: what Prometheus refuses before it evaluates, with the same words. */
import type { BinaryExpression, Call, Expression, ValueType, VectorSelector } from "./ast.ts";
import { withoutParentheses } from "./ast.ts";
import { functionSignatures } from "./functions.ts";
import { compileMatcher } from "../series/matcher.ts";
import { metricNameLabel } from "./parse-selector.ts";
import { parseError } from "./parse-error.ts";
import { quoteForMessage } from "./string-literal.ts";

const typeNames: Readonly<Record<ValueType, string>> = {
  scalar: "scalar",
  vector: "instant vector",
  matrix: "range vector",
  string: "string",
};

/** The type's name in documentation and errors. */
export function documentedType(type: ValueType): string {
  return typeNames[type];
}

const typesOfOperators = new WeakMap<BinaryExpression, ValueType>();

/** What an expression evaluates to. */
export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "vector-selector":
    case "aggregation":
      return "vector";
    case "matrix-selector":
    case "subquery":
      return "matrix";
    case "unary":
      return typeOf(expression.operand);
    case "parentheses":
      return typeOf(expression.inner);
    case "call":
      return functionSignatures.get(expression.function)?.returns ?? "vector";
    case "binary": {
      // Cached: in a long chain, every outer operator asks each inner one.
      let type = typesOfOperators.get(expression);
      if (type === undefined) {
        const isScalar = typeOf(expression.left) === "scalar" && typeOf(expression.right) === "scalar";
        typesOfOperators.set(expression, (type = isScalar ? "scalar" : "vector"));
      }
      return type;
    }
  }
}

/** Throws a QueryError `invalid_request` where types do not fit; `text` is what the positions refer to. */
export function checkTypes(expression: Expression, text: string): void {
  const check = (child: Expression): void => checkTypes(child, text);
  const fail = (at: Expression, problem: string): never => {
    throw parseError(text, at.at, problem);
  };
  const expectType = (child: Expression, wanted: ValueType, context: string): void => {
    check(child);
    const actual = typeOf(child);
    if (actual !== wanted) fail(child, `expected type ${typeNames[wanted]} in ${context}, got ${typeNames[actual]}`);
  };
  switch (expression.kind) {
    case "number":
    case "string":
      return;
    case "vector-selector":
      return checkSelector(expression, fail, false);
    case "matrix-selector":
      return checkSelector(expression.selector, fail, false);
    case "parentheses":
      return check(expression.inner);
    case "subquery": {
      check(expression.expression);
      const type = typeOf(expression.expression);
      if (type !== "vector") fail(expression, `subquery is only allowed on instant vector, got ${type} instead`);
      return;
    }
    case "aggregation":
      expectType(expression.expression, "vector", "aggregation expression");
      if (expression.parameter === null) return;
      expectType(
        expression.parameter,
        expression.operator === "count_values" ? "string" : "scalar",
        "aggregation parameter",
      );
      return;
    case "unary": {
      check(expression.operand);
      const type = typeOf(expression.operand);
      if (type === "scalar" || type === "vector") return;
      const allowed = "unary expression only allowed on expressions of type scalar or instant vector";
      return fail(expression, `${allowed}, got "${typeNames[type]}"`);
    }
    case "binary":
      check(expression.left);
      check(expression.right);
      return checkBinary(expression, fail);
    case "call":
      return checkCall(expression, expectType, fail);
  }
}

type Fail = (at: Expression, problem: string) => never;

function checkSelector(selector: VectorSelector, fail: Fail, mayMatchAll: boolean): void {
  for (const matcher of selector.matchers) {
    const compiled = compileMatcher(matcher);
    if ("problem" in compiled) fail(selector, compiled.problem);
  }
  if (selector.name !== null) {
    const second = selector.matchers.slice(0, -1).find((matcher) => matcher.name === metricNameLabel);
    if (second === undefined) return;
    const names = `${quoteForMessage(selector.name)} or ${quoteForMessage(second.value)}`;
    fail(selector, `metric name must not be set twice: ${names}`);
  }
  const matchesNothing = selector.matchers.some((matcher) => {
    const compiled = compileMatcher(matcher);
    return "matches" in compiled && !compiled.matchesEmpty;
  });
  if (!mayMatchAll && !matchesNothing) fail(selector, "vector selector must contain at least one non-empty matcher");
}

const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
const setOperators: ReadonlySet<string> = new Set(["and", "or", "unless"]);

function checkBinary(binary: BinaryExpression, fail: Fail): void {
  const left = typeOf(binary.left);
  const right = typeOf(binary.right);
  const { matching, operator } = binary;
  if (binary.returnBool && !comparisons.has(operator)) {
    fail(binary, "bool modifier can only be used on comparison operators");
  }
  if (comparisons.has(operator) && !binary.returnBool && left === "scalar" && right === "scalar") {
    fail(binary, "comparisons between scalars must use BOOL modifier");
  }
  const twice = matching?.on === true ? matching.labels.find((label) => matching.include.includes(label)) : undefined;
  if (twice !== undefined) {
    fail(binary, `label ${quoteForMessage(twice)} must not occur in ON and GROUP clause at once`);
  }
  for (const side of [binary.left, binary.right]) {
    const type = typeOf(side);
    if (type === "scalar" || type === "vector") continue;
    fail(side, "binary expression must contain only scalar and instant vector types");
  }
  const hasFill = matching !== null && (matching.fillLeft !== null || matching.fillRight !== null);
  if (left !== "vector" || right !== "vector") {
    if ((matching?.labels.length ?? 0) > 0) fail(binary, "vector matching only allowed between instant vectors");
    if (hasFill) fail(binary, "filling in missing series only allowed between instant vectors");
    if (setOperators.has(operator)) fail(binary, `set operator "${operator}" not allowed in binary scalar expression`);
    return;
  }
  if (!setOperators.has(operator)) return;
  if (matching?.cardinality !== "many-to-many") fail(binary, `no grouping allowed for "${operator}" operation`);
  if (hasFill) fail(binary, "filling in missing series not allowed for set operators");
}

function checkCall(
  call: Call,
  expectType: (child: Expression, wanted: ValueType, context: string) => void,
  fail: Fail,
): void {
  const signature = functionSignatures.get(call.function);
  if (signature === undefined) return fail(call, `unknown function with name "${call.function}"`);
  checkArgumentCount(call, fail);
  for (const [index, argument] of call.arguments.entries()) {
    if (call.function === "info" && index === 1) {
      checkInfoSelector(argument, fail);
      continue;
    }
    const wanted = signature.arguments[Math.min(index, signature.arguments.length - 1)]!;
    if (wanted === "string" && withoutParentheses(argument).kind !== "string") {
      fail(argument, `expected type string in call to function "${call.function}", got ${typeNames[typeOf(argument)]}`);
    }
    expectType(argument, wanted, `call to function "${call.function}"`);
  }
}

function checkArgumentCount(call: Call, fail: Fail): void {
  const { arguments: parameters, variadic } = functionSignatures.get(call.function)!;
  const count = call.arguments.length;
  const problem = (bound: string): never => fail(call, `expected ${bound} in call to "${call.function}", got ${count}`);
  if (variadic === 0 && count !== parameters.length) problem(`${parameters.length} argument(s)`);
  if (variadic === 0) return;
  const minimum = parameters.length - 1;
  if (count < minimum) problem(`at least ${minimum} argument(s)`);
  if (variadic > 0 && count > minimum + variadic) problem(`at most ${minimum + variadic} argument(s)`);
}

/** The second argument of `info` looks like a selector, but only selects labels: it has no name and may match all. */
function checkInfoSelector(argument: Expression, fail: Fail): void {
  if (argument.kind !== "vector-selector") return fail(argument, "expected label selectors only");
  if (argument.name !== null) fail(argument, "expected label selectors only, got vector selector instead");
  checkSelector(argument, fail, true);
}

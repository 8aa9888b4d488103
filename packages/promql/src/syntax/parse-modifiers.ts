/** What may follow an expression: a range or subquery in brackets, `offset`, `@`, `anchored` and `smoothed`. */
import type { AtModifier, DurationExpression, Expression, VectorSelector } from "./ast.ts";
import { literalSeconds, parseOffset, parsePositiveDuration } from "./parse-duration-expression.ts";
import type { TokenStream } from "./token-stream.ts";

/** The expression with all the modifiers that follow it. */
export function parseModifiers(stream: TokenStream, expression: Expression): Expression {
  let result = expression;
  for (;;) {
    if (stream.isSign("[")) result = parseBrackets(stream, result);
    else if (stream.isKeyword("offset")) result = parseOffsetModifier(stream, result);
    else if (stream.isSign("@")) result = parseAtModifier(stream, result);
    else if (stream.isKeyword("anchored")) result = parseBoundary(stream, result, "anchored");
    else if (stream.isKeyword("smoothed")) result = parseBoundary(stream, result, "smoothed");
    else return result;
  }
}

function parseBrackets(stream: TokenStream, expression: Expression): Expression {
  const open = stream.nextOperator();
  const range = parsePositiveDuration(stream, "subquery or range selector");
  if (stream.takeIf("]")) {
    const problem = rangeProblem(expression);
    if (problem !== undefined) throw stream.error(open, problem);
    const at = Object.freeze({ start: expression.at.start, end: stream.lastEnd });
    return Object.freeze({ kind: "matrix-selector", selector: expression as VectorSelector, range, at });
  }
  stream.expectSign(":", "subquery or range", '":" or "]"');
  let step: DurationExpression | null = null;
  if (!stream.isSign("]")) step = parsePositiveDuration(stream, "subquery selector");
  stream.expectSign("]", "subquery selector");
  return Object.freeze({
    kind: "subquery",
    expression,
    range,
    step,
    offset: null,
    atTime: null,
    at: Object.freeze({ start: expression.at.start, end: stream.lastEnd }),
  });
}

function rangeProblem(expression: Expression): string | undefined {
  if (expression.kind !== "vector-selector") return "ranges only allowed for vector selectors";
  if (expression.offset !== null) return "no offset modifiers allowed before range";
  if (expression.atTime !== null) return "no @ modifiers allowed before range";
  return undefined;
}

function parseOffsetModifier(stream: TokenStream, expression: Expression): Expression {
  stream.next();
  const offset = parseOffset(stream);
  return modified(stream, expression, {
    name: "offset modifier",
    apply: (target) => {
      if (target.offset !== null) throw stream.error(expression.at, "offset may not be set multiple times");
      return { offset };
    },
  });
}

function parseAtModifier(stream: TokenStream, expression: Expression): Expression {
  stream.next();
  const atTime = parseAtTime(stream);
  return modified(stream, expression, {
    name: "@ modifier",
    apply: (target) => {
      if (target.atTime !== null) throw stream.error(expression.at, "@ <timestamp> may not be set multiple times");
      return { atTime };
    },
  });
}

function parseAtTime(stream: TokenStream): AtModifier {
  for (const word of ["start", "end"] as const) {
    if (!stream.isKeyword(word)) continue;
    stream.next();
    stream.expectSign("(", "@", '"("');
    stream.expectSign(")", "@", '")"');
    return word;
  }
  const signToken = stream.isSign("-") || stream.isSign("+") ? stream.next() : undefined;
  const token = stream.peek();
  if (token.kind !== "number" && token.kind !== "duration") throw stream.unexpected("@", "timestamp");
  stream.next();
  const seconds = literalSeconds(stream, token) * (signToken?.text === "-" ? -1 : 1);
  if (!Number.isSafeInteger(Math.trunc(seconds * 1000))) {
    throw stream.error(token, `timestamp out of bounds for @ modifier: ${seconds}`);
  }
  return roundHalfAway(seconds * 1000);
}

/** Go's `math.Round`; adding zero turns -0 into 0. */
function roundHalfAway(value: number): number {
  return Math.sign(value) * Math.round(Math.abs(value)) + 0;
}

type TimeModifiers = Pick<VectorSelector, "offset" | "atTime">;

interface Modification {
  readonly name: string;
  readonly apply: (target: TimeModifiers) => Partial<TimeModifiers>;
}

function modified(stream: TokenStream, expression: Expression, modification: Modification): Expression {
  const at = Object.freeze({ start: expression.at.start, end: stream.lastEnd });
  if (expression.kind === "matrix-selector") {
    const selector = { ...expression.selector, ...modification.apply(expression.selector) };
    return Object.freeze({ ...expression, selector: Object.freeze(selector), at });
  }
  if (expression.kind === "vector-selector" || expression.kind === "subquery") {
    return Object.freeze({ ...expression, ...modification.apply(expression), at });
  }
  const allowed = "an instant vector selector or range vector selector or a subquery";
  throw stream.error(expression.at, `${modification.name} must be preceded by ${allowed}`);
}

function parseBoundary(stream: TokenStream, expression: Expression, boundary: "anchored" | "smoothed"): Expression {
  stream.next();
  const target = expression.kind === "matrix-selector" ? expression.selector : expression;
  if (target.kind === "subquery") {
    throw stream.error(expression.at, `${boundary} modifier is not supported for subqueries`);
  }
  if (target.kind !== "vector-selector") throw stream.error(expression.at, `${boundary} modifier not implemented`);
  if (target.boundary !== null && target.boundary !== boundary) {
    throw stream.error(expression.at, "anchored and smoothed modifiers cannot be used together");
  }
  const at = Object.freeze({ start: expression.at.start, end: stream.lastEnd });
  if (expression.kind === "matrix-selector") {
    return Object.freeze({ ...expression, selector: Object.freeze({ ...target, boundary }), at });
  }
  return Object.freeze({ ...target, boundary, at });
}

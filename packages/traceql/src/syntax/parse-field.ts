/** Parses expressions on one span: `.a = 1 && duration > 2s`. */
import type {
  AttributeField,
  FieldExpression,
  FieldOperation,
  IntrinsicField,
  KindValue,
  StaticField,
  StaticValue,
  StatusValue,
} from "./ast.ts";
import { kindValues, plainIntrinsics, scopedIntrinsics, statusValues } from "./intrinsics.ts";
import type { TokenStream } from "./token-stream.ts";

/** How tightly operators bind. As in Tempo, `&&` and `||` bind alike. */
export const fieldPrecedence: Readonly<Record<FieldOperation["operator"], number>> = {
  "&&": 1,
  "||": 1,
  "=": 2,
  "!=": 2,
  "<": 2,
  "<=": 2,
  ">": 2,
  ">=": 2,
  "=~": 2,
  "!~": 2,
  "+": 3,
  "-": 3,
  "*": 5,
  "/": 5,
  "%": 5,
  "^": 6,
};
/** `!` binds tighter than `+`, and `-x` as `-` between two operands: `-a * b` is `-(a * b)`. */
const unaryPrecedence = { "-": 3, "!": 4 } as const;

/** An expression; `nil` is allowed only next to `=` and `!=`. */
export function parseFieldExpression(tokens: TokenStream): FieldExpression {
  const expression = parseOperations(tokens, 1);
  rejectNil(tokens, expression);
  return expression;
}

function parseOperations(tokens: TokenStream, lowest: number): FieldExpression {
  let left = parseOperand(tokens);
  for (;;) {
    const token = tokens.peek();
    if (token.kind !== "sign" || !(token.text in fieldPrecedence)) return left;
    const operator = token.text as FieldOperation["operator"];
    const precedence = fieldPrecedence[operator];
    if (precedence < lowest) return left;
    tokens.nextOperator();
    const right = parseOperations(tokens, operator === "^" ? precedence : precedence + 1);
    if (operator !== "=" && operator !== "!=") {
      rejectNil(tokens, left);
      rejectNil(tokens, right);
    }
    left = { kind: "field-operation", operator, left, right, at: { start: left.at.start, end: right.at.end } };
  }
}

function rejectNil(tokens: TokenStream, expression: FieldExpression): void {
  if (expression.kind === "static" && expression.value.type === "nil") {
    throw tokens.error(expression.at, "nil can only be compared: use = nil or != nil");
  }
}

function parseOperand(tokens: TokenStream): FieldExpression {
  const { start } = tokens.peek();
  if (tokens.isSign("(")) {
    tokens.nextOperator();
    const inner = parseFieldExpression(tokens);
    tokens.expectSign(")");
    return inner;
  }
  for (const operator of ["-", "!"] as const) {
    if (!tokens.isSign(operator)) continue;
    tokens.nextOperator();
    const operand = parseOperations(tokens, unaryPrecedence[operator] + 1);
    rejectNil(tokens, operand);
    return { kind: "unary", operator, operand, at: { start, end: operand.at.end } };
  }
  const value = takeField(tokens) ?? takeNil(tokens) ?? takeStatic(tokens);
  if (value === undefined) throw tokens.unexpected("an attribute, an intrinsic or a value", plainIntrinsics.keys());
  return value;
}

/** An attribute or an intrinsic. */
export function parseField(tokens: TokenStream): AttributeField | IntrinsicField {
  const field = takeField(tokens);
  if (field === undefined) throw tokens.unexpected("an attribute or an intrinsic", plainIntrinsics.keys());
  return field;
}

/** Fields between parentheses, separated by commas. */
export function parseFields(tokens: TokenStream): readonly (AttributeField | IntrinsicField)[] {
  tokens.expectSign("(");
  const fields = [parseField(tokens)];
  while (tokens.takeSign(",")) fields.push(parseField(tokens));
  tokens.expectSign(")");
  return fields;
}

function takeField(tokens: TokenStream): AttributeField | IntrinsicField | undefined {
  const token = tokens.peek();
  if (token.kind === "attribute") {
    tokens.next();
    const { end, name, ofParent, scope, start } = token;
    return { kind: "attribute", scope, ofParent, name, at: { start, end } };
  }
  if (token.kind !== "word") return undefined;
  const isScope = token.text.endsWith(":");
  const name = isScope ? `${token.text}${tokens.peek(1).text}` : token.text;
  const intrinsic = isScope ? scopedIntrinsics.get(name) : plainIntrinsics.get(name);
  if (intrinsic === undefined) {
    if (!isScope) return undefined;
    tokens.next();
    const known = [...scopedIntrinsics.keys()].filter((each) => each.startsWith(token.text));
    throw tokens.unexpected(`one of ${known.join(", ")}`);
  }
  tokens.next();
  if (isScope) tokens.next();
  return { kind: "intrinsic", intrinsic, at: { start: token.start, end: tokens.lastEnd } };
}

function takeNil(tokens: TokenStream): StaticField | undefined {
  if (!tokens.isWord("nil")) return undefined;
  const { end, start } = tokens.next();
  return { kind: "static", value: { type: "nil" }, at: { start, end } };
}

/** A constant other than nil. */
export function takeStatic(tokens: TokenStream): StaticField | undefined {
  const value = staticAhead(tokens);
  if (value === undefined) return undefined;
  const { end, start } = tokens.next();
  return { kind: "static", value, at: { start, end } };
}

function staticAhead(tokens: TokenStream): StaticValue | undefined {
  const token = tokens.peek();
  switch (token.kind) {
    case "string":
      return { type: "string", value: token.value };
    case "int":
      return { type: "int", value: token.value };
    case "float":
      return { type: "float", value: token.value };
    case "duration":
      return { type: "duration", nanoseconds: token.nanoseconds };
    case "word":
      return staticOfWord(token.text);
    case "attribute":
    case "sign":
    case "end":
      return undefined;
  }
}

function staticOfWord(word: string): StaticValue | undefined {
  if (word === "true" || word === "false") return { type: "boolean", value: word === "true" };
  if (statusValues.has(word)) return { type: "status", value: word as StatusValue };
  if (kindValues.has(word)) return { type: "kind", value: word as KindValue };
  if (word === "minInt") return { type: "int", value: -(2n ** 63n) };
  if (word === "maxInt") return { type: "int", value: 2n ** 63n - 1n };
  return undefined;
}

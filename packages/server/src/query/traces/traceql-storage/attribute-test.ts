/** Conditions on an attribute in a map of attributes, in SQL. The rules are those of `packages/traceql/src/spans/static-value.ts`. */
import type { ComparisonOperator, StaticValue } from "@sounding/traceql/syntax/ast";
import { compileExpression } from "@sounding/promql/regex/regular-expression";
import { isContentAttribute } from "../../../store/content-attributes.ts";
import { attributeKinds, opaqueKinds } from "../../../store/attribute-kinds.ts";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { isCheapInStore } from "../../store-regex.ts";
import { hasAttribute, kindOf, valueOf, type AttributeColumns } from "./attribute-columns.ts";
import { and, exactly, or, type Approximation, type Bound } from "./approximation.ts";

/** Whether the attribute has a value. */
export function isPresent(name: string, columns: AttributeColumns): Statement {
  const isEmpty = sql`${kindOf(name, columns)} = ${bind.text(attributeKinds.empty)}`;
  return sql`(${hasAttribute(name, columns)} AND NOT (${isEmpty}))`;
}

function isOfKind(name: string, columns: AttributeColumns, kinds: readonly string[]): Statement {
  if (kinds.includes(attributeKinds.string)) {
    return sql`(${columns.types} = '' OR ${kindOf(name, columns)} IN ${bind.texts(kinds)})`;
  }
  return sql`(${columns.types} != '' AND ${kindOf(name, columns)} IN ${bind.texts(kinds)})`;
}

/** Whether the attribute has a value of one of the kinds. */
export function hasOfKind(name: string, columns: AttributeColumns, kinds: readonly string[]): Statement {
  return sql`(${hasAttribute(name, columns)} AND ${isOfKind(name, columns, kinds)})`;
}

const textKinds = [attributeKinds.string, attributeKinds.bytes];

/** Lists and maps; of content, also what is encrypted. */
export function opaqueKindsOf(name: string): readonly string[] {
  return isContentAttribute(name) ? opaqueKinds : nestedKinds;
}

const nestedKinds: readonly string[] = [attributeKinds.array, attributeKinds.map];

/**
 * Whether the attribute fulfils a comparison with a constant.
 * @param operator the attribute is on its left side
 */
export function attributeTest(
  name: string,
  columns: AttributeColumns,
  { operator, value }: { readonly operator: ComparisonOperator; readonly value: StaticValue },
): Approximation {
  const decided = scalarTest(name, columns, operator, value);
  if (decided === undefined) return { may: hasAttribute(name, columns), must: false };
  // Lists, maps and what is encrypted are compared by the engine.
  return { may: or(decided, hasOfKind(name, columns, opaqueKindsOf(name))), must: decided };
}

/** The comparison for values that are neither lists nor maps; undefined if SQL cannot decide it. */
function scalarTest(
  name: string,
  columns: AttributeColumns,
  operator: ComparisonOperator,
  value: StaticValue,
): Bound | undefined {
  const [text, has] = [valueOf(name, columns), hasAttribute(name, columns)];
  const ofKinds = (kinds: readonly string[], condition: Statement): Statement =>
    sql`(${condition} AND ${has} AND ${isOfKind(name, columns, kinds)})`;
  switch (value.type) {
    case "string": {
      const condition = textCondition(text, operator, value.value);
      return condition && ofKinds(textKinds, condition);
    }
    case "boolean": {
      if (operator !== "=" && operator !== "!=") return false;
      return ofKinds([attributeKinds.boolean], textCondition(text, operator, String(value.value))!);
    }
    case "int":
    case "float":
    case "duration": {
      if (operator === "=~" || operator === "!~") return false;
      const ints = intCondition(text, operator, value);
      const floats = floatCondition(text, operator, numberOf(value));
      if (ints === undefined) return undefined;
      return or(ofKinds([attributeKinds.integer], ints), ofKinds([attributeKinds.double], floats));
    }
    case "status":
    case "kind":
      // No attribute has such a value.
      return false;
    default:
      return undefined;
  }
}

/** Comparisons of texts that SQL makes as the engine does; undefined for orders, which differ beyond ASCII. */
export function textCondition(text: Statement, operator: ComparisonOperator, value: string): Statement | undefined {
  switch (operator) {
    case "=":
      return sql`${text} = ${bind.text(value)}`;
    case "!=":
      return sql`${text} != ${bind.text(value)}`;
    case "=~":
      return isCommonRegex(value) ? sql`match(${text}, ${bind.text(`^(?s:${value})$`)})` : undefined;
    case "!~":
      return isCommonRegex(value) ? sql`NOT match(${text}, ${bind.text(`^(?s:${value})$`)})` : undefined;
    default:
      return undefined;
  }
}

/** Whether the store's regular expressions certainly mean the same: without repetition counts, flags, named groups and classes. */
function isCommonRegex(expression: string): boolean {
  const isPlain = /^(?:[^\\{]|\\[dDwWsS]|\\[^a-zA-Z0-9])*$/u.test(expression) && !expression.includes("(?");
  return isPlain && isCheapInStore(expression) && "matches" in compileExpression(expression);
}

function numberOf(value: StaticValue & { type: "int" | "float" | "duration" }): number {
  return Number(value.type === "duration" ? value.nanoseconds : value.value);
}

const greatestExact = 2n ** 53n;

/** Comparison of a 64-bit integer; undefined if the engine's rounding matters. */
function intCondition(
  text: Statement,
  operator: ComparisonOperator,
  value: StaticValue & { type: "int" | "float" | "duration" },
): Statement | undefined {
  if (value.type === "float") {
    if (Math.abs(value.value) >= Number(greatestExact) || Number.isNaN(value.value)) return undefined;
    return compared(sql`toFloat64(toInt64OrZero(${text}))`, operator, bind.float(value.value));
  }
  const integer = value.type === "int" ? value.value : value.nanoseconds;
  return compared(sql`toInt64OrZero(${text})`, operator, bind.int64(integer));
}

function floatCondition(text: Statement, operator: ComparisonOperator, value: number): Statement {
  return compared(sql`toFloat64OrZero(${text})`, operator, bind.float(value));
}

/** @param operator no regular expression */
export function compared(left: Statement, operator: ComparisonOperator, right: Parameters<typeof sql>[1]): Statement {
  switch (operator) {
    case "=":
      return sql`${left} = ${right}`;
    case "!=":
      return sql`${left} != ${right}`;
    case "<":
      return sql`${left} < ${right}`;
    case "<=":
      return sql`${left} <= ${right}`;
    case ">":
      return sql`${left} > ${right}`;
    default:
      return sql`${left} >= ${right}`;
  }
}

/** `attribute = nil` and `attribute != nil`. */
export function existenceTest(name: string, columns: AttributeColumns, isWanted: boolean): Statement {
  const present = isPresent(name, columns);
  return isWanted ? present : sql`NOT ${present}`;
}

/** Whether a boolean attribute is true. */
export function isTrueAttribute(name: string, columns: AttributeColumns): Approximation {
  const isTrue = and(
    hasAttribute(name, columns),
    sql`(${valueOf(name, columns)} = 'true' AND ${isOfKind(name, columns, [attributeKinds.boolean])})`,
  );
  if (!isContentAttribute(name)) return exactly(isTrue);
  return { may: or(isTrue, hasOfKind(name, columns, [attributeKinds.encrypted])), must: isTrue };
}

/** Translates conditions of TraceQL to SQL over `spans`, as closely as SQL can decide them. */
import type {
  AttributeField,
  ComparisonOperator,
  FieldExpression,
  FieldOperation,
  IntrinsicField,
} from "@sounding/traceql/syntax/ast";
import { attributeKinds } from "../../../store/attribute-kinds.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import { allOf, projectCondition, startTimeCondition } from "../../conditions.ts";
import type { TimeRange } from "../../time-window.ts";
import { and, bothOf, eitherOf, exactly, never, not, undecided, type Approximation } from "./approximation.ts";
import { hasAttribute, rowAttributes } from "./attribute-columns.ts";
import { attributeTest, existenceTest, hasOfKind, isTrueAttribute, opaqueKindsOf } from "./attribute-test.ts";
import { describedTest } from "./described-test.ts";
import type { FieldTest } from "./field-test.ts";
import { intrinsicTest, textTest } from "./intrinsic-test.ts";

/** The spans that a statement reads: events, links and large attributes are looked up among them. */
export interface SpanRange extends TimeRange {
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
}

const isTrue: FieldTest = { operator: "=", value: { type: "boolean", value: true } };

/** @param expression null for every span */
export function approximate(expression: FieldExpression | null, range: SpanRange): Approximation {
  if (expression === null) return exactly(true);
  switch (expression.kind) {
    case "static":
      return exactly(expression.value.type === "boolean" && expression.value.value);
    case "attribute":
    case "intrinsic":
      return fieldTest(expression, isTrue, range);
    case "unary":
      return expression.operator === "!" && isBoolean(expression.operand)
        ? not(approximate(expression.operand, range))
        : undecided;
    case "field-operation":
      break;
  }
  const { left, operator, right } = expression;
  if (operator === "&&") return bothOf(approximate(left, range), approximate(right, range));
  if (operator === "||") return eitherOf(approximate(left, range), approximate(right, range));
  if (!isComparison(operator)) return undecided;
  if (right.kind === "static" && isField(left)) return fieldTest(left, { operator, value: right.value }, range);
  if (left.kind === "static" && isField(right) && operator !== "=~" && operator !== "!~") {
    return fieldTest(right, { operator: flipped(operator), value: left.value }, range);
  }
  return undecided;
}

/** The operator with its operands exchanged. */
function flipped(operator: ComparisonOperator): ComparisonOperator {
  const others: Partial<Record<ComparisonOperator, ComparisonOperator>> = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
  };
  return others[operator] ?? operator;
}

function isField(expression: FieldExpression): expression is AttributeField | IntrinsicField {
  return expression.kind === "attribute" || expression.kind === "intrinsic";
}

/** Whether an expression always has a value, so that its negation holds where it does not hold. */
function isBoolean(expression: FieldExpression): boolean {
  if (expression.kind === "static") return expression.value.type === "boolean";
  if (expression.kind === "unary") return expression.operator === "!" && isBoolean(expression.operand);
  if (expression.kind !== "field-operation") return false;
  const { operator } = expression;
  return operator === "&&" || operator === "||" || isComparison(operator);
}

function isComparison(operator: FieldOperation["operator"]): operator is ComparisonOperator {
  return /^(?:[!=]=?|[<>]=?|[!=]~)$/.test(operator);
}

function fieldTest(field: AttributeField | IntrinsicField, test: FieldTest, range: SpanRange): Approximation {
  if (field.kind === "intrinsic") return intrinsicTest(field.intrinsic, test);
  const { name, ofParent, scope } = field;
  if (ofParent) return undecided;
  switch (scope) {
    case "span":
      return spanTest(name, test, range);
    case "resource":
      return resourceTest(name, test);
    case "instrumentation":
      return describedTest(sql`scope_id`, sql`scopes`, ownTest(name, test));
    case null: {
      const isOfSpan = spanTest(name, { operator: "!=", value: { type: "nil" } }, range);
      const isAbsence = test.value.type === "nil" && test.operator === "=";
      const [ofSpan, ofResource] = [spanTest(name, test, range), resourceTest(name, test)];
      // An attribute of the span hides one of its resource.
      return isAbsence ? bothOf(ofSpan, ofResource) : eitherOf(ofSpan, bothOf(not(isOfSpan), ofResource));
    }
    default:
      return repeatedTest(scope === "event" ? sql`event_attributes` : sql`link_attributes`, name, test, range);
  }
}

/** The test on a map of attributes in the same row. */
function ownTest(name: string, test: FieldTest): Approximation {
  const { operator, value } = test;
  if (value.type === "nil") {
    if (operator !== "=" && operator !== "!=") return never;
    return exactly(existenceTest(name, rowAttributes, operator === "!="));
  }
  if (test === isTrue) return isTrueAttribute(name, rowAttributes);
  return attributeTest(name, rowAttributes, { operator, value });
}

/** Large values are in `span_details`; shorter constants never equal them. */
function spanTest(name: string, test: FieldTest, range: SpanRange): Approximation {
  const own = found(ownTest(name, test), name, test, range);
  if (!concernsLargeValues(test)) return own;
  const has = hasAttribute(name, rowAttributes);
  const hasLarge = existsIn(sql`span_details`, has, range);
  const isLarge = sql`(has_details = 1 AND NOT ${has} AND ${hasLarge} AND ${inDetails(has, range)})`;
  if (test.value.type !== "nil") return eitherOf(own, { may: isLarge, must: false });
  // A large value is a value.
  return test.operator === "=" ? bothOf(own, not(exactly(isLarge))) : eitherOf(own, exactly(isLarge));
}

/**
 * Adds what the index of attributes knows of the text of an equal value. Other kinds of values are stored as other texts:
 * where a span has one under the name, every span is tested.
 */
function found(own: Approximation, name: string, { operator, value }: FieldTest, range: SpanRange): Approximation {
  if (operator !== "=" || (value.type !== "string" && value.type !== "int") || own.may === false) return own;
  const opaque = opaqueKindsOf(name);
  const kinds = value.type === "int" ? [...opaque, attributeKinds.double] : opaque;
  const mayHave = kinds.map((kind) => sql`attribute_types LIKE ${bind.text(`%${kind}%`)}`);
  const hasOther = sql`(${join(mayHave, sql` OR `)}) AND ${hasOfKind(name, rowAttributes, kinds)}`;
  const hasText = sql`indexHint(has(mapValues(attributes), ${bind.text(String(value.value))}))`;
  return { ...own, may: and(sql`(${hasText} OR ${existsIn(sql`spans`, hasOther, range)})`, own.may) };
}

function concernsLargeValues({ operator, value }: FieldTest): boolean {
  if (value.type === "nil") return true;
  // Numbers and booleans are short. Lists may be long, and any of their items may be equal.
  return operator !== "=" || value.type === "string";
}

/** Known before rows are read: if none is found, the conditions that depend on it do not keep the indexes from being used. */
function existsIn(table: Statement, condition: Statement, range: SpanRange): Statement {
  return sql`(SELECT count() FROM (SELECT 1 FROM ${table} WHERE ${inRange(condition, range)} LIMIT 1)) > 0`;
}

function inDetails(condition: Statement, range: SpanRange): Statement {
  return sql`(trace_id, span_id) IN (SELECT trace_id, span_id FROM span_details WHERE ${inRange(condition, range)})`;
}

/** The condition on rows of the range. */
function inRange(condition: Statement, { project, ...range }: SpanRange): Statement {
  return allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
    condition,
  ]);
}

/** Only spans with events or links fulfil a test of them. The engine tests the values. */
function repeatedTest(maps: Statement, name: string, { operator, value }: FieldTest, range: SpanRange): Approximation {
  if (value.type === "nil" && operator === "=") return { may: sql`has_details = 1`, must: false };
  const has = inDetails(
    sql`arrayExists(map -> ${hasAttribute(name, { ...rowAttributes, map: sql`map` })}, ${maps})`,
    range,
  );
  return { may: sql`(has_details = 1 AND ${has})`, must: false };
}

const serviceName = "service.name";

function resourceTest(name: string, test: FieldTest): Approximation {
  if (name !== serviceName) return describedTest(sql`resource_id`, sql`resources`, ownTest(name, test));
  const { operator, value } = test;
  if (value.type === "nil")
    return exactly(operator === "=" ? sql`service = ''` : operator === "!=" && sql`service != ''`);
  if (value.type !== "string") return value.type === "array" ? undecided : never;
  return textTest(sql`service`, test, sql`service != ''`);
}

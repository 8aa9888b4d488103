/**
 * Random valid TraceQL searches over given fields. They stay within what Tempo's grammar can express, so that the same query
 * can be sent to both.
 */
import * as fc from "fast-check";
import { nowhere } from "@sounding/promql/syntax/source-range";
import type {
  AttributeField,
  FieldExpression,
  FieldOperation,
  Hint,
  IntrinsicField,
  PipelineStage,
  ScalarFilter,
  SearchQuery,
  SpansetExpression,
  SpansetFilter,
  SpansetOperator,
  StaticField,
  StaticValue,
} from "../../src/syntax/ast.ts";

const at = nowhere;

/** A field, the type of its values, and some values that spans have. */
export interface TypedField {
  readonly field: AttributeField | IntrinsicField;
  readonly values: readonly Exclude<StaticValue, { readonly type: "array" | "nil" }>[];
}

export function attributeField(scope: AttributeField["scope"], name: string): AttributeField {
  return { kind: "attribute", scope, ofParent: false, name, at };
}

export function intrinsicField(intrinsic: IntrinsicField["intrinsic"]): IntrinsicField {
  return { kind: "intrinsic", intrinsic, at };
}

export function staticField(value: StaticValue): StaticField {
  return { kind: "static", value, at };
}

type Type = TypedField["values"][number]["type"];

function typeOf({ values }: TypedField): Type {
  return values[0]!.type;
}

const numbers: ReadonlySet<Type> = new Set(["int", "float", "duration"]);

/** The fields whose values are numbers. */
export function numericFields(fields: readonly TypedField[]): readonly TypedField[] {
  return fields.filter((field) => numbers.has(typeOf(field)));
}

function operation(
  operator: FieldOperation["operator"],
  left: FieldExpression,
  right: FieldExpression,
): FieldExpression {
  return { kind: "field-operation", operator, left, right, at };
}

const equality = ["=", "!="] as const;
export const order = ["=", "!=", "<", "<=", ">", ">="] as const;
const arithmetic = ["+", "-", "*", "/", "%", "^"] as const;

/** Whether Tempo allows `= nil`. */
function canBeNil(field: TypedField["field"]): boolean {
  return field.kind === "attribute" && !(field.scope === "resource" && field.name === "service.name");
}

/** Comparisons of one field with a constant, or of whether it exists. */
function comparison(typed: TypedField): fc.Arbitrary<FieldExpression> {
  const value = fc.constantFrom(...typed.values.map(staticField));
  const type = typeOf(typed);
  const compared = (operators: readonly FieldOperation["operator"][]): fc.Arbitrary<FieldExpression> =>
    fc
      .tuple(fc.constantFrom(...operators), value, fc.boolean())
      .map(([operator, right, isSwapped]) =>
        isSwapped ? operation(operator, right, typed.field) : operation(operator, typed.field, right),
      );
  const exists = fc
    .constantFrom(...(canBeNil(typed.field) ? equality : (["!="] as const)))
    .map((operator) => operation(operator, typed.field, staticField({ type: "nil" })));
  switch (type) {
    case "string":
      return fc.oneof({ weight: 4, arbitrary: compared(order) }, regexComparison(typed), exists);
    case "int":
    case "float":
    case "duration":
      return fc.oneof({ weight: 4, arbitrary: compared(order) }, calculation(typed), exists);
    case "boolean":
      return fc.oneof(
        compared(equality),
        fc.constant(typed.field),
        fc.constant<FieldExpression>({ kind: "unary", operator: "!", operand: typed.field, at }),
      );
    case "status":
    case "kind":
      return compared(equality);
  }
}

function regexComparison({ field, values }: TypedField): fc.Arbitrary<FieldExpression> {
  const texts = values.flatMap((value) => (value.type === "string" ? [value.value] : []));
  const expressions = texts.flatMap((text) => {
    const quoted = text.replaceAll(/[\\.+*?()[\]{}^$|]/g, "\\$&");
    return [quoted, `${quoted.slice(0, 1)}.*`, `.*${text.length > 1 ? "[a-m]" : ""}.*`, `${quoted}|x`, `(?i)${quoted}`];
  });
  const operators = fc.constantFrom("=~" as const, "!~" as const);
  return fc
    .tuple(operators, fc.constantFrom(...expressions, ".*", ".+", ""))
    .map(([operator, value]) => operation(operator, field, staticField({ type: "string", value })));
}

function calculation({ field, values }: TypedField): fc.Arbitrary<FieldExpression> {
  const value = fc.constantFrom(...values.map(staticField));
  const factor = fc.constantFrom(1n, 2n, 3n, 10n).map((int) => staticField({ type: "int", value: int }));
  const negative = fc.boolean();
  return fc
    .tuple(fc.constantFrom(...arithmetic), factor, fc.constantFrom(...order), value, negative)
    .map(([operator, right, comparisonOperator, limit, isNegative]) => {
      const operand: FieldExpression = isNegative ? { kind: "unary", operator: "-", operand: field, at } : field;
      return operation(comparisonOperator, operation(operator, operand, right), limit);
    });
}

/** A condition on one span. */
function arbitraryCondition(fields: readonly TypedField[], depth = 2): fc.Arbitrary<FieldExpression> {
  const leaf = fc.constantFrom(...fields).chain(comparison);
  if (depth === 0) return leaf;
  const inner = arbitraryCondition(fields, depth - 1);
  const joined = fc
    .tuple(fc.constantFrom("&&" as const, "||" as const), inner, inner)
    .map(([operator, left, right]) => operation(operator, left, right));
  const negated = inner.map<FieldExpression>((operand) => ({ kind: "unary", operator: "!", operand, at }));
  return fc.oneof({ weight: 4, arbitrary: leaf }, { weight: 3, arbitrary: joined }, negated);
}

export function arbitraryFilter(fields: readonly TypedField[]): fc.Arbitrary<SpansetFilter> {
  const condition = fc.option(arbitraryCondition(fields), { freq: 6 });
  return condition.map((each) => ({ kind: "spanset-filter", condition: each, at }));
}

const spansetOperators: readonly SpansetOperator[] = [
  "&&",
  "||",
  ">",
  ">>",
  "<",
  "<<",
  "~",
  "!>",
  "!>>",
  "!<",
  "!<<",
  "!~",
  "&>",
  "&>>",
  "&<",
  "&<<",
  "&~",
];

/** Filters, and operations between them. */
function arbitrarySpansets(fields: readonly TypedField[], depth = 2): fc.Arbitrary<SpansetExpression> {
  const filter = arbitraryFilter(fields);
  if (depth === 0) return filter;
  const inner = arbitrarySpansets(fields, depth - 1);
  const joined = fc
    .tuple(fc.constantFrom(...spansetOperators), inner, inner)
    .map<SpansetExpression>(([operator, left, right]) => ({ kind: "spanset-operation", operator, left, right, at }));
  return fc.oneof({ weight: 2, arbitrary: filter }, joined);
}

function arbitraryScalarFilter(fields: readonly TypedField[]): fc.Arbitrary<ScalarFilter> {
  const numeric = numericFields(fields);
  const operator = fc.constantFrom(...order);
  const count = fc.tuple(operator, fc.integer({ min: 0, max: 4 })).map<ScalarFilter>(([each, limit]) => ({
    kind: "scalar-filter",
    operator: each,
    left: { kind: "aggregate", operator: "count", expression: null, at },
    right: staticField({ type: "int", value: BigInt(limit) }),
    at,
  }));
  if (numeric.length === 0) return count;
  const other = fc
    .tuple(
      operator,
      fc.constantFrom("min" as const, "max" as const, "sum" as const, "avg" as const),
      fc.constantFrom(...numeric),
    )
    .chain(([each, aggregate, { field, values }]) =>
      fc.constantFrom(...values).map<ScalarFilter>((limit) => ({
        kind: "scalar-filter",
        operator: each,
        left: { kind: "aggregate", operator: aggregate, expression: field, at },
        right: staticField(limit),
        at,
      })),
    );
  return fc.oneof(count, other);
}

function arbitraryStage(fields: readonly TypedField[]): fc.Arbitrary<PipelineStage> {
  const field = fc.constantFrom(...fields).map((typed) => typed.field);
  return fc.oneof(
    { weight: 2, arbitrary: arbitrarySpansets(fields, 1) },
    { weight: 2, arbitrary: arbitraryScalarFilter(fields) },
    field.map<PipelineStage>((expression) => ({ kind: "group-by", expression, at })),
    fc.constant<PipelineStage>({ kind: "coalesce", at }),
    fc
      .array(field, { minLength: 1, maxLength: 3 })
      .map<PipelineStage>((selected) => ({ kind: "select", fields: selected, at })),
  );
}

export function arbitraryStages(fields: readonly TypedField[]): fc.Arbitrary<readonly PipelineStage[]> {
  return fc
    .tuple(arbitrarySpansets(fields), fc.array(arbitraryStage(fields), { maxLength: 2 }))
    .map(([first, rest]) => [first, ...rest]);
}

/** Two pipelines in parentheses with an operator between them. */
function arbitraryNested(fields: readonly TypedField[]): fc.Arbitrary<readonly PipelineStage[]> {
  const side = fc
    .tuple(arbitrarySpansets(fields, 1), arbitraryScalarFilter(fields))
    .map<SpansetExpression>((stages) => ({ kind: "nested-pipeline", stages, at }));
  return fc
    .tuple(fc.constantFrom(...spansetOperators), side, side)
    .map(([operator, left, right]) => [{ kind: "spanset-operation", operator, left, right, at }]);
}

export function arbitrarySearchQuery(fields: readonly TypedField[]): fc.Arbitrary<SearchQuery> {
  const stages = fc.oneof({ weight: 5, arbitrary: arbitraryStages(fields) }, arbitraryNested(fields));
  const mostRecent: Hint = { name: "most_recent", value: { type: "boolean", value: true } };
  const hints = fc.constantFrom<readonly Hint[]>([], [], [mostRecent]);
  return fc
    .tuple(stages, hints)
    .map(([stageList, hintList]) => ({ kind: "search-query", stages: stageList, hints: hintList, at }));
}

/** The attributes of spans in search results: those that the query reads, where their comparisons hold, and `select()`. */
import type { FieldExpression, StaticValue } from "../syntax/ast.ts";
import { compileCondition, type CompileContext, type Condition } from "./compile-field.ts";
import { keyOfField } from "./print-element.ts";
import { fieldKey, fieldReader, readEach, type Field, type FieldReader } from "./read-field.ts";
import type { NamedValue } from "./spanset.ts";
import type { FieldRead } from "./stage-fields.ts";
import { stringValue } from "./static-value.ts";
import type { TraceView } from "./trace-view.ts";

export interface AttributeSelector {
  /** How many conditions are evaluated on each span. */
  readonly operators: number;
  /** Whether the query asks for the span's name. */
  showsName(view: TraceView, index: number): boolean;
  attributesOf(view: TraceView, index: number): readonly NamedValue[];
}

/** Results have fields of their own for these, or leave them out. */
const shownElsewhere: ReadonlySet<string> = new Set([
  "name",
  "duration",
  "traceDuration",
  "rootServiceName",
  "rootName",
  "trace:id",
  "span:id",
]);

export function attributeSelector(reads: readonly FieldRead[], context: CompileContext): AttributeSelector {
  const shown = shownFields(reads, { ...context, jointEvents: false });
  const name = shown.find(({ field }) => fieldKey(field) === "name");
  const others = shown.filter(({ field }) => field.kind === "attribute" || !shownElsewhere.has(field.intrinsic));
  return {
    operators: Math.max(1, reads.length),
    showsName: (view, index) => name !== undefined && name.conditions.some((holds) => holds(view, index)),
    attributesOf: (view, index) =>
      others.flatMap((field) => {
        const value = shownValue(field, view, index);
        return value === undefined ? [] : [{ name: field.name, value }];
      }),
  };
}

interface ShownField {
  readonly field: Field;
  readonly name: string;
  readonly read: FieldReader;
  /** One of them has to hold. */
  readonly conditions: readonly Condition[];
  /** The query selects spans that lack the field. */
  readonly isWantedMissing: boolean;
}

function shownFields(reads: readonly FieldRead[], context: CompileContext): readonly ShownField[] {
  const byKey = Map.groupBy(reads, ({ field }) => fieldKey(field));
  return [...byKey.values()].map((group) => {
    const { field } = group[0]!;
    const conditions = group.map(({ comparison }) => compileShown(comparison, context));
    const isWantedMissing = group.some(({ comparison }) => comparison !== null && isMissingTest(comparison));
    return { field, name: keyOfField(field), read: fieldReader(field), conditions, isWantedMissing };
  });
}

function compileShown(comparison: FieldExpression | null, context: CompileContext): Condition {
  return comparison === null ? () => true : compileCondition(comparison, context);
}

/** `.name = nil`. */
function isMissingTest(comparison: FieldExpression): boolean {
  if (comparison.kind !== "field-operation" || comparison.operator !== "=") return false;
  return [comparison.left, comparison.right].some((side) => side.kind === "static" && side.value.type === "nil");
}

/** Of several events or links that have the field, the last one for which a comparison holds. */
function shownValue(shown: ShownField, view: TraceView, index: number): StaticValue | undefined {
  const { conditions, field, isWantedMissing, read } = shown;
  const holds = (): boolean => conditions.some((condition) => condition(view, index));
  const values = readEach({ field, read, holds }, view, index);
  const value = values.findLast(({ type }) => type !== "nil");
  return value ?? (values.length > 0 && isWantedMissing ? missing : undefined);
}

/** As Tempo shows it. */
const missing = stringValue("nil");

/** A comparison of a field with a constant. */
import type { ComparisonOperator, StaticValue } from "@sounding/traceql/syntax/ast";

export interface FieldTest {
  /** The field is on its left side. */
  readonly operator: ComparisonOperator;
  /** Nil for the existence of a value. */
  readonly value: StaticValue;
}

/**
 * The search parameters that are older than TraceQL, as a query: tags, and the shortest and longest duration of a trace. As in
 * Tempo, each tag may belong to another span of the trace, and well-known tags match part of the value.
 */
import { nowhere } from "@sounding/promql/syntax/source-range";
import type {
  AttributeScope,
  ComparisonOperator,
  FieldExpression,
  Intrinsic,
  SearchQuery,
  SpansetExpression,
  StaticValue,
  StatusValue,
} from "../syntax/ast.ts";

export interface TagSearch {
  readonly tags: ReadonlyMap<string, string>;
  /** Both included. */
  readonly minDurationNano?: bigint | undefined;
  readonly maxDurationNano?: bigint | undefined;
}

export function queryOfTags({ maxDurationNano, minDurationNano, tags }: TagSearch): SearchQuery {
  const conditions = [...tags].map(([name, value]) => conditionOfTag(name, value));
  if (minDurationNano !== undefined) conditions.push(durationCondition(">=", minDurationNano));
  if (maxDurationNano !== undefined) conditions.push(durationCondition("<=", maxDurationNano));
  const filters = conditions.map((condition): SpansetExpression => ({
    kind: "spanset-filter",
    condition,
    at: nowhere,
  }));
  const everySpan: SpansetExpression = { kind: "spanset-filter", condition: null, at: nowhere };
  return {
    kind: "search-query",
    stages: [filters.length === 0 ? everySpan : filters.reduce(both)],
    hints: [],
    at: nowhere,
  };
}

function both(left: SpansetExpression, right: SpansetExpression): SpansetExpression {
  return { kind: "spanset-operation", operator: "&&", left, right, at: nowhere };
}

function durationCondition(operator: ">=" | "<=", nanoseconds: bigint): FieldExpression {
  return compare(intrinsic("traceDuration"), operator, { type: "duration", nanoseconds });
}

const intrinsicTags: ReadonlyMap<string, Intrinsic> = new Map([
  ["name", "name"],
  ["root.name", "rootName"],
  ["root.service.name", "rootServiceName"],
]);

/** Tags of resources and spans of which a part of the value is enough. */
const partialTags: ReadonlyMap<string, AttributeScope> = new Map([
  ["service.name", "resource"],
  ["cluster", "resource"],
  ["namespace", "resource"],
  ["pod", "resource"],
  ["container", "resource"],
  ["k8s.cluster.name", "resource"],
  ["k8s.namespace.name", "resource"],
  ["k8s.pod.name", "resource"],
  ["k8s.container.name", "resource"],
  ["http.method", "span"],
  ["http.url", "span"],
]);

const statusValues: readonly string[] = ["error", "ok", "unset"] satisfies readonly StatusValue[];

function conditionOfTag(name: string, value: string): FieldExpression {
  const intrinsicName = intrinsicTags.get(name);
  if (intrinsicName !== undefined) return contains(intrinsic(intrinsicName), value);
  const scope = partialTags.get(name);
  if (scope !== undefined) return contains(attribute(scope, name), value);
  if (name === "status.code" && statusValues.includes(value)) {
    return compare(intrinsic("status"), "=", { type: "status", value: value as StatusValue });
  }
  return equals(attribute(null, name), value);
}

/** A tag has no type: `200` is the string and the number. */
function equals(field: FieldExpression, value: string): FieldExpression {
  const asText = compare(field, "=", { type: "string", value });
  const typed = typedValue(value);
  if (typed === undefined) return asText;
  return { kind: "field-operation", operator: "||", left: asText, right: compare(field, "=", typed), at: nowhere };
}

function typedValue(value: string): StaticValue | undefined {
  if (/^-?\d{1,18}$/.test(value)) return { type: "int", value: BigInt(value) };
  if (/^-?\d+\.\d+$/.test(value)) return { type: "float", value: Number(value) };
  return value === "true" || value === "false" ? { type: "boolean", value: value === "true" } : undefined;
}

function contains(field: FieldExpression, value: string): FieldExpression {
  return compare(field, "=~", { type: "string", value: `.*${value.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&")}.*` });
}

function compare(field: FieldExpression, operator: ComparisonOperator, value: StaticValue): FieldExpression {
  return { kind: "field-operation", operator, left: field, right: { kind: "static", value, at: nowhere }, at: nowhere };
}

function intrinsic(name: Intrinsic): FieldExpression {
  return { kind: "intrinsic", intrinsic: name, at: nowhere };
}

function attribute(scope: AttributeScope | null, name: string): FieldExpression {
  return { kind: "attribute", scope, ofParent: false, name, at: nowhere };
}

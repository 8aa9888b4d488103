/**
 * Values of TraceQL as OTLP's AnyValue in JSON, as Tempo writes them: status, kind and durations are texts. Arrays are texts
 * as well, unlike in Tempo: Grafana's table of spans cannot show a search with a value that is an array.
 */
import { printValue } from "@sounding/traceql/spans/print-element";
import type { StaticValue } from "@sounding/traceql/syntax/ast";
import type { NamedValue } from "@sounding/traceql/spans/spanset";
import type { AnyValue, KeyValue } from "../attribute-values.ts";

export function valueJson(value: StaticValue): AnyValue {
  switch (value.type) {
    case "int":
      return { intValue: String(value.value) };
    case "float":
      return { doubleValue: doubleJson(value.value) };
    case "boolean":
      return { boolValue: value.value };
    case "array":
      return { stringValue: arrayText(value.values) };
    default:
      return { stringValue: printValue(value) };
  }
}

/** As JSON, which is how Grafana shows the arrays of a trace. */
function arrayText(values: readonly StaticValue[]): string {
  const texts = values.map((value) => (value.type === "string" ? JSON.stringify(value.value) : printValue(value)));
  return `[${texts.join(",")}]`;
}

/** JSON cannot write NaN and infinities as numbers; protobuf writes them as strings. */
export function doubleJson(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

export function attributesJson(attributes: readonly NamedValue[]): KeyValue[] {
  return attributes.map(({ name, value }) => ({ key: name, value: valueJson(value) }));
}

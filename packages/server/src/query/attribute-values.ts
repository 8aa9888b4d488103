/** Converts attributes from the store's columns to OpenTelemetry's JSON. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
import { attributeKinds } from "../store/attribute-kinds.ts";

/** OTLP's AnyValue; empty for an empty value. */
export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number | string;
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
}

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Attributes as a statement reads them: names and values in the map's order (an object would reorder numeric names). */
export interface AttributeColumns {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** A letter of `attributeKinds` each; empty when all are strings. */
  readonly kinds: string;
}

export function toKeyValues({ names, values, kinds }: AttributeColumns): KeyValue[] {
  return names.map((key, index) => ({ key, value: toAnyValue(values[index] ?? "", kinds[index] ?? "s") }));
}

/** A value that was encrypted, as the reader returns it: the letter of its kind, then its text. */
function opened(text: string): [text: string, kind: string] {
  return [text.slice(1), text.slice(0, 1)];
}

/** @param kind a letter of `attributeKinds` */
export function toAnyValue(text: string, kind: string): AnyValue {
  switch (kind) {
    case attributeKinds.encrypted:
      return toAnyValue(...opened(text));
    case attributeKinds.integer:
      return { intValue: text };
    case attributeKinds.double: {
      const value = Number(text);
      // JSON cannot write NaN and infinities as numbers; OTLP writes them as strings.
      return { doubleValue: Number.isFinite(value) && !Object.is(value, -0) ? value : text };
    }
    case attributeKinds.boolean:
      return { boolValue: text === "true" };
    case attributeKinds.bytes:
      return { bytesValue: text };
    case attributeKinds.array:
    case attributeKinds.map:
      return JSON.parse(text) as AnyValue;
    case attributeKinds.empty:
      return {};
    default:
      return { stringValue: text };
  }
}

/** The value as plain JSON, for log lines that people read. */
function toPlain(value: AnyValue): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(toPlain);
  if (value.kvlistValue !== undefined) {
    return Object.fromEntries((value.kvlistValue.values ?? []).map(({ key, value: member }) => [key, toPlain(member)]));
  }
  return value.stringValue ?? value.boolValue ?? value.intValue ?? value.doubleValue ?? value.bytesValue ?? null;
}

/** The text of a value that is neither bytes, a list nor a map; undefined for those and for no value. */
export function scalarText({ stringValue, intValue, doubleValue, boolValue }: AnyValue): string | undefined {
  return (stringValue ?? intValue ?? doubleValue ?? boolValue)?.toString();
}

/** A value as one string: strings unchanged, lists and maps as JSON. */
export function toText(text: string, kind: string): string {
  if (kind === attributeKinds.encrypted) return toText(...opened(text));
  if (kind !== attributeKinds.array && kind !== attributeKinds.map) return text;
  return toPlainText(toAnyValue(text, kind));
}

/** The value as plain JSON. */
export function toPlainText(value: AnyValue): string {
  return JSON.stringify(toPlain(value));
}

/** The value as JSON with integers as numbers, of any size. */
export function toNumericJson(value: AnyValue): string {
  if (value.arrayValue !== undefined) return `[${(value.arrayValue.values ?? []).map(toNumericJson).join(",")}]`;
  if (value.kvlistValue !== undefined) {
    const members = (value.kvlistValue.values ?? []).map(
      ({ key, value: member }) => `${JSON.stringify(key)}:${toNumericJson(member)}`,
    );
    return `{${members.join(",")}}`;
  }
  return value.intValue?.toString() ?? JSON.stringify(toPlain(value));
}

/** Attributes of spans as plain values: from OpenTelemetry's JSON encoding, in which every value names its type. */

/** `value` is OTLP's AnyValue; absent or empty for an empty value. */
export interface KeyValue {
  readonly key: string;
  readonly value?: object;
}

/** A string, number, boolean, list or object; null for an empty value. 64-bit integers that are not exact stay strings. */
export function plainValue(value: object = {}): unknown {
  const { stringValue, intValue, doubleValue, boolValue, bytesValue, arrayValue, kvlistValue } = value as Readonly<
    Record<string, unknown>
  >;
  if (typeof stringValue === "string") return stringValue;
  if (intValue !== undefined) return Number.isSafeInteger(Number(intValue)) ? Number(intValue) : intValue;
  if (doubleValue !== undefined) return doubleValue;
  if (boolValue !== undefined) return boolValue;
  if (bytesValue !== undefined) return bytesValue;
  if (arrayValue !== undefined)
    return ((arrayValue as { values?: object[] }).values ?? []).map((each) => plainValue(each));
  if (kvlistValue !== undefined) return plainAttributes((kvlistValue as { values?: KeyValue[] }).values);
  return null;
}

/** Attributes by name. The result has no prototype, since names are anything. */
export function plainAttributes(attributes: readonly KeyValue[] | undefined): Record<string, unknown> {
  const plain = Object.create(null) as Record<string, unknown>;
  for (const { key, value } of attributes ?? []) plain[key] = plainValue(value);
  return plain;
}

/** A value as text: strings as they are, all others as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value, undefined, 2);
}

/** The value of a JSON text; other values as they are. */
export function parsedJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}

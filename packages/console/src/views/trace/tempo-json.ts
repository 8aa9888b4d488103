/** The parts of a trace as the API sends them, in Tempo's JSON encoding: zero and empty values are absent. */
import type { TracesResult } from "@sounding/client";

export type TempoTrace = Omit<TracesResult["traces"][number], "batches"> & {
  readonly batches?: readonly {
    readonly resource: TempoResource;
    readonly scopeSpans: readonly { readonly scope: TempoScope; readonly spans: readonly TempoSpan[] }[];
  }[];
};

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** 64 bits, as text. */
  readonly intValue?: string | number;
  readonly doubleValue?: number | string;
  /** In base64. */
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
}

export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

interface Attributed {
  readonly attributes?: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
}

export type TempoResource = Attributed;

export interface TempoScope extends Attributed {
  readonly name?: string;
  readonly version?: string;
}

export interface TempoEvent extends Attributed {
  readonly timeUnixNano?: string;
  readonly name?: string;
}

export interface TempoLink extends Attributed {
  /** In base64, like all IDs. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly traceState?: string;
}

export interface TempoSpan extends Attributed {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name?: string;
  readonly kind?: string | number;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly events?: readonly TempoEvent[];
  readonly droppedEventsCount?: number;
  readonly links?: readonly TempoLink[];
  readonly droppedLinksCount?: number;
  readonly status?: { readonly message?: string; readonly code?: string | number };
}

/** A value as text: strings as they are, everything else as JSON. */
export function valueText(value: AnyValue | undefined): string {
  const plain = plainValue(value);
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

/** A value as plain JSON. Integers beyond 2^53 stay text. */
export function plainValue(value: AnyValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.intValue !== undefined) {
    const integer = Number(value.intValue);
    return Number.isSafeInteger(integer) ? integer : String(value.intValue);
  }
  if (value.doubleValue !== undefined) return value.doubleValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.bytesValue !== undefined) return value.bytesValue;
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainValue);
  if (value.kvlistValue !== undefined) return plainAttributes(value.kvlistValue.values);
  return null;
}

/** Attributes by name. */
export function plainAttributes(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  // Names come from senders: entries cannot set a prototype.
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

/** An ID in hexadecimal digits. */
export function hexId(base64: string | undefined): string {
  if (base64 === undefined) return "";
  let hex = "";
  const bytes = atob(base64);
  for (let index = 0; index < bytes.length; index += 1) hex += byteDigits[bytes.charCodeAt(index)];
  return hex;
}

const byteDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The parts of a trace as the API sends them, in Tempo's JSON encoding: zero and empty values are absent. */
import type { TracesResult } from "@sounding/client";
import type { KeyValue } from "../../genai/any-value.ts";

export type TempoTrace = Omit<TracesResult["traces"][number], "batches"> & {
  readonly batches?: readonly {
    readonly resource: TempoResource;
    readonly scopeSpans: readonly { readonly scope: TempoScope; readonly spans: readonly TempoSpan[] }[];
  }[];
};

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

/** An ID in hexadecimal digits. */
export function hexId(base64: string | undefined): string {
  if (base64 === undefined) return "";
  let hex = "";
  const bytes = atob(base64);
  for (let index = 0; index < bytes.length; index += 1) hex += byteDigits[bytes.charCodeAt(index)];
  return hex;
}

const byteDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

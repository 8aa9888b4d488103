/** Defines the spans and log records of our own calls, before they become rows. */

/** An encrypted value. */
export class SealedText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type AttributeValue = string | number | boolean | readonly string[] | SealedText;

/** Undefined values are omitted. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The values of OTLP's SpanKind that we use. */
export const spanKinds = { internal: 1, client: 3 } as const;

export interface CallSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: keyof typeof spanKinds;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  /** The error message, if the span failed. */
  readonly error: string | undefined;
  /** Whether that message can quote the request, which makes it content. */
  readonly quotesRequest: boolean;
  readonly attributes: Attributes;
}

export interface CallLog {
  readonly traceId: string;
  readonly spanId: string;
  readonly unixNano: bigint;
  /** Eight bytes that are the same if the record is written again; absent: random ones. */
  readonly recordId?: Uint8Array;
  readonly level: "info" | "warning" | "error";
  readonly eventName: string;
  readonly body: string | SealedText;
  /** Whether the record can quote the request of a call. */
  readonly quotesRequest?: boolean;
  readonly attributes: Attributes;
}

/** Converts milliseconds to nanoseconds, exact to the microsecond. */
export function toUnixNano(unixMs: number): bigint {
  return BigInt(Math.round(unixMs * 1000)) * 1000n;
}

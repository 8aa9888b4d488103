/** Parses the caller's trace context from the headers `traceparent` and `tracestate`. https://www.w3.org/TR/trace-context/#traceparent-header */
import { randomBytes } from "node:crypto";
import { inputLimit } from "../../input-limits.ts";

export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 lower-case hex digits; empty if our span is the root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** The low byte has W3C's trace flags; two other bits say whether the parent is remote, as in OTLP. */
  readonly flags: number;
}

const pattern =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;
const zeroTrace = "0".repeat(32);
const zeroSpan = "0".repeat(16);
/** The specification allows truncating or dropping longer ones. */
const longestTraceState = inputLimit({
  area: "HTTP",
  bounds: "`tracestate` header",
  value: 512,
  unit: "characters",
  error: { instead: "the header is ignored" },
});
/** OTLP's SpanFlags: HAS_IS_REMOTE and IS_REMOTE. */
const remoteParentFlags = 0x300;
const sampled = 1;

/** The caller's context; a new trace if it is absent or malformed. */
export function traceContext(traceparent: string | undefined, tracestate: string | undefined): TraceContext {
  const groups = pattern.exec(traceparent?.trim() ?? "")?.groups;
  if (groups !== undefined) {
    const { version, traceId, spanId, flags, rest } = groups as Record<
      "version" | "traceId" | "spanId" | "flags",
      string
    > & {
      rest: string | undefined;
    };
    // Version 00 ends after the flags; later versions can have more fields.
    const known = version !== "ff" && (version !== "00" || rest === undefined);
    if (known && traceId !== zeroTrace && spanId !== zeroSpan) {
      return {
        traceId,
        parentSpanId: spanId,
        traceState: tracestate === undefined || tracestate.length > longestTraceState ? "" : tracestate,
        flags: remoteParentFlags | Number.parseInt(flags, 16),
      };
    }
  }
  return { traceId: newTraceId(), parentSpanId: "", traceState: "", flags: sampled };
}

/** Random bytes are generated in blocks for many IDs; one call per ID would cost a microsecond each. */
let pool = Buffer.alloc(0);
let used = 0;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    pool = randomBytes(4096);
    used = 0;
  }
  used += bytes;
  const hex = pool.toString("hex", used - bytes, used);
  return /^0+$/.test(hex) ? randomHex(bytes) : hex;
}

function newTraceId(): string {
  return randomHex(16);
}

export function newSpanId(): string {
  return randomHex(8);
}

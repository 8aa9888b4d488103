/** The caller's place in its own trace, as the header `traceparent` has it. https://www.w3.org/TR/trace-context/#traceparent-header */
import { randomBytes } from "node:crypto";
import { inputLimit } from "../../input-limits.ts";

export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** The caller's span, 16 lower-case hex digits; empty: we are the root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** The low byte is W3C's trace flags; the others say whether the parent is remote, as OTLP has it. */
  readonly flags: number;
}

const pattern =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;
const zeroTrace = "0".repeat(32);
const zeroSpan = "0".repeat(16);
/** The conventions let longer ones be cut or dropped. */
const longestTraceState = inputLimit({
  area: "HTTP",
  bounds: "`tracestate` header",
  value: 512,
  unit: "characters",
  error: { instead: "the header is ignored" },
});
/** OTLP's SpanFlags: "it is known whether the parent is remote", and "it is". */
const remoteParentFlags = 0x300;
const sampled = 1;

/** The caller's context; a trace of our own where there is none, or where it is malformed. */
export function traceContext(traceparent: string | undefined, tracestate: string | undefined): TraceContext {
  const groups = pattern.exec(traceparent?.trim() ?? "")?.groups;
  if (groups !== undefined) {
    const { version, traceId, spanId, flags, rest } = groups as Record<
      "version" | "traceId" | "spanId" | "flags",
      string
    > & {
      rest: string | undefined;
    };
    // Version 00 ends after the flags; later ones may go on.
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

/** Random bytes are fetched for many IDs at a time: one by one they cost a microsecond each. */
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

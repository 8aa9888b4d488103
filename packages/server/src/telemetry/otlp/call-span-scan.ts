/**
 * Finds a request's spans of model calls before its rows are written: which of them repeat a call, and the HTTP requests
 * below them. A request has its spans grouped by library, so a call's span can precede the spans below it.
 */
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { responseKey, spanKey } from "../rows/call-keys.ts";
import { recognizedAttributes, spanAttributePositions as position } from "../rows/known-attributes.ts";
import { textAt } from "./any-value.ts";
import { AttributeFinder, AttributeNames } from "./attribute-finder.ts";
import { AttributeReader } from "./attributes.ts";
import type { CallSpan } from "./call-spans.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { isId } from "./ids.ts";
import { uint32Of } from "./message-fields.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { span, traceExport } from "../../protobuf/otlp-messages.ts";
import { fixed64At } from "../../protobuf/numbers.ts";
import { recordRanges } from "./record-ranges.ts";
import { meaningOf, type SpanMeaning } from "./span-meaning.ts";

const field = span.fields;
/** OTLP's SPAN_KIND_CLIENT. */
const clientKind = 3;

export const knownSpanAttributes = new AttributeNames(recognizedAttributes);

/** One of these is on every span of a model call. */
const operationNames = recognizedAttributes.operation.map((source) =>
  Buffer.from(typeof source === "string" ? source : source.name),
);

/** The keys of a model call's span. */
export interface CallKeys {
  readonly isRepeated: boolean;
  readonly response: bigint;
  readonly request: bigint;
}

interface FoundCall extends CallSpan {
  readonly endNano: number;
}

export class CallSpanScan {
  readonly #builder: ExportBuilder;
  readonly #scan = new MessageScan(span);
  readonly #reader = new AttributeReader();
  readonly #known = new AttributeFinder(knownSpanAttributes);
  readonly #keys = new Map<bigint, CallKeys>();

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  /** Reads the whole request, if it mentions model calls at all. */
  async prepare(bytes: Uint8Array, yielder: CooperativeYield): Promise<void> {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (!operationNames.some((name) => text.includes(name))) return;
    await this.#builder.costs.load();
    const calls: FoundCall[] = [];
    for (const [start, end] of recordRanges(bytes, traceExport)) {
      const call = this.#read(bytes, start, end);
      if (call !== undefined) calls.push(call);
      if (yielder.isDue()) await yielder.yield();
    }
    const { callSpans, organizationId } = this.#builder;
    // The innermost ends first.
    for (const call of calls.sort((left, right) => left.endNano - right.endNano)) {
      this.#keys.set(call.span, {
        isRepeated: callSpans.isRepeated(organizationId, call),
        response: call.response ?? 0n,
        request: callSpans.requestBelow(organizationId, call.span) ?? call.span,
      });
    }
  }

  /** The keys of a span that the request has; undefined if it is no model call. */
  keysOf(scan: MessageScan): CallKeys | undefined {
    return this.#keys.size === 0 ? undefined : this.#keys.get(keyOf(scan, field.spanId));
  }

  #read(bytes: Uint8Array, start: number, end: number): FoundCall | undefined {
    const scan = this.#scan;
    const known = this.#known;
    scan.read(bytes, start, end);
    if (!isId(bytes, scan.starts[field.traceId]!, scan.ends[field.traceId]!, 16)) return undefined;
    const attributes = scan.list(field.attributes);
    known.reset();
    for (let index = 0; index < attributes.length; index += 1) {
      this.#reader.read(bytes, attributes.start(index), attributes.end(index));
      known.note(bytes, this.#reader);
    }
    noteRequest(scan, known, this.#builder);
    const meaning = meaningOfSpan(scan, known);
    if (meaning?.isInference !== true) return undefined;
    const endAt = scan.starts[field.endTimeUnixNano]!;
    return {
      operation: meaning.operation,
      span: keyOf(scan, field.spanId),
      parent: isRoot(scan) ? undefined : keyOf(scan, field.parentSpanId),
      response: responseKey(meaning.readResponseId()),
      endNano: endAt === 0 ? 0 : fixed64At(bytes, endAt),
    };
  }
}

/** Remembers the span of an HTTP request, which may be that of a model call. */
export function noteRequest(scan: MessageScan, known: AttributeFinder, builder: ExportBuilder): void {
  const isRequest = uint32Of(scan, field.kind) === clientKind && known.has(position.http_method);
  if (!isRequest || isRoot(scan)) return;
  builder.callSpans.addRequest(builder.organizationId, keyOf(scan, field.parentSpanId), keyOf(scan, field.spanId));
}

export function meaningOfSpan(scan: MessageScan, known: AttributeFinder): SpanMeaning | undefined {
  const { bytes, ends, starts } = scan;
  const readName = (): string => textAt(bytes, starts[field.name]!, ends[field.name]!);
  return meaningOf({ known, bytes, isRoot: isRoot(scan), readName });
}

function isRoot({ bytes, ends, starts }: MessageScan): boolean {
  return !isId(bytes, starts[field.parentSpanId]!, ends[field.parentSpanId]!, 8);
}

/** The key of the span whose ID is in this field. */
function keyOf({ bytes, ends, starts }: MessageScan, id: number): bigint {
  return spanKey({
    bytes,
    traceStart: starts[field.traceId]!,
    traceEnd: ends[field.traceId]!,
    spanStart: starts[id]!,
    spanEnd: ends[id]!,
  });
}

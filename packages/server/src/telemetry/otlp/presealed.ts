/**
 * Encrypts the content of a long record before it is decoded: decoding does not yield, and a record can have tens of thousands of
 * attributes with content.
 */
import { isContentName } from "../../store/content-attributes.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { MessageType } from "../../protobuf/message-type.ts";
import { anyValue, keyValue } from "../../protobuf/otlp-messages.ts";
import { longStep, type CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { MessageBytes } from "../redaction/redact-message.ts";
import type { SealContent } from "../rows/seal-content.ts";
import { AnyValueReader } from "./any-value.ts";
import { AttributeReader, type Presealed } from "./attributes.ts";

/** Shorter records have some hundred attributes at most, which takes milliseconds. */
const longRecordBytes = 16_384;

/** Undefined, without a promise, for a record that needs none: nearly every one. */
export function preseal(
  record: MessageBytes,
  seal: SealContent | undefined,
  yielder: CooperativeYield,
): Promise<Presealed> | undefined {
  return seal === undefined || record.end - record.start < longRecordBytes
    ? undefined
    : sealLists(record, { seal, yielder, found: new Map() });
}

interface Sealed {
  readonly seal: SealContent;
  readonly yielder: CooperativeYield;
  readonly found: Map<number, string>;
}

/** The attributes of a message and of its parts, such as events. */
async function sealLists({ type, bytes, start, end }: MessageBytes, sealed: Sealed): Promise<Presealed> {
  const scan = new MessageScan(type);
  scan.read(bytes, start, end);
  for (const { kind, number, repeated } of type.byJsonName.values()) {
    if (!repeated || !(kind instanceof MessageType) || kind === anyValue) continue;
    const list = scan.list(number);
    for (let index = 0; index < list.length; index += 1) {
      const [from, to] = [list.start(index), list.end(index)];
      const rest =
        kind === keyValue
          ? sealAttribute(bytes, { from, to }, sealed)
          : sealLists({ type: kind, bytes, start: from, end: to }, sealed);
      if (rest !== undefined) await rest;
    }
  }
  return sealed.found;
}

const reader = new AttributeReader();
const value = new AnyValueReader();

function sealAttribute(
  bytes: Uint8Array,
  { from, to }: { readonly from: number; readonly to: number },
  { found, seal, yielder }: Sealed,
): Promise<void> | undefined {
  reader.read(bytes, from, to);
  const isContent = isContentName(bytes, reader.keyStart, reader.keyEnd);
  if (isContent) {
    value.read(bytes, reader.valueStart, reader.valueEnd);
    const text = value.sealed(bytes, seal);
    if (text !== undefined) found.set(reader.valueStart, text);
  }
  return yielder.isDue(isContent ? longStep : 1) ? yielder.yield() : undefined;
}

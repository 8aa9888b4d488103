/** Encrypts the content of the records of Sounding's own calls, in slices: prompts can be long. */
import { plainKind, type Sealing } from "../../encryption/telemetry-cipher.ts";
import { longStep, type CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { contentOfEvents, isContentAttribute } from "../../store/content-attributes.ts";
import { attributeKinds } from "../../store/attribute-kinds.ts";
import type { SealContent } from "../rows/seal-content.ts";
import { SealedText, type Attributes, type AttributeValue, type CallLog, type CallSpan } from "./call-record-types.ts";
import type { CallRecords } from "./call-records.ts";

/** Takes a fraction of a millisecond. */
const sliceCharacters = 131_072;

export async function sealRecords(
  { log, spans }: CallRecords,
  seal: SealContent,
  yielder: CooperativeYield,
): Promise<CallRecords> {
  const sealed = async (text: string, kind: string): Promise<string> => {
    const sealing = seal(kind);
    await addText(sealing, text, yielder);
    return sealing.end();
  };
  const attributesOf = async (
    attributes: Attributes,
    isContent: (name: string) => boolean = isContentAttribute,
  ): Promise<Attributes> => {
    const result: Record<string, AttributeValue | undefined> = {};
    for (const [name, value] of Object.entries(attributes)) {
      const isSealed = typeof value === "string" && isContent(name);
      result[name] = isSealed ? new SealedText(await sealed(value, attributeKinds.string)) : value;
    }
    return result;
  };
  const spanOf = async (span: CallSpan): Promise<CallSpan> => ({
    ...span,
    error: span.quotesRequest && span.error !== undefined ? await sealed(span.error, plainKind) : span.error,
    attributes: await attributesOf(span.attributes),
  });
  const logOf = async (each: CallLog): Promise<CallLog> => {
    if (each.quotesRequest !== true || typeof each.body !== "string") return each;
    const isContent = (name: string): boolean => name === contentOfEvents || isContentAttribute(name);
    const body = new SealedText(await sealed(each.body, attributeKinds.string));
    return { ...each, body, attributes: await attributesOf(each.attributes, isContent) };
  };
  const found: CallSpan[] = [];
  for (const span of spans) found.push(await spanOf(span));
  return { spans: found, log: log && (await logOf(log)) };
}

async function addText(sealing: Sealing, text: string, yielder: CooperativeYield): Promise<void> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + sliceCharacters);
    // Both halves of a pair become one character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!)) end += 1;
    sealing.add(Buffer.from(text.slice(at, end)));
    at = end;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
}

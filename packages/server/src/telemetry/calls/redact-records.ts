/** Redacts the spans and log records of Sounding's own calls. */
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TextRedactor } from "../redaction/text-redactor.ts";
import { SealedText, type Attributes, type AttributeValue, type CallLog, type CallSpan } from "./call-record-types.ts";
import type { CallRecords } from "./call-records.ts";

export async function redactRecords(
  { log, spans }: CallRecords,
  redactor: TextRedactor,
  yielder: CooperativeYield,
): Promise<CallRecords> {
  const text = async (value: string): Promise<string> => {
    const bytes = Buffer.from(value);
    if (yielder.isDue()) await yielder.yield();
    if (!redactor.mayMatch(bytes, 0, bytes.length)) return value;
    return (await redactor.redact(value, yielder)) ?? value;
  };
  const valueOf = async (value: AttributeValue): Promise<AttributeValue> => {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value instanceof SealedText) return value;
    const values: string[] = [];
    for (const each of value) values.push(await text(each));
    return values;
  };
  const attributesOf = async (attributes: Attributes): Promise<Attributes> => {
    const redacted: Record<string, AttributeValue> = {};
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined) redacted[await text(name)] = await valueOf(value);
    }
    return redacted;
  };
  const spanOf = async (span: CallSpan): Promise<CallSpan> => ({
    ...span,
    name: await text(span.name),
    traceState: await text(span.traceState),
    error: span.error && (await text(span.error)),
    attributes: await attributesOf(span.attributes),
  });
  const logOf = async (each: CallLog): Promise<CallLog> => ({
    ...each,
    body: typeof each.body === "string" ? await text(each.body) : each.body,
    attributes: await attributesOf(each.attributes),
  });
  const redacted: CallSpan[] = [];
  for (const span of spans) redacted.push(await spanOf(span));
  return { spans: redacted, log: log && (await logOf(log)) };
}

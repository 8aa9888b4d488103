/** Decodes an export request: walks through resources, scopes and records and writes their rows. */
import type { ByteRange, ResourceScopeReader } from "./resource-scopes.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { exportFields } from "../../protobuf/otlp-messages.ts";
import { maxRecordBytes } from "./record-limit.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { preseal } from "./presealed.ts";
import type { Signal } from "./signals.ts";
import { redactMessage } from "../redaction/redact-message.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";

const { request: requestField, resourceGroup: groupField, scopeGroup: scopeField } = exportFields;

/**
 * Reads the whole request into the builder.
 * @throws AppError invalid_request if the bytes are not a valid request; the caller must not store any of it then
 */
export async function decodeExport(
  bytes: Uint8Array,
  signal: Signal,
  { builder, groups }: { readonly builder: ExportBuilder; readonly groups: ResourceScopeReader },
): Promise<void> {
  const yielder = new CooperativeYield();
  const decoder = signal.makeDecoder(builder, yielder);
  const type = signal.messages.record;
  const seal = signal.name === "metrics" ? undefined : builder.seal;
  await decoder.prepare?.(bytes, yielder);
  const request = new MessageScan(signal.messages.request);
  const resourceGroup = new MessageScan(signal.messages.resourceGroup);
  const scopeGroup = new MessageScan(signal.messages.scopeGroup);
  request.read(bytes, 0, bytes.length);
  const resources = request.list(requestField.resourceGroups);
  for (let r = 0; r < resources.length; r += 1) {
    resourceGroup.read(bytes, resources.start(r), resources.end(r));
    const group = await groups.resource(
      bytes,
      rangeOf(resourceGroup, groupField.resource),
      rangeOf(resourceGroup, groupField.schemaUrl),
    );
    const scopes = resourceGroup.list(groupField.scopeGroups);
    for (let s = 0; s < scopes.length; s += 1) {
      scopeGroup.read(bytes, scopes.start(s), scopes.end(s));
      const scopeRange = rangeOf(scopeGroup, scopeField.scope);
      const schemaUrl = rangeOf(scopeGroup, scopeField.schemaUrl);
      const scoped = "refusal" in group ? group : await groups.scope(group, bytes, scopeRange, schemaUrl);
      const records = scopeGroup.list(scopeField.records);
      for (let n = 0; n < records.length; n += 1) {
        if (signal.name !== "metrics" && records.end(n) - records.start(n) > maxRecordBytes) {
          builder.reject(`larger than ${maxRecordBytes} bytes`);
        } else if ("refusal" in scoped) {
          builder.reject(scoped.refusal, decoder.count(bytes, records.start(n), records.end(n)));
        } else {
          const sent = { type, bytes, start: records.start(n), end: records.end(n) };
          const redaction = redactMessage(sent, scoped.redactor, yielder);
          const redacted = redaction && (await redaction);
          const record = redacted === undefined ? sent : { type, bytes: redacted, start: 0, end: redacted.length };
          const sealing = preseal(record, seal, yielder);
          builder.presealed = sealing && (await sealing);
          const rest = decoder.add(record.bytes, record.start, record.end, scoped);
          if (rest !== undefined) await rest;
        }
        if (yielder.isDue()) await yielder.yield();
      }
    }
  }
}

/** Where a field's value is in the request's bytes; 0 and 0 if the message has no such field. */
function rangeOf(scan: MessageScan, field: number): ByteRange {
  return { start: scan.starts[field]!, end: scan.ends[field]! };
}

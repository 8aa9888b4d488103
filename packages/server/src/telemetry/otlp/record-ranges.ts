/** Walks through the records of an export request. */
import { exportFields } from "../../protobuf/otlp-messages.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import type { MessageType } from "../../protobuf/message-type.ts";

const { resourceGroup: groupField, request: requestField, scopeGroup: scopeField } = exportFields;

/** Where each record is, whatever its resource and scope. */
export function* recordRanges(
  bytes: Uint8Array,
  messages: { readonly request: MessageType; readonly resourceGroup: MessageType; readonly scopeGroup: MessageType },
): Generator<readonly [start: number, end: number]> {
  const request = new MessageScan(messages.request);
  const resourceGroup = new MessageScan(messages.resourceGroup);
  const scopeGroup = new MessageScan(messages.scopeGroup);
  request.read(bytes, 0, bytes.length);
  const resources = request.list(requestField.resourceGroups);
  for (let r = 0; r < resources.length; r += 1) {
    resourceGroup.read(bytes, resources.start(r), resources.end(r));
    const scopes = resourceGroup.list(groupField.scopeGroups);
    for (let s = 0; s < scopes.length; s += 1) {
      scopeGroup.read(bytes, scopes.start(s), scopes.end(s));
      const records = scopeGroup.list(scopeField.records);
      for (let n = 0; n < records.length; n += 1) yield [records.start(n), records.end(n)];
    }
  }
}

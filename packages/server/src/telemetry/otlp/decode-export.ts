/** Walks through an export request: resources, their scopes, their records, each turned into rows. */
import { inputLimit } from "../../input-limits.ts";
import type { GroupReader } from "./groups.ts";
import type { Intake } from "./intake.ts";
import { MessageScan } from "./message-scan.ts";
import type { Signal } from "./signals.ts";
import { Slices } from "../../slices.ts";

/** A span or log record becomes a row without a pause. The points of a metric are rows of their own. */
const maxRecordBytes = inputLimit({
  area: "OpenTelemetry data",
  bounds: "One span or log record",
  value: 3_145_728,
  unit: "bytes",
  error: { instead: "the record is rejected, the others are stored" },
});

/**
 * Reads the whole request into the intake.
 * @throws AppError invalid_request when the bytes are not such a request; then nothing of the intake may be stored
 */
export async function decodeExport(
  bytes: Uint8Array,
  signal: Signal,
  { intake, groups }: { readonly intake: Intake; readonly groups: GroupReader },
): Promise<void> {
  const slices = new Slices();
  const decoder = signal.makeDecoder(intake, slices);
  const request = new MessageScan(signal.messages.request);
  const resourceGroup = new MessageScan(signal.messages.resourceGroup);
  const scopeGroup = new MessageScan(signal.messages.scopeGroup);
  request.read(bytes, 0, bytes.length);
  const resources = request.list(1);
  for (let r = 0; r < resources.length; r += 1) {
    resourceGroup.read(bytes, resources.start(r), resources.end(r));
    const group = await groups.resource(bytes, place(resourceGroup, 1), place(resourceGroup, 3));
    const scopes = resourceGroup.list(2);
    for (let s = 0; s < scopes.length; s += 1) {
      scopeGroup.read(bytes, scopes.start(s), scopes.end(s));
      const scoped =
        "refusal" in group ? group : groups.scope(group, bytes, place(scopeGroup, 1), place(scopeGroup, 3));
      const records = scopeGroup.list(2);
      for (let n = 0; n < records.length; n += 1) {
        if (signal.name !== "metrics" && records.end(n) - records.start(n) > maxRecordBytes) {
          intake.reject(`larger than ${maxRecordBytes} bytes`);
        } else if ("refusal" in scoped) {
          intake.reject(scoped.refusal, decoder.count(bytes, records.start(n), records.end(n)));
        } else {
          const rest = decoder.add(bytes, records.start(n), records.end(n), scoped);
          if (rest !== undefined) await rest;
        }
        if (slices.isOver()) await slices.next();
      }
    }
  }
}

function place(scan: MessageScan, field: number): { readonly start: number; readonly end: number } {
  return { start: scan.starts[field]!, end: scan.ends[field]! };
}

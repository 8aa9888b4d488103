/** Defines what data points of all kinds and their exemplars have in common. */
import type { Hash64 } from "../rows/hash64.ts";
import type { MessageScan, RangeList } from "../../protobuf/message-scan.ts";
import { doubleAt, sfixed64At } from "../../protobuf/numbers.ts";
import type { ResourceScope } from "./resource-scopes.ts";

/** DataPointFlags: the point has no value. */
export const noRecordedValue = 1;

/** The values of a point's row that come from its metric. */
export interface PointContext {
  readonly metric: Uint8Array;
  readonly seriesId: Hash64;
  readonly days: number;
  readonly flags: number;
  readonly exemplars: RangeList | undefined;
  readonly group: ResourceScope;
}

/** The value of a oneof of a double and an integer: the last on the wire. */
export function numberOf(
  bytes: Uint8Array,
  scan: MessageScan,
  field: { readonly asDouble: number; readonly asInt: number },
): number {
  const doubleStart = scan.starts[field.asDouble]!;
  const integerStart = scan.starts[field.asInt]!;
  return doubleStart > integerStart ? doubleAt(bytes, doubleStart) : sfixed64At(bytes, integerStart);
}

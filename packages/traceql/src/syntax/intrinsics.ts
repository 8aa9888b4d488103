/** The names of intrinsics, as queries write them and as results show them. */
import type { Intrinsic, KindValue, StatusValue } from "./ast.ts";

/** Names without a scope. */
export const plainIntrinsics: ReadonlyMap<string, Intrinsic> = new Map<string, Intrinsic>(
  (
    [
      "duration",
      "name",
      "status",
      "statusMessage",
      "kind",
      "parent",
      "rootName",
      "rootServiceName",
      "traceDuration",
      "nestedSetLeft",
      "nestedSetRight",
      "nestedSetParent",
    ] as const
  ).map((name) => [name, name]),
);

/** Names with a scope and a colon. */
export const scopedIntrinsics: ReadonlyMap<string, Intrinsic> = new Map<string, Intrinsic>([
  ["trace:duration", "traceDuration"],
  ["trace:rootName", "rootName"],
  ["trace:rootService", "rootServiceName"],
  ["trace:id", "trace:id"],
  ["span:duration", "duration"],
  ["span:name", "name"],
  ["span:kind", "kind"],
  ["span:status", "status"],
  ["span:statusMessage", "statusMessage"],
  ["span:id", "span:id"],
  ["span:parentID", "span:parentID"],
  ["span:childCount", "childCount"],
  ["event:name", "event:name"],
  ["event:timeSinceStart", "event:timeSinceStart"],
  ["link:traceID", "link:traceID"],
  ["link:spanID", "link:spanID"],
  ["instrumentation:name", "instrumentation:name"],
  ["instrumentation:version", "instrumentation:version"],
]);

/** The shortest name that a query can write for an intrinsic; labels of series have it too. */
export function intrinsicName(intrinsic: Intrinsic): string {
  return intrinsic === "childCount" ? "span:childCount" : intrinsic;
}

export const statusValues: ReadonlySet<string> = new Set<StatusValue>(["error", "ok", "unset"]);
export const kindValues: ReadonlySet<string> = new Set<KindValue>([
  "unspecified",
  "internal",
  "client",
  "server",
  "producer",
  "consumer",
]);

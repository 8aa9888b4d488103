/** Decides of which calls a project that samples content records it. */
import { createHash } from "node:crypto";
import type { FinishedCall } from "../../finished-call.ts";

/**
 * The same for all calls of a conversation, or else of a trace, on every server: a part of a conversation would not be understood.
 * @param percent undefined: all
 */
export function isSampled(
  call: Pick<FinishedCall, "conversation" | "requestId" | "traceparent">,
  percent?: number,
): boolean {
  if (percent === undefined || percent >= 100) return true;
  const sampled = call.conversation ?? traceIdOf(call.traceparent) ?? call.requestId;
  const digest = createHash("sha256").update(sampled).digest();
  return digest.readUInt32BE(0) < (percent / 100) * 2 ** 32;
}

function traceIdOf(traceparent: string | undefined): string | undefined {
  return /^[0-9a-f]{2}-(?<id>[0-9a-f]{32})-/.exec(traceparent ?? "")?.groups?.["id"];
}

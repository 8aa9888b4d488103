/** Which operations the audit log records. What is not excluded here is recorded, so that no new operation is forgotten. */
import type { Operation } from "./operation.ts";

/**
 * `change`: each request, with its object before and after; `export`: each request; `read`: the first one of a caller and an
 * object in an hour.
 */
export type AuditKind = "change" | "export" | "read";

const kindsById: ReadonlyMap<string, AuditKind | undefined> = new Map<string, AuditKind | undefined>([
  ["exportTelemetry", "export"],
  ["deleteSamples", "change"],
  ["validateKey", undefined],
  ["finishSignIn", "change"],
  ["backchannelLogout", "change"],
  // Anyone can send it; what answers the challenge is recorded.
  ["createPasskeyChallenge", undefined],
  // Anyone can send them, and terminals repeat them; the person's approval is recorded.
  ["createDeviceAuthorization", undefined],
  ["createTokens", undefined],
  ["revokeToken", undefined],
  // What returns prompts, answers, and what applications log.
  ["queryLogs", "read"],
  ["queryTraces", "read"],
]);

/** Paths of Loki's and Tempo's APIs that return log lines and spans. */
const readPaths: readonly RegExp[] = [
  /^\/loki\/api\/v1\/(?:query|query_range|tail)$/,
  /^\/tempo\/api\/(?:v2\/)?(?:traces\/|search$)/,
];

/** Administration and sign-in, also where a request has no key yet. */
const administrativePath = /^\/(?:admin|authentication|governance|scim)\//;
/** Requests of applications: calls to models, and telemetry that is stored or queried. */
const applicationPermissions: ReadonlySet<string> = new Set(["inference", "telemetry_write", "telemetry_read", "none"]);

export function auditKindOf({ id, method, path, permission }: Operation): AuditKind | undefined {
  if (kindsById.has(id)) return kindsById.get(id);
  if (readPaths.some((pattern) => pattern.test(path))) return "read";
  if (method === "GET") return undefined;
  return administrativePath.test(path) || !applicationPermissions.has(permission) ? "change" : undefined;
}

/** What a query reads, as narrowly as it says: a conversation, a trace, or a project with its recorded content. */
import type { AuditedInput, AuditedRequest } from "../../http/request-audit.ts";
import type { ActObject } from "./entry.ts";

/** Undefined if the query returns no content. */
export function readObject({ path, scope }: AuditedRequest, { body, query }: AuditedInput): ActObject | undefined {
  const members: Readonly<Record<string, unknown>> = typeof body === "object" && body !== null ? body : {};
  // Lists of traces are without their spans.
  if (members["detail"] === false) return undefined;
  const text = (name: string): string | undefined => {
    const value = members[name] ?? path[name] ?? query.get(name);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const trace = text("trace_id") ?? path["id"];
  if (trace !== undefined) return { kind: "trace", id: trace.toLowerCase(), name: null };
  const conversation = text("conversation_id");
  if (conversation !== undefined) return { kind: "conversation", id: conversation, name: null };
  const project = text("project_name") ?? scope?.namedProject;
  return { kind: "project", id: project ?? null, name: project ?? null };
}

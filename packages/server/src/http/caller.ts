/** Who made a call, for whom, and in which trace, for the call's telemetry. */
import type { Scope } from "../tenant.ts";
import { tagsInHeader, type Tags } from "./request-tags.ts";
import type { RouteInput } from "./route.ts";

export interface Caller {
  readonly scope: Scope;
  readonly requestId: string;
  /** The client's IP address. */
  readonly clientAddress: string | undefined;
  /** The caller's trace context, not validated: https://www.w3.org/TR/trace-context/ */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** The person for whom the application calls, by the application's own identifier. */
  readonly endUser: string | undefined;
  /** The application's conversation or session that the call belongs to. */
  readonly conversation: string | undefined;
  /** The agent that made the call, by the application's own identifier. */
  readonly agent?: string | undefined;
  /** Whether telemetry leaves out its content, whatever the project's settings are. */
  readonly isPrivate: boolean;
  /** By which costs can be added up. */
  readonly tags?: Tags | undefined;
}

/** The members of a request that say who made it. */
export type CallerFields = "scope" | "headers" | "requestId" | "clientAddress";

/** What a call's parameters say in addition to its headers; they take precedence. */
export type NamedCaller = Partial<Pick<Caller, "endUser" | "conversation" | "tags">>;

/** Longer ones cannot be listed. */
const longestId = 1024;

export function callerOf(
  { scope, requestId, clientAddress, headers }: Pick<RouteInput<unknown>, CallerFields>,
  named: NamedCaller = {},
): Caller {
  // Claude Code names its sessions and its subagents in headers of its own.
  const session = textOf(headers["x-session-id"]) ?? textOf(headers["x-claude-code-session-id"]);
  return {
    scope,
    requestId,
    clientAddress,
    traceparent: textOf(headers["traceparent"]),
    tracestate: textOf(headers["tracestate"]),
    endUser: named.endUser ?? textOf(headers["x-user-id"]),
    conversation: idOf(named.conversation ?? session),
    agent: idOf(textOf(headers["x-claude-code-agent-id"])),
    isPrivate: isPrivate({ headers, scope }),
    tags: named.tags ?? tagsInHeader(headers),
  };
}

/** Whether a request or its key asks that telemetry leave out its content: a misspelt value must not record what it should not. */
export function isPrivate({ headers, scope }: Pick<RouteInput<unknown>, "headers" | "scope">): boolean {
  if (scope.key.recordsContent === false) return true;
  const value = headers["x-record-content"];
  return value !== undefined && value !== "" && String(value).toLowerCase() !== "true";
}

function idOf(text: string | undefined): string | undefined {
  return (text?.length ?? 0) > longestId ? undefined : text;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && header !== "" ? header : undefined;
}

/** What the server notes about its requests for the audit log, which tenancy/ keeps. */
import type { Operation } from "../api/operation.ts";
import type { AppError } from "../errors.ts";
import type { CheckedSession } from "../session.ts";
import type { Scope } from "../tenant.ts";
import type { RequestContext } from "./request-context.ts";
import type { RouteInput } from "./route.ts";

/** A request, as far as it is known. */
export interface AuditedRequest {
  readonly operation: Operation;
  readonly path: Readonly<Record<string, string>>;
  /** Undefined: it was refused before, or the operation needs no key. */
  readonly scope: Scope | undefined;
  readonly session: CheckedSession | undefined;
  readonly clientAddress: string | undefined;
  readonly userAgent: string | undefined;
  readonly requestId: string;
}

/** What is read of a request's input, which WebSockets have as well. */
export type AuditedInput = Pick<RouteInput<never>, "query"> & Partial<RouteInput<never>>;

export interface RequestAudit {
  /** Serves a request; what is recorded is recorded when this resolves. */
  serve<Result>(
    request: AuditedRequest,
    input: AuditedInput,
    run: () => Result | Promise<Result>,
  ): Result | Promise<Result>;
  /** Notes that a request failed or was refused. Never throws. */
  failed(request: AuditedRequest, error: AppError): void;
}

export function auditedRequest(
  context: RequestContext,
  operation: Operation,
  path: AuditedRequest["path"],
): AuditedRequest {
  const { clientAddress, request, requestId, scope, session } = context;
  return { operation, path, scope, session, clientAddress, userAgent: request.headers["user-agent"], requestId };
}

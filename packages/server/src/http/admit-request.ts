/** Admits a request before its body is read: checks its key or session and its permission, and counts it against the limits. */
import type { Operation } from "../api/operation.ts";
import type { Permission } from "../permissions.ts";
import type { Scope } from "../tenant.ts";
import { authenticate } from "./authenticate.ts";
import { authenticateSession, sessionSecret } from "./authenticate-session.ts";
import type { RequestAdmission } from "./request-admission.ts";
import type { RequestContext } from "./request-context.ts";
import type { ServeContext } from "./serve-context.ts";

/** @throws AppError as `authorize` and the limits do */
export function admitRequest(
  context: RequestContext,
  operation: Operation,
  server: ServeContext,
): AdmittedRequest | Promise<AdmittedRequest> {
  // Functions of operations without a permission do not read the scope.
  if (operation.permission === "none") return { scope: undefined as never, settle: () => {} };
  const scope = authorize(context, operation, server);
  return scope instanceof Promise
    ? scope.then((authorized) => admitScope(context, { scope: authorized, operation }, server))
    : admitScope(context, { scope, operation }, server);
}

export interface AdmittedRequest {
  readonly scope: Scope;
  /** Returns what the request held of its caller's limits; call it once. */
  readonly settle: () => void;
}

function admitScope(
  context: RequestContext,
  { operation, scope }: { readonly scope: Scope; readonly operation: Operation },
  server: ServeContext,
): AdmittedRequest | Promise<AdmittedRequest> {
  context.cost.organizationId = scope.organizationId;
  const close = server.openRequests.open(scope.organizationId);
  const admitted = (admission: RequestAdmission | undefined): AdmittedRequest => {
    if (admission === undefined) return { scope, settle: close };
    context.cost.chargeTo(admission);
    context.responseHeaders = { ...context.responseHeaders, ...admission.headers() };
    const settle = (): void => {
      admission.settle();
      close();
    };
    return { scope, settle };
  };
  const refused = (error: unknown): never => {
    close();
    throw error;
  };
  try {
    const admission = server.admitRequest?.(scope, operation);
    return admission instanceof Promise ? admission.then(admitted, refused) : admitted(admission);
  } catch (error) {
    return refused(error);
  }
}

/** Checks the request's key or session, and its permission. @throws AppError */
export function authorize(
  context: RequestContext,
  { permission }: Operation,
  server: ServeContext,
): Scope | Promise<Scope> {
  if (permission === "none") throw new Error("The operation needs no key.");
  const requirePermission = (scope: Scope): Scope => {
    context.scope = scope;
    if (permission !== "any") scope.require(permission);
    return scope;
  };
  const scope = authenticateRequest(context, permission, server);
  return scope instanceof Promise ? scope.then(requirePermission) : requirePermission(scope);
}

function authenticateRequest(
  context: RequestContext,
  permission: Permission | "any",
  { checkKey, failedKeys, sessions, originOf }: ServeContext,
): Scope | Promise<Scope> {
  const { request } = context;
  const from = { address: context.clientAddress, failedKeys };
  const secret = sessions === undefined ? undefined : sessionSecret(request, { sessions, originOf });
  if (sessions === undefined || secret === undefined) return authenticate(request.headers, checkKey, from);
  return authenticateSession(request, secret, { sessions, originOf, permission, from }).then(({ session, scope }) => {
    context.session = session;
    context.note({ session_id: session.sessionId });
    return scope;
  });
}

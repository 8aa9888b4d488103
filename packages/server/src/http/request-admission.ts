/** Limits as http/ sees them: a request is admitted once its key is known, before its body is read. */
import type { Operation } from "../api/operation.ts";
import type { Scope } from "../tenant.ts";

/** What an admitted request holds of its caller's limits until it ends. */
export interface RequestAdmission {
  /** Counts seconds of work that the request caused. */
  charge(computeSeconds: number): void;
  /** `x-ratelimit-…` headers for the response. */
  headers(): Readonly<Record<string, string>>;
  settle(): void;
}

/**
 * undefined for operations that are not limited here; inference is admitted by its own routes, which estimate tokens.
 * @throws AppError rate_limited
 */
export type AdmitRequest = (scope: Scope, operation: Operation) => RequestAdmission | undefined;

/** What http/ needs of the limits: it admits a request once its key is known, before it reads the body. */
import type { Operation } from "../api/operation.ts";
import type { Scope } from "../tenant.ts";

/** What an admitted request holds of its caller's limits until it is settled. */
export interface RequestAdmission {
  /** Charges compute seconds that the request used. */
  charge(computeSeconds: number): void;
  /** `x-ratelimit-…` headers for the response. */
  headers(): Readonly<Record<string, string>>;
  settle(): void;
}

/**
 * Undefined for operations that are not limited here. Inference is admitted by its own routes, which estimate tokens.
 * A promise if limits are shared with other processes and must be asked for.
 * @throws AppError rate_limited
 */
export type AdmitRequest = (
  scope: Scope,
  operation: Operation,
) => RequestAdmission | Promise<RequestAdmission> | undefined;

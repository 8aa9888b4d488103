/** The error that the engines of PromQL, LogQL and TraceQL throw deliberately. */

/** `invalid_request`: the query or its limits are at fault; `client_closed`: it was cancelled. */
export type QueryErrorCode = "invalid_request" | "timeout" | "client_closed";

interface QueryErrorDetails {
  /** The parameter that is wrong, as the query's HTTP API names it: `query`, `step`. */
  readonly param?: string | undefined;
  readonly cause?: unknown;
}

/** Callers see `message`: it says what is wrong, and where. What a storage throws is passed on as it is. */
export class QueryError extends Error {
  override readonly name = "QueryError";
  readonly code: QueryErrorCode;
  readonly param: string | undefined;

  constructor(code: QueryErrorCode, message: string, { cause, param }: QueryErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.param = param;
  }
}

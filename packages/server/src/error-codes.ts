/** The table of error codes; a code determines the HTTP status and the type on the wire. */

/** What a code means on the wire. `code` is the machine-readable code in the body; null if `type` suffices. */
interface ErrorKind {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  /** Whether the same request may succeed later; sent as `x-should-retry`, which OpenAI's clients obey. */
  readonly retryable: boolean;
  /** When the error occurs, for docs/reference/errors.md. */
  readonly when: string;
}

export const errorTable = {
  invalid_request: {
    status: 400,
    type: "invalid_request_error",
    code: null,
    retryable: false,
    when: "A field is missing, has the wrong type or breaks a rule; `param` names it.",
  },
  invalid_json: {
    status: 400,
    type: "invalid_request_error",
    code: "invalid_json",
    retryable: false,
    when: "The body is not valid JSON, not UTF-8, or nested too deeply; the message says what is wrong and where.",
  },
  unsupported_parameter: {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_parameter",
    retryable: false,
    when: "The requested model does not support a parameter; Sounding drops nothing silently.",
  },
  context_length_exceeded: {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    retryable: false,
    when: "The prompt and the requested completion do not fit in the model's context.",
  },
  content_filter: {
    status: 400,
    type: "invalid_request_error",
    code: "content_filter",
    retryable: false,
    when: "A guardrail or the engine refused the prompt because of its content; the message names the category.",
  },
  invalid_api_key: {
    status: 401,
    type: "authentication_error",
    code: "invalid_api_key",
    retryable: false,
    when: "The API key is missing, unknown, expired or revoked.",
  },
  invalid_session: {
    status: 401,
    type: "authentication_error",
    code: "invalid_session",
    retryable: false,
    when: "The session of the web console is unknown, has expired, or has ended with its key. Sign in again.",
  },
  invalid_sign_in_code: {
    status: 401,
    type: "authentication_error",
    code: "invalid_sign_in_code",
    retryable: false,
    when: "The sign-in code is wrong, was already used, or has expired.",
  },
  invalid_credentials: {
    status: 401,
    type: "authentication_error",
    code: "invalid_credentials",
    retryable: false,
    when: "The mail address, the password or the one-time code is wrong.",
  },
  second_factor_required: {
    status: 401,
    type: "authentication_error",
    code: "second_factor_required",
    retryable: false,
    when: "The password is right, and the account needs a one-time code as well: send it as `code`.",
  },
  sign_in_failed: {
    status: 400,
    type: "invalid_request_error",
    code: "sign_in_failed",
    retryable: false,
    when: "The sign-in at an identity provider was not started in this browser, took too long, or the provider's answer is not valid.",
  },
  sign_in_refused: {
    status: 403,
    type: "permission_error",
    code: "sign_in_refused",
    retryable: false,
    when: "The person may not sign in: no rule and no administrator gives them access, or they are disabled.",
  },
  cross_origin: {
    status: 403,
    type: "permission_error",
    code: "cross_origin",
    retryable: false,
    when: "The request authenticates with a session cookie and does not come from the server's own pages.",
  },
  permission_denied: {
    status: 403,
    type: "permission_error",
    code: "permission_denied",
    retryable: false,
    when: "The key lacks the permission that the operation needs.",
  },
  organization_mismatch: {
    status: 403,
    type: "permission_error",
    code: "organization_mismatch",
    retryable: false,
    when: "The request names an organization or account other than the key's own.",
  },
  project_mismatch: {
    status: 403,
    type: "permission_error",
    code: "project_mismatch",
    retryable: false,
    when: "The key is bound to one project and the request names another.",
  },
  model_not_allowed: {
    status: 403,
    type: "permission_error",
    code: "model_not_allowed",
    retryable: false,
    when: "The model is not on the organization's allow list.",
  },
  not_found: {
    status: 404,
    type: "not_found_error",
    code: "not_found",
    retryable: false,
    when: "The path or object does not exist.",
  },
  model_not_found: {
    status: 404,
    type: "not_found_error",
    code: "model_not_found",
    retryable: false,
    when: "No configured or discovered model has this ID.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    code: "method_not_allowed",
    retryable: false,
    when: "The path does not support this HTTP method.",
  },
  timeout: {
    status: 408,
    type: "timeout_error",
    code: "request_timeout",
    retryable: true,
    when: "The request's own `timeout` elapsed, or its body did not arrive in time.",
  },
  conflict: {
    status: 409,
    type: "invalid_request_error",
    code: "conflict",
    retryable: false,
    when: "An object with this name already exists, or the object is archived or revoked and can no longer change.",
  },
  payload_too_large: {
    status: 413,
    type: "invalid_request_error",
    code: "payload_too_large",
    retryable: false,
    when: "The body is larger than the limit.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    code: "unsupported_media_type",
    retryable: false,
    when: "The content type or encoding of the body is not supported.",
  },
  rate_limited: {
    status: 429,
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    retryable: true,
    when: "A limit on requests, tokens, compute seconds or concurrent requests is reached, or a queue is full; `Retry-After` says when to retry.",
  },
  quota_exceeded: {
    status: 429,
    type: "rate_limit_error",
    code: "insufficient_quota",
    retryable: false,
    when: "The monthly token budget is used up, or the call does not fit into a budget in money; the message names it and says when it starts again.",
  },
  headers_too_large: {
    status: 431,
    type: "invalid_request_error",
    code: "headers_too_large",
    retryable: false,
    when: "The request's headers are larger than the limit.",
  },
  client_closed: {
    status: 499,
    type: "invalid_request_error",
    code: "client_closed",
    retryable: false,
    when: "The client disconnected; this is logged and never sent.",
  },
  internal: {
    status: 500,
    type: "server_error",
    code: "internal_error",
    retryable: true,
    when: "An internal error; the message contains no details, the server's log has them under the request ID.",
  },
  upstream_failed: {
    status: 502,
    type: "upstream_error",
    code: "upstream_error",
    retryable: true,
    when: "An engine failed or returned an invalid response.",
  },
  overloaded: {
    status: 503,
    type: "overloaded_error",
    code: "overloaded",
    retryable: true,
    when: "The server has no capacity at the moment or is shutting down; `Retry-After` is set.",
  },
  identity_provider_unavailable: {
    status: 503,
    type: "upstream_error",
    code: "identity_provider_unavailable",
    retryable: true,
    when: "An identity provider cannot be reached, or its responses cannot be used. Sessions and API keys are not affected.",
  },
  upstream_timeout: {
    status: 504,
    type: "timeout_error",
    code: "upstream_timeout",
    retryable: true,
    when: "An engine did not respond in time.",
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorTable;

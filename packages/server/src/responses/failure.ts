/** Failures as a response tells them. */
import type { AppError, ErrorCode } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";

/** As OpenAI names them; Codex decides by them whether to try again. */
const failureCodes: Readonly<Partial<Record<ErrorCode, string>>> = {
  context_length_exceeded: "context_length_exceeded",
  rate_limited: "rate_limit_exceeded",
  quota_exceeded: "insufficient_quota",
  invalid_request: "invalid_prompt",
  content_filter: "invalid_prompt",
};

export function failureOf({ code, message }: AppError): JsonObject {
  return { code: failureCodes[code] ?? "server_error", message };
}

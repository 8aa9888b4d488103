/** Errors as the Messages API has them. https://platform.claude.com/docs/en/api/errors */
import type { WireEvent } from "../engines/wire.ts";
import type { AppError } from "../errors.ts";

const typesByStatus: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

export interface MessageErrorBody {
  readonly type: "error";
  readonly error: { readonly type: string; readonly message: string };
}

export function toMessageError({ code, message, status }: AppError): MessageErrorBody {
  const type = typesByStatus[status] ?? "invalid_request_error";
  // Claude Code recognizes these words, and shortens the conversation.
  const isRecognized = code !== "context_length_exceeded" || message.startsWith("prompt is too long");
  return { type: "error", error: { type, message: isRecognized ? message : `prompt is too long: ${message}` } };
}

export function errorEvent(error: AppError): WireEvent {
  return { name: "error", data: JSON.stringify(toMessageError(error)) };
}

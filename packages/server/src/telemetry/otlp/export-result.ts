/**
 * Writes responses to exporters: success, partial success, or an error as google.rpc.Status, in protobuf or JSON.
 * https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto
 */
import { type AppError, retryAfterMs } from "../../errors.ts";
import { encodeMessage } from "../../protobuf/encode-message.ts";
import { message } from "../../protobuf/message-type.ts";
import type { Signal } from "./signals.ts";

/** The encoding of the request, which is also that of the response. */
export type Encoding = "protobuf" | "json";

export const mediaTypes: Readonly<Record<Encoding, string>> = {
  protobuf: "application/x-protobuf",
  json: "application/json",
};

/** JSON if the request says so; otherwise protobuf, OTLP's default. */
export function encodingOf(contentType: string | undefined): Encoding {
  return contentType?.split(";", 1)[0]!.trim().toLowerCase() === mediaTypes.json ? "json" : "protobuf";
}

/** Maximum length of a text in a response; responses must stay below 4 MiB. */
const maximumTextLength = 2000;

const rejectedCount = message("PartialSuccess", { rejected: [1, "int64"], errorMessage: [2, "string"] });
const exportResponse = message("ExportResponse", { partialSuccess: [1, rejectedCount] });

/** The result of an accepted request. */
export interface ExportResult {
  readonly accepted: number;
  readonly rejected: number;
  /** Exemplars of accepted data points. */
  readonly exemplars: number;
  /** Why records were rejected. */
  readonly message: string | undefined;
}

/** The signal's export response; empty if everything was accepted. */
export function writeExportResult(
  { rejected, message: reason }: ExportResult,
  signal: Signal,
  encoding: Encoding,
): Uint8Array {
  if (rejected === 0) return Buffer.from(encoding === "json" ? "{}" : "");
  const errorMessage = (reason ?? "").slice(0, maximumTextLength).toWellFormed();
  if (encoding === "protobuf") return encodeMessage(exportResponse, { partialSuccess: { rejected, errorMessage } });
  // 64-bit integers are strings in protobuf's JSON.
  return Buffer.from(JSON.stringify({ partialSuccess: { [signal.rejectedField]: String(rejected), errorMessage } }));
}

/** google.rpc.Code */
export const rpcCodes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const codeByStatus: Readonly<Record<number, number>> = {
  400: rpcCodes.invalidArgument,
  401: rpcCodes.unauthenticated,
  403: rpcCodes.permissionDenied,
  404: rpcCodes.notFound,
  405: rpcCodes.unimplemented,
  408: rpcCodes.deadlineExceeded,
  409: rpcCodes.alreadyExists,
  413: rpcCodes.resourceExhausted,
  415: rpcCodes.invalidArgument,
  429: rpcCodes.resourceExhausted,
  499: rpcCodes.cancelled,
  502: rpcCodes.unavailable,
  503: rpcCodes.unavailable,
  504: rpcCodes.deadlineExceeded,
};

/** The error's google.rpc.Code. */
export function rpcCodeOf(error: AppError): number {
  return codeByStatus[error.status] ?? rpcCodes.internal;
}

const any = message("google.protobuf.Any", { typeUrl: [1, "string"], value: [2, "bytes"] });
const rpcStatus = message("google.rpc.Status", {
  code: [1, "int32"],
  message: [2, "string"],
  details: [3, any, "repeated"],
});
const fieldViolation = message("google.rpc.BadRequest.FieldViolation", {
  field: [1, "string"],
  description: [2, "string"],
});
const badRequest = message("google.rpc.BadRequest", { fieldViolations: [1, fieldViolation, "repeated"] });
const duration = message("google.protobuf.Duration", { seconds: [1, "int64"], nanos: [2, "int32"] });
const retryInfo = message("google.rpc.RetryInfo", { retryDelay: [1, duration] });

const typePrefix = "type.googleapis.com/google.rpc.";

/** The error as google.rpc.Status, with the invalid field or the retry delay as details. */
export function writeStatus(error: AppError, encoding: Encoding): Uint8Array {
  const text = error.message.slice(0, maximumTextLength).toWellFormed();
  const violations =
    error.status === 400 ? [{ field: (error.param ?? "").toWellFormed(), description: text }] : undefined;
  const delayMs = retryAfterMs(error);
  const status = { code: rpcCodeOf(error), message: text };
  return encoding === "json" ? statusJson(status, violations, delayMs) : statusProtobuf(status, violations, delayMs);
}

interface StatusHead {
  readonly code: number;
  readonly message: string;
}
type Violations = readonly { readonly field: string; readonly description: string }[] | undefined;

function statusJson(status: StatusHead, fieldViolations: Violations, delayMs: number | undefined): Uint8Array {
  const details = [
    ...(fieldViolations === undefined ? [] : [{ "@type": `${typePrefix}BadRequest`, fieldViolations }]),
    ...(delayMs === undefined ? [] : [{ "@type": `${typePrefix}RetryInfo`, retryDelay: `${delayMs / 1000}s` }]),
  ];
  return Buffer.from(JSON.stringify({ ...status, ...(details.length === 0 ? {} : { details }) }));
}

function statusProtobuf(status: StatusHead, fieldViolations: Violations, delayMs: number | undefined): Uint8Array {
  const details: { typeUrl: string; value: string }[] = [];
  if (fieldViolations !== undefined) {
    const value = encodeMessage(badRequest, { fieldViolations }).toString("base64");
    details.push({ typeUrl: `${typePrefix}BadRequest`, value });
  }
  if (delayMs !== undefined) {
    const whole = Math.floor(delayMs / 1000);
    const retryDelay = { seconds: whole, nanos: Math.round((delayMs - whole * 1000) * 1e6) };
    details.push({
      typeUrl: `${typePrefix}RetryInfo`,
      value: encodeMessage(retryInfo, { retryDelay }).toString("base64"),
    });
  }
  return encodeMessage(rpcStatus, { ...status, details });
}

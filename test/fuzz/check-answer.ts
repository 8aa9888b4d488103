/** Checks every response: documented status, documented error format, a request ID. */
import { errorTable } from "../../packages/server/src/errors.ts";
import type { Answer } from "./http-connection.ts";

/** The error formats: OpenAI's, Anthropic's, Prometheus', Loki's, Tempo's, google.rpc.Status, SCIM's, that of AI Refinery's administration. */
export type Dialect = "openai" | "refinery" | "anthropic" | "scim" | "prometheus" | "loki" | "tempo" | "rpc";

export function dialectOf(path: string): Dialect {
  if (/^\/prometheus(?:[/?]|$)/.test(path)) return "prometheus";
  if (/^\/(?:loki(?:[/?]|$)|ready(?:\?|$))/.test(path)) return "loki";
  if (/^\/tempo(?:[/?]|$)/.test(path)) return "tempo";
  if (/^\/scim(?:[/?]|$)/.test(path)) return "scim";
  if (/^\/v1\/messages(?:[/?]|$)/.test(path)) return "anthropic";
  if (/^\/(?:governance|authentication\/(?:create|inspect|list|revoke))(?:[/?]|$)/.test(path)) return "refinery";
  return /^\/v1\/(?:traces|logs|metrics)(?:\?|$)/.test(path) ? "rpc" : "openai";
}

interface Expectation {
  readonly dialect: Dialect;
  /** Statuses of 500 and more that are correct besides 503 `overloaded`: those of a failing engine. */
  readonly serverErrors?: readonly number[];
}

const kinds: ReadonlySet<string> = new Set(
  Object.values(errorTable).map(({ status, type, code }) => `${status} ${type} ${code}`),
);

/** What is wrong with the response, if anything. */
export function faultOf(answer: Answer, { dialect, serverErrors = [] }: Expectation): string | undefined {
  const { status, headers, body } = answer;
  if (!Number.isInteger(status) || status < 100 || status > 599)
    return `the status line is not one of HTTP (${status})`;
  const requestIds = headers.get("x-request-id") ?? [];
  if (requestIds.length !== 1 || requestIds[0] === "")
    return `it has ${requestIds.length} x-request-id headers (status ${status})`;
  if (status >= 500 && status !== 503 && !serverErrors.includes(status)) return `status ${status}: ${head(body)}`;
  const type = headers.get("content-type")?.[0] ?? "";
  if (status >= 400) return answer.whole ? faultOfError(answer, dialect, type) : undefined;
  if (answer.whole && type.startsWith("application/json") && parse(body) === undefined)
    return `a JSON body that cannot be parsed: ${head(body)}`;
  return undefined;
}

function faultOfError({ status, body }: Answer, dialect: Dialect, type: string): string | undefined {
  // Node's parser refuses some requests before the router knows the path.
  const value = parse(body) as Record<string, unknown> | undefined;
  if (dialect === "rpc") {
    if (type === "application/x-protobuf")
      return body[0] === 0x08 ? undefined : `an error that is not google.rpc.Status: ${head(body)}`;
    if (typeof value?.["code"] === "number" && typeof value["message"] === "string") return undefined;
  }
  if (dialect === "prometheus" && value?.["status"] === "error") {
    return typeof value["errorType"] === "string" && typeof value["error"] === "string"
      ? undefined
      : `an error without Prometheus' members: ${head(body)}`;
  }
  // The message alone, as text: from Tempo's API and from Loki's push API.
  if ((dialect === "tempo" || dialect === "loki") && type.startsWith("text/plain") && body.length > 0) return undefined;
  if (dialect === "loki" && value?.["status"] === "error") {
    return value["code"] === status && typeof value["message"] === "string"
      ? undefined
      : `an error without Loki's members: ${head(body)}`;
  }
  if (dialect === "anthropic" && value?.["type"] === "error") {
    const { message, type: kind } = value["error"] as { message?: unknown; type?: unknown };
    return typeof message === "string" && typeof kind === "string" && kind !== ""
      ? undefined
      : `an error without Anthropic's members: ${head(body)}`;
  }
  if (dialect === "scim" && Array.isArray(value?.["schemas"])) {
    return value["status"] === String(status) && typeof value["detail"] === "string"
      ? undefined
      : `an error without SCIM's members: ${head(body)}`;
  }
  if (dialect === "refinery" && typeof value?.["error"] === "string") {
    return ["code", "param"].every((name) => name in value)
      ? undefined
      : `an error without code and param: ${head(body)}`;
  }
  const error = value?.["error"] as Record<string, unknown> | undefined;
  const isComplete =
    typeof error === "object" && error !== null && ["message", "type", "param", "code"].every((name) => name in error);
  if (!isComplete || typeof error["message"] !== "string")
    return `an error (${status}) in no documented form: ${head(body)}`;
  if (!kinds.has(`${status} ${String(error["type"])} ${String(error["code"])}`)) {
    return `an error that docs/reference/errors.md does not have: ${status} ${String(error["type"])} ${String(error["code"])}`;
  }
  if (error["type"] === "server_error") return `status ${status}: ${head(body)}`;
  return undefined;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

const head = (body: Buffer): string => JSON.stringify(body.toString("utf8", 0, 200));

/** Converts the HTTP response to a result or an error; pure. */
import { InvalidAnswerError, statusError, type ApiStatusError, type StatusErrorDetails } from "./errors.ts";

/** A response without its body. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
  /** The response's `x-request-id`, for the operator of the server. */
  readonly requestId: string | null;
}

export interface WholeAnswer {
  readonly head: AnswerHead;
  readonly bytes: Uint8Array;
}

export function answerHead(status: number, headers: Headers): AnswerHead {
  return { status, headers, requestId: headers.get("x-request-id") };
}

const heads = new WeakMap<object, AnswerHead>();

/** Status, headers and request ID of the response that a result came in; undefined for any other object. */
export function responseOf(result: object): AnswerHead | undefined {
  return heads.get(result);
}

/** Lets `responseOf` find the response that a result came in. */
export function keepHead<T extends object>(result: T, head: AnswerHead): T {
  heads.set(result, head);
  return result;
}

/** Reads a JSON object; its members are not checked. Throws InvalidAnswerError. */
export function readJson(answer: WholeAnswer): object {
  const text = new TextDecoder().decode(answer.bytes);
  const value: unknown = parsedOrUndefined(text);
  if (typeof value !== "object" || value === null) {
    const type = answer.head.headers.get("content-type") ?? "no content type";
    throw new InvalidAnswerError(`The response is not a JSON object (${type}): ${excerpt(text)}`);
  }
  return keepHead(value, answer.head);
}

/** The error for a response with a status other than 2xx. */
export function errorOfAnswer(answer: WholeAnswer): ApiStatusError {
  const text = new TextDecoder().decode(answer.bytes);
  const body: unknown = parsedOrUndefined(text) ?? text;
  const fallback = `The server responded with status ${answer.head.status}${text === "" ? "." : `: ${excerpt(text)}`}`;
  return statusError(errorDetails(body, answer.head, fallback));
}

/** Reads OpenAI's error object from a body, as far as it is present. */
export function errorDetails(body: unknown, head: AnswerHead, fallbackMessage: string): StatusErrorDetails {
  const outer = memberOf(body, "error") ?? body;
  const text = (name: string): string | null => {
    const value = memberOf(outer, name);
    return typeof value === "string" ? value : typeof value === "number" ? String(value) : null;
  };
  return {
    status: head.status,
    message: text("message") ?? (typeof outer === "string" && outer !== body ? outer : fallbackMessage),
    code: text("code"),
    type: text("type"),
    param: text("param"),
    headers: head.headers,
    body,
  };
}

export function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The start of a text, on one line, for an error message. */
export function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

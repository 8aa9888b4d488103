/** A route, which a feature provides to http/: an operation and the function that serves it. */
import type { Operation } from "../api/operation.ts";
import type { AbortSource } from "../cancellation.ts";
import type { AppError } from "../errors.ts";
import type { LogFields } from "../logger.ts";
import type { MemoryBudget, MemoryCharge } from "../memory-budget.ts";
import type { CheckedSession } from "../session.ts";
import type { Scope } from "../tenant.ts";
import type { CutTexts } from "./json-outline.ts";
import type { FormBody, FormLimits } from "./form.ts";
import type { RequestOrigin } from "./request-origin.ts";

/** One validated request: its body satisfies the operation's schema, and its scope has the permission. */
export interface RouteInput<Body> {
  readonly body: Body;
  /** The body as received, decompressed; empty if there was none. */
  readonly bytes: Buffer;
  /** Present if long texts of the body may be cut, for routes that take them. */
  readonly texts?: CutTexts | undefined;
  /** The form, while it is still being received, for operations that take one. */
  readonly form: FormBody | undefined;
  readonly scope: Scope;
  /** The session of a request that authenticates by its cookie. */
  readonly session: CheckedSession | undefined;
  /** The scheme and the host that the client used, as far as trusted proxies report them. */
  readonly origin: () => RequestOrigin;
  /** The parameters in the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** The path as the client sent it. */
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly requestId: string;
  /** The client's IP address, as far as trusted proxies report it. */
  readonly clientAddress: string | undefined;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** The source of `signal`, for those who can do without an `AbortSignal`. */
  readonly cancellation: AbortSource;
  /** The request's memory: charge it before you allocate in proportion to the input or the result. */
  readonly memory: MemoryCharge;
  /** Adds fields to the request's log line. */
  note(fields: LogFields): void;
}

/** One request for a WebSocket, before its connection is upgraded. */
export interface SocketInput extends Pick<
  RouteInput<never>,
  "scope" | "path" | "query" | "headers" | "requestId" | "note"
> {
  /** Aborts when the client disconnects, its key is revoked or the server stops. */
  readonly signal: AbortSignal;
  /** Opens a charge for work while the WebSocket is open; the caller releases it. */
  openMemory(): MemoryCharge;
}

/** An open WebSocket. */
export interface MessageSocket {
  /** Sends a text message. */
  send(text: string): void;
  /** Bytes that were sent and that the client has not received yet. */
  readonly queuedBytes: number;
}

/** Serves an open WebSocket; the connection is closed when the promise settles. Must reject when the input's signal fires. */
export type ServeSocket = (socket: MessageSocket) => Promise<void>;

/** A header with several values is sent once for each. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

export type RouteResponse =
  | { readonly kind: "json"; readonly value: unknown; readonly status?: number; readonly headers?: ResponseHeaders }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly type: string; readonly headers?: ResponseHeaders }
  | { readonly kind: "text"; readonly text: string; readonly type: string; readonly headers?: ResponseHeaders }
  | { readonly kind: "empty"; readonly status: number; readonly headers?: ResponseHeaders }
  /** A stream of bytes; if it fails, the connection is reset. */
  | {
      readonly kind: "stream";
      readonly bytes: AsyncIterable<Uint8Array>;
      readonly type: string;
      readonly headers?: ResponseHeaders;
    }
  /** JSON lines, each without its line break; a failed stream ends with a line of type `error`. */
  | { readonly kind: "lines"; readonly lines: AsyncIterable<string>; readonly headers?: ResponseHeaders }
  /**
   * Server-sent events: each item is the JSON text of one `data:` field. `[DONE]` follows the last one unless `done` is
   * false.
   */
  | {
      readonly kind: "events";
      readonly events: AsyncIterable<string>;
      readonly done?: boolean;
      readonly headers?: ResponseHeaders;
    }
  /** Server-sent events with names; `errorEvent` tells of a failure after the given number of events. */
  | {
      readonly kind: "named_events";
      readonly events: AsyncIterable<NamedEvent>;
      readonly errorEvent: (error: AppError, sequence: number) => NamedEvent;
      readonly headers?: ResponseHeaders;
    };

export interface NamedEvent {
  /** Undefined for the default type. */
  readonly name: string | undefined;
  /** JSON. */
  readonly data: string;
}

/** An operation and the function that serves it. Only `route` knows the type of the body; http/ validates the value. */
export interface Route extends RouteOptions {
  readonly operation: Operation;
  readonly serve: (input: RouteInput<never>) => Promise<RouteResponse> | RouteResponse;
}

/** Exceptions of a route from the defaults. */
export interface RouteOptions {
  /** Largest body after decompression; absent: the limit of JSON bodies. */
  readonly bodyLimitBytes?: number;
  /** Required for an operation with a form. */
  readonly form?: FormLimits;
  /** The memory budget of its requests; absent: the server's. */
  readonly memory?: MemoryBudget;
  /**
   * Serves requests for a WebSocket. What it throws becomes an HTTP error; what it returns serves the connection once it is
   * upgraded. Absent: such requests are served like others.
   */
  readonly upgrade?: (input: SocketInput) => ServeSocket | Promise<ServeSocket>;
  /** Whether long texts of its bodies may be cut, until `texts.restore` puts them back. */
  readonly takesCutTexts?: boolean;
  /** Writes error bodies in the format of the operation's protocol; absent: OpenAI's error object. */
  readonly writeError?: ErrorWriter;
  /** A path such as `/v1`: `writeError` also writes the errors of requests to unknown paths under it. */
  readonly errorsUnder?: string;
}

export type ErrorWriter = (
  error: AppError,
  request: {
    /** As received. */
    readonly contentType: string | undefined;
    readonly requestId: string | undefined;
  },
) => { readonly bytes: Uint8Array; readonly type: string; readonly headers?: ResponseHeaders };

export function route<Body>(
  operation: Operation<Body>,
  serve: (input: RouteInput<Body>) => Promise<RouteResponse> | RouteResponse,
  options: RouteOptions = {},
): Route {
  return { operation, serve, ...options };
}

export function json(value: unknown, status = 200, headers: ResponseHeaders = {}): RouteResponse {
  return { kind: "json", value, status, headers };
}

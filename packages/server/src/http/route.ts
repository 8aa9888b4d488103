/** What a feature gives to http/: an operation and the function that serves it. No framework type is in sight. */
import type { Operation } from "../api/operation.ts";
import type { AppError } from "../errors.ts";
import type { LogFields } from "../logger.ts";
import type { MemoryBudget, MemoryCharge } from "../memory-budget.ts";
import type { Scope } from "../tenant.ts";
import type { FormBody, FormLimits } from "./form.ts";

/** One request, checked: the body satisfies the operation's schema and the scope has its permission. */
export interface RouteInput<Body> {
  readonly body: Body;
  /** The body's bytes as they came; empty when there was none. */
  readonly bytes: Buffer;
  /** The body of an operation with a form, still being read. */
  readonly form: FormBody | undefined;
  readonly scope: Scope;
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly requestId: string;
  /** Aborted when the client goes away, when the request's time is up or when the server must stop. */
  readonly signal: AbortSignal;
  /** What the request holds of the memory budget: charge here before you allocate in proportion to the input or the result. */
  readonly memory: MemoryCharge;
  /** Adds fields to the request's one log line. */
  note(fields: LogFields): void;
}

export type ResponseHeaders = Readonly<Record<string, string>>;

export type RouteResponse =
  | { readonly kind: "json"; readonly value: unknown; readonly status?: number; readonly headers?: ResponseHeaders }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly type: string; readonly headers?: ResponseHeaders }
  | { readonly kind: "text"; readonly text: string; readonly type: string; readonly headers?: ResponseHeaders }
  | { readonly kind: "empty"; readonly status: number; readonly headers?: ResponseHeaders }
  /** Bytes of some media type while they are made; when the making fails the connection is reset. */
  | {
      readonly kind: "stream";
      readonly bytes: AsyncIterable<Uint8Array>;
      readonly type: string;
      readonly headers?: ResponseHeaders;
    }
  /** Lines of JSON, each without its line break; a failure is told in a last line of type `error`. */
  | { readonly kind: "lines"; readonly lines: AsyncIterable<string>; readonly headers?: ResponseHeaders }
  /**
   * Server-sent events: each item is the JSON text of one `data:` frame; `[DONE]` is added after the last one unless
   * `done` is false.
   */
  | {
      readonly kind: "events";
      readonly events: AsyncIterable<string>;
      readonly done?: boolean;
      readonly headers?: ResponseHeaders;
    };

/** An operation and its server. The type of the body is known to `route` alone; http checks the value against the schema. */
export interface Route extends RouteOptions {
  readonly operation: Operation;
  readonly serve: (input: RouteInput<never>) => Promise<RouteResponse> | RouteResponse;
}

/** Where a route differs from the others. */
export interface RouteOptions {
  /** Largest body, after decompression; absent: the limit of JSON bodies. */
  readonly bodyLimitBytes?: number;
  /** For an operation with a form; must be there. */
  readonly form?: FormLimits;
  /** The budget that the memory of a request counts against; absent: the server's. */
  readonly memory?: MemoryBudget;
  /** An error's body in the dialect of the operation's protocol; absent: OpenAI's error object. */
  readonly writeError?: ErrorWriter;
}

/** @param contentType the request's, as it was sent */
export type ErrorWriter = (
  error: AppError,
  contentType: string | undefined,
) => { readonly bytes: Uint8Array; readonly type: string };

export function route<Body>(
  operation: Operation<Body>,
  serve: (input: RouteInput<Body>) => Promise<RouteResponse> | RouteResponse,
  options: RouteOptions = {},
): Route {
  return { operation, serve, ...options };
}

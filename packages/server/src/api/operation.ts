/** One operation of the service as data: what it is called, where it is, what goes in and what comes out. */
import { inputLimit } from "../input-limits.ts";
import type { Permission } from "../tenant.ts";
import type { Schema } from "./schema.ts";

export interface Operation<Body = unknown, Answer = unknown> {
  /** camelCase, unique: the operationId of the OpenAPI document. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With parameters as `{name}`; `{+name}` at the end takes the rest of the path, slashes included (RFC 6570). */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** What the key must be allowed to do; `none`: no key is asked for; `any`: any valid key. */
  readonly permission: Permission | "none" | "any";
  readonly body?: Schema<Body>;
  /** Largest body; absent: `server.max_json_body_bytes`, which also bounds this. */
  readonly maxBodyBytes?: number;
  /** The body's members may stand in the query string as well (the body's win), and the body may be absent. */
  readonly queryAsBody?: boolean;
  /** A body that is not one JSON value with a schema: the route gets its bytes. Not together with `body`. */
  readonly rawBody?: { readonly types: readonly string[]; readonly description: string };
  /** A body of `multipart/form-data` with one file in the field `file`. Not together with `body`. */
  readonly form?: {
    /** The fields as the operation reads them; on the wire they are strings. */
    readonly fields: Schema<unknown>;
    /** What the file is. */
    readonly file: string;
  };
  /** Names and meanings of the path's parameters. */
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** Names and meanings of the query string's parameters, all optional. */
  readonly queryParameters?: Readonly<Record<string, string>>;
  readonly answer: {
    readonly status?: number;
    readonly type: string;
    readonly schema?: Schema<Answer>;
    readonly description: string;
  };
  /** What comes instead when the caller asks for a stream. */
  readonly stream?: { readonly type: string; readonly schema: Schema<unknown>; readonly description: string };
  /** The form of errors where it is another than OpenAI's error object. */
  readonly errors?: { readonly types: readonly string[]; readonly description: string };
  /** Example request body, shown in the docs and sent by a test. */
  readonly example?: unknown;
}

export const queryBodyBytes = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Body of a query",
  value: 1_048_576,
  unit: "bytes",
  error: "payload_too_large",
});
export const adminBodyBytes = inputLimit({
  area: "Administration",
  bounds: "Body of a request to the admin API",
  value: 262_144,
  unit: "bytes",
  error: "payload_too_large",
});

export function operation<Body, Answer>(definition: Operation<Body, Answer>): Operation<Body, Answer> {
  return definition;
}

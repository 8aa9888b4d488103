/** Defines an operation of the API as data: its name, path, request and responses. */
import { inputLimit } from "../input-limits.ts";
import type { Permission } from "../permissions.ts";
import type { Schema } from "./schema.ts";

export interface Operation<Body = unknown, Answer = unknown> {
  /** camelCase, unique: the operationId of the OpenAPI document. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters as `{name}`; `{+name}` takes the rest of the path, slashes included (RFC 6570), except literal segments after it. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Permission that the key needs; `none`: no key is required; `any`: any valid key. */
  readonly permission: Permission | "none" | "any";
  /** Whether only operators may call it, in addition to the permission. Its route refuses others. */
  readonly operator?: true;
  readonly body?: Schema<Body>;
  /** Largest body; absent: `server.max_json_body_bytes`, which also limits this value. */
  readonly maxBodyBytes?: number;
  /**
   * The body's members may be sent in the query string as well (the body's take precedence), and the body may be
   * absent.
   */
  readonly queryAsBody?: boolean;
  /** A body that is not one JSON value with a schema: the route receives its bytes. Not together with `body`. */
  readonly rawBody?: {
    readonly types: readonly string[];
    readonly description: string;
    /** Types of which a body is always compressed by Snappy's block format. */
    readonly snappyTypes?: readonly string[];
  };
  /** A body of `multipart/form-data` with one file in the field `file`. Not together with `body`. */
  readonly form?: {
    /** The fields as the operation reads them; in the request they are strings. */
    readonly fields: Schema<unknown>;
    /** Description of the file. */
    readonly file: string;
  };
  /** Names and descriptions of the path's parameters. */
  readonly pathParameters?: Readonly<Record<string, string>>;
  /** Names and descriptions of the query string's parameters, all optional. */
  readonly queryParameters?: Readonly<Record<string, string>>;
  readonly answer: {
    readonly status?: number;
    readonly type: string;
    readonly schema?: Schema<Answer>;
    readonly description: string;
  };
  /** The response if the caller requests a stream. */
  readonly stream?: { readonly type: string; readonly schema: Schema<unknown>; readonly description: string };
  /** The format of errors if it is not OpenAI's error object. */
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

/** Messages between the synchronous client and its worker thread. The client always waits for one reply. */
import type { FileSource } from "./file-input.ts";
import type { FormBody } from "./multipart.ts";
import type { PortableError } from "./portable-error.ts";
import type { HttpRequest } from "./request.ts";

/** A request without the parts that cannot leave its thread. */
export type PortableRequest = Omit<HttpRequest, "signal" | "body"> & {
  readonly body: string | PortableForm | undefined;
};

/** A form; `asked`: the pieces of the file are requested one by one. */
export type PortableForm = Omit<FormBody, "source"> & {
  readonly source: Exclude<FileSource, { kind: "pieces" }> | { readonly kind: "asked" };
};

/** To the worker. `call` numbers the calls; `send`, `open` and `read` are answered by one reply, the others by none. */
export type SyncOrder =
  | { readonly kind: "send" | "open"; readonly call: number; readonly request: PortableRequest }
  | { readonly kind: "read" | "close" | "finish"; readonly call: number }
  /** The response to `key`; undefined if there is none. */
  | { readonly kind: "key"; readonly call: number; readonly key: string | undefined }
  /** The response to `piece`; undefined at the end; `failed` if there will be no more. */
  | { readonly kind: "piece"; readonly call: number; readonly piece: unknown; readonly failed?: true };

export type PortableHeaders = readonly (readonly [string, string])[];

/** From the worker. `key` asks for the API key of an attempt, `piece` for the next of a file; the reply itself follows. */
export type SyncReply =
  | { readonly kind: "key"; readonly call: number }
  | { readonly kind: "piece"; readonly call: number }
  | {
      readonly kind: "whole";
      readonly call: number;
      readonly status: number;
      readonly headers: PortableHeaders;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "head"; readonly call: number; readonly status: number; readonly headers: PortableHeaders }
  | { readonly kind: "bytes"; readonly call: number; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "error"; readonly call: number; readonly error: PortableError };

/** The data that the worker is started with. */
export interface SyncWorkerData {
  readonly port: import("node:worker_threads").MessagePort;
  /** Counts the worker's messages; the client waits on it. */
  readonly counter: Int32Array<SharedArrayBuffer>;
}

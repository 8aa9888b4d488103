/** What the synchronous client and its worker thread say to each other. The client always waits for one reply. */
import type { PortableError } from "./portable-error.ts";
import type { HttpRequest } from "./request.ts";

/** A request without what cannot leave its thread. */
export type PortableRequest = Omit<HttpRequest, "signal">;

/** To the worker. `call` numbers the calls; `send`, `open` and `read` are answered by one reply, the others by none. */
export type SyncOrder =
  | { readonly kind: "send" | "open"; readonly call: number; readonly request: PortableRequest }
  | { readonly kind: "read" | "close" | "finish"; readonly call: number }
  /** The answer to `key`; undefined when there is none. */
  | { readonly kind: "key"; readonly call: number; readonly key: string | undefined };

export type PortableHeaders = readonly (readonly [string, string])[];

/** From the worker. `key` asks for the API key of an attempt; the reply itself follows. */
export type SyncReply =
  | { readonly kind: "key"; readonly call: number }
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

/** What the worker is started with. */
export interface SyncWorkerData {
  readonly port: import("node:worker_threads").MessagePort;
  /** Counts the messages of the worker; the client waits on it. */
  readonly counter: Int32Array<SharedArrayBuffer>;
}

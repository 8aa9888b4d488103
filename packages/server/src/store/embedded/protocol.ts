/** What the server and the embedded store's process agree on: the messages outside the socket, and how many reads run at a time. */

/** Tenants' queries that the engine runs at a time. */
export const mostEmbeddedReads = 8;

export interface EngineSettings {
  /** The engine's data folder; created if missing. */
  readonly dataDirectory: string;
  /** The spool folder of rows to insert. */
  readonly spoolDirectory: string;
  readonly socketPath: string;
  readonly memoryBytes: number;
}

export type ToEngine = { readonly type: "start"; readonly settings: EngineSettings } | { readonly type: "stop" };

export type FromEngine =
  | { readonly type: "ready"; readonly version: string }
  /** The package `chdb` is not installed, or not for this platform. */
  | { readonly type: "absent"; readonly reason: string }
  | { readonly type: "failed"; readonly reason: string }
  /** Only a new process can answer. */
  | { readonly type: "unusable"; readonly reason: string };

/** What the server and the embedded store's process say to each other beside the socket. */

export interface EngineSettings {
  /** Folder of the engine's data; created when missing. */
  readonly dataDirectory: string;
  /** Folder for rows on their way in. */
  readonly spoolDirectory: string;
  readonly socketPath: string;
  readonly memoryBytes: number;
}

export type ToEngine = { readonly type: "start"; readonly settings: EngineSettings } | { readonly type: "stop" };

export type FromEngine =
  | { readonly type: "ready"; readonly version: string }
  /** The package `chdb` is not installed, or not for this platform. */
  | { readonly type: "absent"; readonly reason: string }
  | { readonly type: "failed"; readonly reason: string };

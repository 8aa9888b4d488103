/** The synchronous client of Sounding, for Node, with everything that the main entry exports. */
export * from "./index.ts";
export type { SyncEventStream } from "./mode.ts";
export { Sounding, type SyncClientOptions } from "./sounding.ts";

/**
 * A case of the interface: what it shows, and how. Cases are written once and run with both clients: `await` and
 * `for await` take the values and the iterables of the synchronous client as well.
 */
import type { AsyncSounding } from "@sounding/client";
import type { SyncClientOptions } from "@sounding/client/sync";
import type { Facts } from "./known-service.ts";
import type { Requirement } from "./requirements.ts";

export interface InterfaceTools {
  readonly mode: "asynchronous" | "synchronous";
  /** A client of the organization that `facts` tell of; the synchronous one passes for the asynchronous one here. */
  readonly client: AsyncSounding;
  /** Makes a client with other options. */
  readonly make: (options: SyncClientOptions) => AsyncSounding;
  readonly facts: Facts;
}

export interface InterfaceCase {
  readonly name: string;
  /** The requirements that the case shows. */
  readonly shows: readonly Requirement[];
  /** Whether the case is about transcription by the engine that comes with the server, which Debian's packages bring. */
  readonly needsRecogniser?: boolean;
  /** Fails when the server or the client does not do as required. */
  readonly run: (tools: InterfaceTools) => Promise<void>;
}

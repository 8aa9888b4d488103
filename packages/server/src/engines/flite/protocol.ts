/** Defines the messages between the server and a worker thread of Flite. */
import type { Utterance } from "./flite-library.ts";
import type { FliteVoiceName } from "./voices.ts";
import type { WasmModule } from "../../web-assembly.ts";

/** Given to a worker when it starts. */
export interface WorkerSetup {
  readonly module: WasmModule;
}

/** One phrase to speak. A worker gets the next one when it has answered. */
export interface FlitePhrase {
  /** ASCII without control characters. */
  readonly text: string;
  readonly voice: FliteVoiceName;
  /** Length of the speech, relative to the voice's own pace. */
  readonly stretch: number;
}

export type FromWorker = { readonly type: "ready" } | { readonly type: "spoken"; readonly utterance: Utterance };

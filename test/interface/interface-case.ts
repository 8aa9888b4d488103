/** A case of the interface: what it shows, and how. It runs with both clients, and fails where they or the server do otherwise. */
import type { CaseTools } from "../../packages/client/test/mode-case.ts";
import type { Facts } from "./known-service.ts";
import type { Requirement } from "./requirements.ts";

export interface InterfaceTools extends CaseTools {
  readonly facts: Facts;
}

export interface InterfaceCase {
  readonly name: string;
  /** The requirements that the case shows. */
  readonly shows: readonly Requirement[];
  /** Whether the case is about transcription by the engine that comes with the server, which Debian's packages bring. */
  readonly needsRecogniser?: boolean;
  readonly run: (tools: InterfaceTools) => Promise<void>;
}

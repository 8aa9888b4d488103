/** One case of the interface tests: the promises that it shows, and the calls that show them. It runs with both clients. */
import type { CaseTools } from "../../packages/client/test/mode-case.ts";
import type { Facts } from "./known-service.ts";

export interface InterfaceTools extends CaseTools {
  readonly facts: Facts;
}

export interface InterfaceCase {
  readonly name: string;
  /** Promises of docs/reference/interface.md, as `section/name`. */
  readonly shows: readonly string[];
  /** Whether the case needs the bundled recognizer, which uses Debian's PocketSphinx packages. */
  readonly needsRecognizer?: boolean;
  readonly run: (tools: InterfaceTools) => Promise<void>;
}

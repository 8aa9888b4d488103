/** One case of the interface tests: the promises that it shows, and the calls that show them. */
import type { CaseTools } from "../../packages/client/test/mode-case.ts";
import type { Facts } from "./known-service.ts";

export interface InterfaceTools extends CaseTools {
  readonly facts: Facts;
}

interface NamedCase {
  readonly name: string;
  /** Promises of docs/reference/interface.md, as `section/name`. */
  readonly shows: readonly string[];
  /** Whether the case needs the bundled recognizer, which uses Debian's PocketSphinx packages. */
  readonly needsRecognizer?: boolean;
}

/** Runs with both clients. */
interface ClientCase extends NamedCase {
  readonly withoutClient?: never;
  readonly run: (tools: InterfaceTools) => Promise<void>;
}

/** Sends its own requests, and so runs once. */
interface RequestCase extends NamedCase {
  readonly withoutClient: true;
  readonly run: (tools: Pick<InterfaceTools, "facts">) => Promise<void>;
}

export type InterfaceCase = ClientCase | RequestCase;

/** The expected outcome of a case against a scripted server, in both modes. */
import type { Answer } from "./scripted-server.ts";

export interface Expectation {
  readonly answers: readonly Answer[];
  readonly outcome: unknown;
  /** How many requests the server sees. */
  readonly requests: number;
  /** Path and body of the first request, if they matter. */
  readonly sent?: readonly [path: string, body: unknown];
  /** Whether the client must cancel the first request, which the server would leave open. */
  readonly cancelled?: boolean;
}

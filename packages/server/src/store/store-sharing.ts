/** What the telemetry stores of one server's processes share: one engine, one process for each background job, each other's rows. */
import type { EngineEvents, SupervisedEngine } from "./embedded/supervised-engine.ts";

export interface StoreSharing {
  /** Processes that read from the store at the same time. */
  readonly processes: number;
  /** This process's own folder in the journal's. */
  readonly journalFolder: string;
  /** Follows the embedded engine, which another process runs. */
  followEngine(events: EngineEvents): SupervisedEngine;
  /** Runs the job in one process at a time. */
  runAlone(name: string, run: (signal: AbortSignal) => Promise<void>): { close(): Promise<void> };
  /** Resolves when queries see every row of the organization that other processes have acknowledged. */
  whenOthersVisible(organizationId: string): Promise<void>;
  /** Answers the same question of other processes. */
  answerOthers(whenVisible: (organizationId: string) => Promise<void> | undefined): void;
}

/** What the telemetry stores of one server's processes share: one engine, each other's rows. */
import type { EngineEvents, SupervisedEngine } from "./embedded/supervised-engine.ts";

export interface StoreSharing {
  /** Processes that read from the store at the same time. */
  readonly processes: number;
  /** This process's own folder in the journal's. */
  readonly journalFolder: string;
  /** Follows the embedded engine, which another process runs. */
  followEngine(events: EngineEvents): SupervisedEngine;
  /** Resolves when queries see every row of the organization that other processes have acknowledged. */
  whenOthersVisible(organizationId: string): Promise<void>;
  /** Answers the same question of other processes. */
  answerOthers(whenVisible: (organizationId: string) => Promise<void> | undefined): void;
}

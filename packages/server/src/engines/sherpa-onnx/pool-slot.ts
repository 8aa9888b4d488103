/** Defines a slot of a pool: a process of a model, and the work that it does. */
import type { JobQueue, QueuedJob } from "../job-queue.ts";
import type { ModelProcess } from "./model-process.ts";
import type { Work } from "./protocol.ts";

export interface Job extends QueuedJob {
  readonly work: Work;
  resolve(result: never): void;
  /** The caller has been answered or has disconnected. */
  cancelled: boolean;
}

/** A process and its current jobs. */
export interface Slot {
  readonly process: ModelProcess;
  job: Job | undefined;
  /** Work of streams that live in this process. */
  readonly streamJobs: JobQueue<Job>;
  streams: number;
}

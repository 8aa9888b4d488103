/** Defines what a pool of processes is given, and how its processes, their work and their sessions are described. */
import type { LogFields, Logger } from "../logger.ts";
import type { JobOptions, JobQueue, QueuedJob } from "../scheduling/job-queue.ts";

/** A process or thread of a pool. */
export interface PooledProcess {
  /** Resolves when it has ended, with the reason if one is known. */
  readonly ended: Promise<unknown>;
  /** False from when it is known to end; absent: until it has ended. */
  readonly isRunning?: boolean;
  /** Ends it immediately. */
  stop(): unknown;
}

export interface ProcessPoolOptions<Process extends PooledProcess> {
  /** Maximum number of processes. */
  readonly most: number;
  /** Names the pool in errors: `The model "small"`. */
  readonly what: string;
  readonly logger: Logger;
  readonly logFields?: LogFields;
  readonly messages: { readonly failed: string; readonly notStarted: string; readonly idle: string };
  /** Resolves when the process is ready. @param signal aborts when the pool is closed */
  start(signal: AbortSignal): Promise<Process>;
  /** What a process loads: a `lasting` failure to start is reported until one of these files changes. */
  files?(): readonly string[];
  /** Orders the work; absent: see `JobQueue`. */
  readonly queue?: WaitingQueue<PoolJob<Process>>;
  /** The error that callers get for failed work; absent: the cause itself. */
  failure?(cause: unknown): unknown;
  /** How long a process may finish cancelled work before it is replaced; absent: not at all. */
  graceMs?(process: Process, sessions: number): number;
  /** A process that needs longer for one piece of work is stuck; absent where work has limits of its own. */
  readonly longestWorkMs?: number;
  /** Undefined: an idle process is never stopped. */
  readonly idleMs?: number | undefined;
  /**
   * Longest pause before a process that crashed is replaced; 0 where a start is cheap, so that one caller's input delays no
   * other caller.
   */
  readonly longestPauseAfterCrashMs?: number;
}

/** Work that waits, or is done by a process. */
export interface PoolJob<Process extends PooledProcess> extends QueuedJob {
  run(process: Process): Promise<void>;
  /** The caller has its result, or has disconnected. */
  isOver: boolean;
}

/** Which work is next. */
export interface WaitingQueue<Job extends QueuedJob> {
  readonly length: number;
  push(job: Job): void;
  next(): Job | undefined;
  remove(job: Job): void;
  rejectAll(error: unknown): void;
}

/** A caller's place in a process that keeps state for it. */
export interface PoolSession<Process extends PooledProcess> extends Disposable {
  readonly process: Process;
  /** Does work in this process. */
  run<Result>(turn: JobOptions, work: (process: Process) => Promise<Result>): Promise<Result>;
  /** Work that does not go through `run` has succeeded. */
  succeed(): void;
}

/** A process, and what it does. */
export interface PoolSlot<Process extends PooledProcess> {
  readonly process: Process;
  job: PoolJob<Process> | undefined;
  /** Work of the sessions in this process. */
  readonly sessionJobs: JobQueue<PoolJob<Process>>;
  sessions: number;
  /** Ends a process that is stuck or idle. */
  timer: NodeJS.Timeout | undefined;
}

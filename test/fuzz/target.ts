/** A fuzz target: it generates inputs from a random source and defines what each of them may do. */
import type { Random } from "./random.ts";

interface Target {
  readonly name: string;
  /** Share of the time, relative to other targets; 1 if absent. */
  readonly share?: number;
  /** About how many inputs a second it takes on one core; divides a number of inputs so that each target gets its share of the time. */
  readonly perSecond: number;
  /** What `generate` needs. */
  prepare?(): Promise<void>;
  generate(random: Random): Uint8Array;
}

/** Code that runs in a worker thread of the harness. */
export interface DirectTarget extends Target {
  readonly kind: "direct";
  /** Longest hold of the thread in milliseconds of CPU; absent: the run's bound. */
  readonly holdMs?: number;
  /** Returns a word for the result of the input, for the counts. What it throws is a finding. */
  run(input: Uint8Array): Promise<string> | string;
}

/** Requests to a server in its own process. */
export interface ServedTarget extends Target {
  readonly kind: "served";
  readonly transport: "http1" | "http2";
  /** Whether the input is damaged below HTTP, so that silence and a closed connection are also valid. */
  readonly isRaw?: boolean;
  /** Statuses above 499 that a failing engine explains. */
  readonly serverErrors?: readonly number[];
}

export type AnyTarget = DirectTarget | ServedTarget;

/**
 * What the processes that share limits ask of the one place that counts for all of them, and its answers. Messages are plain
 * JSON, so that any transport can carry them.
 * docs/adr/0041-shared-limits.md
 */

/** Counts for all processes: in memory, in Postgres or in Valkey. */
export interface LimitLedger {
  /**
   * Applies the whole request at one time of the ledger's own clock, and answers in the same order.
   * Rejects if the ledger cannot be reached; it may then have applied the request, or may still do so.
   */
  exchange(request: LedgerRequest): Promise<LedgerAnswer>;
  close(): Promise<void>;
}

export interface LedgerRequest {
  /** Identifies one run of a process. */
  readonly holder: string;
  /** Grows with every request of the holder, so that a late request cannot undo a newer one. */
  readonly sequence: number;
  /** How long the holder may use what a bucket grants, from when it sent the request. */
  readonly leaseMs: number;
  /** After this time without a request of the holder, its slots are free. */
  readonly slotLeaseMs: number;
  /** Each bucket at most once. */
  readonly buckets: readonly BucketRequest[];
  /** Each group of slots at most once. */
  readonly slots: readonly SlotRequest[];
}

export interface LedgerAnswer {
  readonly buckets: readonly BucketAnswer[];
  readonly slots: readonly SlotAnswer[];
}

/** Asks a token bucket for amounts, and reports what became of earlier ones. */
export interface BucketRequest {
  readonly id: string;
  /** The size of the bucket, and its refill per minute. */
  readonly perMinute: number;
  /** Granted for later calls and not used. Like `charged`, it is applied before anything is granted. */
  readonly returned: number;
  /** By how much calls used more than was granted for them, which may overdraw the bucket; negative: less. */
  readonly charged: number;
  /** What waiting calls need together. They use it at once; if they cannot, `charged` corrects it. */
  readonly demand: number;
  /** The least amount that one of them can use. */
  readonly atLeast: number;
  /** What the holder would like for later calls. The ledger grants only a share of what is left. */
  readonly spare: number;
}

export interface BucketAnswer {
  /** A whole number; what exceeds `demand` is for later calls. */
  readonly granted: number;
  /** Taken and not yet refilled, over all processes, `granted` included; above the size when the bucket is overdrawn. */
  readonly taken: number;
}

/** Reports how many slots the holder uses, and asks for more. Numbers are absolute, so repeating a request is harmless. */
export interface SlotRequest {
  readonly id: string;
  readonly limit: number;
  readonly inUse: number;
  /** How many more are needed now. */
  readonly demand: number;
  /** How many more the holder would like for later calls. The ledger grants only a share of what is left. */
  readonly spare: number;
}

export interface SlotAnswer {
  /** What the holder may use now, `inUse` included. */
  readonly held: number;
  /** What all other holders may use. */
  readonly others: number;
}

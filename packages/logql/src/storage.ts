/**
 * What the LogQL engine needs from a store. The engine knows no tenants: a storage is created for one tenant, and no query
 * text can reach past it.
 */
import type { Labels } from "@sounding/promql/series/labels";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { LabelMatcher, LineFilter } from "./syntax/ast.ts";

/** The entries that a query needs. */
export interface EntriesRequest {
  /** On stream labels. Every entry of the answer matches all of them. */
  readonly matchers: readonly LabelMatcher[];
  /** Line filters at the start of the pipeline. A store may skip entries that do not pass; the engine applies them again. */
  readonly lineFilters: readonly LineFilter[];
  /**
   * Matchers that the query has on labels before any stage changes them; they apply to structured metadata and stream labels.
   * A store may skip entries that do not match; the engine applies them again.
   */
  readonly metadataMatchers: readonly LabelMatcher[];
  /** Nanoseconds since 1970: from included, to excluded. */
  readonly fromUnixNano: bigint;
  readonly toUnixNano: bigint;
  /** `backward`: newest first. Entries of the same time are in a fixed order. */
  readonly direction: "forward" | "backward";
  /** How many entries the query is likely to take; undefined: all. */
  readonly expectedEntries: number | undefined;
  /** What the query reads of an entry besides its time and stream: the rest may be empty. */
  readonly needs: {
    readonly line: boolean;
    /** `all`, or only the names that the query mentions. */
    readonly structuredMetadata: "all" | readonly string[];
  };
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
  /** Charges the bytes of a batch before it is kept; throws if they are too many. */
  readonly charge: (bytes: number) => void;
}

/** Some entries in the order of the request, as columns of equal length. */
export interface EntryBatch {
  readonly count: number;
  /** Nanoseconds since 1970. */
  readonly unixNanos: BigInt64Array | BigUint64Array;
  readonly lines: readonly string[];
  /** Bytes of each line in UTF-8, also where the lines were not needed. */
  readonly lineBytes: Uint32Array;
  /** The stream of each entry: an index into `streams`. */
  readonly streamIndexes: Uint32Array;
  readonly streams: readonly Labels[];
  /** Of each entry: name, value, name, value …; names are as valid as label names, no empty values. */
  readonly structuredMetadata: readonly (readonly string[])[];
}

/** A count of entries or of the bytes of their lines, by time and labels. */
export interface CountsRequest extends Omit<EntriesRequest, "direction" | "expectedEntries" | "needs" | "lineFilters"> {
  readonly lineFilters: readonly LineFilter[];
  readonly measure: "entries" | "bytes";
  /** The end of each window, `count` of them; a window is open at its start and closed at its end, as in PromQL. */
  readonly windowEndMs: { readonly first: number; readonly stepMs: number; readonly count: number };
  readonly windowMs: number;
  /** Labels to count by; null: by stream and all structured metadata. */
  readonly groupBy: { readonly labels: readonly string[]; readonly without: boolean } | null;
  /** The query fails with more series than this: a store may leave out what comes after the first one too many. */
  readonly maximumSeries: number;
}

/** Values at the steps of a query. `present` has 1 for each step that has a value, else 0. */
export interface CountSeries {
  readonly labels: Labels;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

export interface LogqlStorage {
  /** The entries that match, batch by batch in the order of the request. Ending the iteration ends the statements. */
  entries(request: EntriesRequest): AsyncIterable<EntryBatch>;
  /** Optional: counts entries in the store, or null if it cannot do so exactly. */
  counts?(request: CountsRequest): Promise<readonly CountSeries[] | null>;
}

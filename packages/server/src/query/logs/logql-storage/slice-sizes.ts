/**
 * Divides the range of a query into slices that hold neither too many rows nor too few: each one's length follows from the
 * number of rows that the slices before it had.
 */
import type { Direction, LogPosition } from "../log-position.ts";
import type { TimeRange } from "../../time-window.ts";
import type { SliceRows } from "./read-slice.ts";

export interface Slice extends TimeRange {
  /** Only entries after this one in the order of the query. */
  readonly after: LogPosition | undefined;
  readonly limit: number;
}

interface SliceOptions extends TimeRange {
  readonly direction: Direction;
  readonly expectedEntries: number | undefined;
  /** Whether rows that are not found cost little. */
  readonly isIndexed: boolean;
  readonly nowUnixNano: bigint;
}

/** Rows of a statement. More would be faster by little, and have to wait in memory. */
const mostRows = 8192;
/** A short query is likely to be done with its first slice. */
const fewestRows = 64;
const growth = 4;
const firstLengthNanos = 60_000_000_000n;
const shortestNanos = 1_000_000n;
/** How many rows of the limit a slice is meant to have: a slice that reaches its limit is read by two statements. */
const aimedShare = 0.6;
const fastestGrowth = 8;
const fastestIndexedGrowth = 64;

export class SliceSizes {
  readonly #direction: Direction;
  readonly #nowUnixNano: bigint;
  readonly #fastestGrowth: number;
  #from: bigint;
  #to: bigint;
  #lengthNanos = firstLengthNanos;
  #limit: number;
  #mostRows = mostRows;
  #after: LogPosition | undefined;
  #current: Slice | undefined;

  constructor({ direction, expectedEntries, fromUnixNano, isIndexed, nowUnixNano, toUnixNano }: SliceOptions) {
    this.#direction = direction;
    this.#fastestGrowth = isIndexed ? fastestIndexedGrowth : fastestGrowth;
    this.#from = fromUnixNano;
    this.#to = toUnixNano;
    this.#nowUnixNano = nowUnixNano;
    this.#limit = expectedEntries === undefined ? 1024 : Math.min(mostRows, Math.max(fewestRows, expectedEntries));
  }

  /** The next slice; undefined at the end of the range. */
  next(): Slice | undefined {
    if (this.#from > this.#to) return undefined;
    this.#current = { ...this.#nextRange(), after: this.#after, limit: this.#limit };
    return this.#current;
  }

  #nextRange(): TimeRange {
    if (this.#direction === "forward") {
      const end = this.#from + this.#lengthNanos - 1n;
      return { fromUnixNano: this.#from, toUnixNano: end < this.#to ? end : this.#to };
    }
    // Nothing is expected after the current time, so that entries from there belong to the newest slice.
    const newest = this.#to < this.#nowUnixNano ? this.#to : this.#nowUnixNano;
    const start = newest - this.#lengthNanos + 1n;
    return { fromUnixNano: start > this.#from ? start : this.#from, toUnixNano: this.#to };
  }

  /** Takes note of what the slice had. */
  done(rows: SliceRows | "too-large"): void {
    const slice = this.#current!;
    if (rows === "too-large") {
      this.#mostRows = Math.max(1, Math.floor(slice.limit / growth));
      this.#limit = this.#mostRows;
      return;
    }
    const { count, last } = rows;
    const reached = count >= slice.limit && last !== undefined;
    if (this.#direction === "forward") this.#from = reached ? BigInt(last.unixNano) : slice.toUnixNano + 1n;
    else this.#to = reached ? BigInt(last.unixNano) : slice.fromUnixNano - 1n;
    this.#after = reached ? last : undefined;
    this.#limit = Math.min(this.#mostRows, this.#limit * growth);
    this.#resize(count, this.#covered(slice));
  }

  /** How much of the slice's time its rows cover. */
  #covered({ fromUnixNano, toUnixNano }: Slice): bigint {
    if (this.#direction === "forward") return this.#from - fromUnixNano;
    const newest = toUnixNano < this.#nowUnixNano ? toUnixNano : this.#nowUnixNano;
    return newest - this.#to;
  }

  #resize(count: number, covered: bigint): void {
    const aimed = this.#limit * aimedShare;
    const factor = Math.min(this.#fastestGrowth, count === 0 ? this.#fastestGrowth : aimed / count);
    const length = BigInt(Math.ceil(Number(covered > 0n ? covered : 0n) * factor));
    this.#lengthNanos = length > shortestNanos ? length : shortestNanos;
  }
}

/** What floats and histograms of a remote write request have in common. */
export interface WrittenTime {
  /** UNIX milliseconds. */
  readonly timeMs: number;
  /** When the series began to count, UNIX milliseconds; 0 if unknown. */
  readonly startMs: number;
  /** The series ended here. */
  readonly isStale: boolean;
}

/** Prometheus' stale marker is a NaN with these bits, of which a number in JavaScript may lose some. */
const staleMarker = Buffer.from([2, 0, 0, 0, 0, 0, 0xf0, 0x7f]);

/** Whether the double at this position is the stale marker. @param at 0: absent */
export function isStaleAt(bytes: Buffer, at: number): boolean {
  return at !== 0 && staleMarker.compare(bytes, at, at + 8) === 0;
}

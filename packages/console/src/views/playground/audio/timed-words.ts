/** Words with the times at which they are spoken, and which of them is spoken at a moment. */

export interface TimedWord {
  readonly text: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
}

/**
 * The index of the word that is spoken at a moment; in a pause, of the word before it. -1 before the first word.
 * @param words in order of time
 */
export function wordAt(words: readonly TimedWord[], seconds: number): number {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[middle]!.start <= seconds) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** `0:04.2`, or `1:02:03.4` from an hour on. */
export function formatClock(seconds: number): string {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const minutes = Math.floor(tenths / 600);
  const rest = `${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}:${rest}`;
}

/** Renders series of numbers as lines of small bars. */

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** One bar per number, from minimum to maximum; a space for anything that is not a finite number. */
export function sparkline(values: readonly number[]): string {
  const finite = values.filter((value) => Number.isFinite(value));
  const lowest = Math.min(0, ...finite);
  const highest = Math.max(...finite, lowest);
  const scale = highest === lowest ? 0 : (bars.length - 1) / (highest - lowest);
  return values.map((value) => (Number.isFinite(value) ? bars[Math.round((value - lowest) * scale)]! : " ")).join("");
}

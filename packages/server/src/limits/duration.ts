/** Formats durations like OpenAI's rate-limit headers (Go's format): `12ms`, `1s`, `8.64s`, `6m0s`, `1h0m0s`. */
export function formatDuration(durationMs: number): string {
  const wholeMs = Math.max(0, Math.ceil(durationMs - 1e-6));
  if (wholeMs === 0) return "0s";
  if (wholeMs < 1000) return `${wholeMs}ms`;
  const minutes = Math.floor(wholeMs / 60_000);
  const seconds = `${(wholeMs - minutes * 60_000) / 1000}s`;
  if (minutes === 0) return seconds;
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}

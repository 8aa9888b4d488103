/**
 * Gives times to segments and words that an engine sent without: aligners have none for what they could not align, such as
 * numbers, and some engines have none at all. The text is right, so it is placed between its neighbors by its length.
 */

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface Entry {
  readonly text: string;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

/** The spans of the entries, which are in order. @param within where they all are */
export function spansOf(entries: readonly Entry[], within: Span): Span[] {
  const spans: Span[] = [];
  let lastMs = within.startMs;
  for (let at = 0; at < entries.length;) {
    const { startMs = lastMs, endMs } = entries[at]!;
    if (endMs !== undefined) {
      const begin = Math.max(0, Math.min(startMs, endMs));
      spans.push({ startMs: begin, endMs: Math.max(begin, endMs) });
      lastMs = spans.at(-1)!.endMs;
      at += 1;
      continue;
    }
    // Entries up to the next one of which anything is known share the time until then.
    let next = at + 1;
    while (next < entries.length && entries[next]!.startMs === undefined && entries[next]!.endMs === undefined)
      next += 1;
    const nextMs = entries[next]?.startMs ?? entries[next]?.endMs ?? within.endMs;
    const begin = Math.max(0, startMs);
    const run = entries.slice(at, next);
    // There may be more than a call takes arguments.
    for (const span of divided(run, { startMs: begin, endMs: Math.max(begin, nextMs) })) spans.push(span);
    lastMs = spans.at(-1)!.endMs;
    at = next;
  }
  return spans;
}

function divided(entries: readonly Entry[], { startMs, endMs }: Span): Span[] {
  const total = entries.reduce((sum, { text }) => sum + text.length, 0) || 1;
  let before = 0;
  const timeAt = (characters: number): number => startMs + ((endMs - startMs) * characters) / total;
  return entries.map(({ text }) => {
    const begin = timeAt(before);
    before += text.length;
    return { startMs: begin, endMs: timeAt(before) };
  });
}

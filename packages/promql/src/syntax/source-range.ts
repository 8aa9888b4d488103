/** A range of a query's text: offsets in UTF-16 units, the end exclusive. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** The range of a node that code created, which is in no text. */
export const nowhere: SourceRange = Object.freeze({ start: 0, end: 0 });

/** A position as Prometheus writes it, `line:column`, both from 1; columns count bytes of UTF-8. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return `${line}:${new TextEncoder().encode(before.slice(lineStart)).length + 1}`;
}

/** Wraps text at the width of the terminal, between words where possible. */
import { cutToWidth, widthOf } from "./text-width.ts";

/** A line needs at least this much room; narrower terminals wrap by themselves. */
const leastRoom = 16;

export interface WrapOptions {
  /** Columns of the terminal; undefined: nothing is wrapped. */
  readonly width: number | undefined;
  /** Columns that precede the first line. */
  readonly used: number;
  /** Precedes every further line. */
  readonly indent: string;
}

/** The text with its line breaks, wrapped and indented. */
export function wrapText(text: string, { width = Infinity, used, indent }: WrapOptions): string {
  const room = width - indent.length < leastRoom ? Infinity : width - indent.length;
  let first = room === Infinity ? Infinity : width - used;
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    // A first line without room for a few words begins below.
    if (lines.length === 0 && first < leastRoom && widthOf(line) > first) lines.push("");
    let rest = line;
    for (let left = lines.length === 0 ? first : room; widthOf(rest) > left; left = room) {
      const fitting = cutToWidth(rest, left + 1).slice(0, -1);
      const space = fitting.lastIndexOf(" ");
      const end = rest[fitting.length] === " " || space < left / 2 ? fitting.length : space;
      lines.push(rest.slice(0, end));
      rest = rest.slice(end).trimStart();
    }
    lines.push(rest);
    first = room;
  }
  return lines.join(`\n${indent}`);
}

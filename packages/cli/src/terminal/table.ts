/**
 * Writes tables. In a terminal a table is as wide as the terminal at most: wide cells are cut with `…`, and columns that a
 * reader can do without are left out. Anywhere else every cell is complete.
 */
import { styleText } from "node:util";
import type { CommandIo } from "../command.ts";
import { oneLine, write } from "../output.ts";
import { cutToWidth, padToWidth, widthOf } from "./text-width.ts";

export interface Column {
  readonly title: string;
  /** Numbers are aligned right. */
  readonly align?: "left" | "right";
  /** Never cut, because part of it is of no use, such as a number or an ID. */
  readonly whole?: boolean;
  /** The width that it keeps if it is cut. */
  readonly least?: number;
  /** Left out if the terminal is too narrow; the highest number is left out first. */
  readonly optional?: number;
}

type Style = Parameters<typeof styleText>[0];

/** The text of a cell, on its own or with a style. Line breaks and control characters in it are replaced. */
export type Cell = string | { readonly text: string; readonly style: Style };

/** Every row has as many cells as there are columns. */
export async function writeTable(
  io: Pick<CommandIo, "stdout" | "colors" | "terminalWidth">,
  columns: readonly (string | Column)[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  const described = columns.map((column) => (typeof column === "string" ? { title: column } : column));
  const lines = layOut(described, rows, { width: io.terminalWidth, colors: io.colors.stdout });
  await write(io.stdout, `${lines.join("\n")}\n`);
}

const gap = 2;
/** Cells that may be cut keep at least this width, unless their column says otherwise. */
const smallestWidth = 6;

interface LaidColumn extends Column {
  readonly cells: readonly { readonly text: string; readonly style: Style | undefined }[];
  width: number;
}

function layOut(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  { width, colors }: { readonly width: number | undefined; readonly colors: boolean },
): string[] {
  let laid = columns.map((column, index): LaidColumn => {
    const heading = { text: column.title.toUpperCase(), style: "bold" as const };
    const cells = [heading, ...rows.map((row) => readCell(row[index] ?? ""))];
    return { ...column, cells, width: Math.max(...cells.map(({ text }) => widthOf(text))) };
  });
  if (width !== undefined) {
    for (const column of laid) column.width = Math.min(column.width, width);
    laid = leaveOut(laid, width);
    shrink(laid, width);
  }
  return [undefined, ...rows].map((_, index) => {
    let left = width ?? Infinity;
    const parts: string[] = [];
    for (const { cells, align, width: columnWidth } of laid) {
      // Even what may not be cut is, rather than wrap.
      const room = Math.min(columnWidth, left);
      if (room <= 0) break;
      left -= room + gap;
      const { text, style } = cells[index]!;
      const shown = cutToWidth(text, room);
      const styled = colors && style !== undefined ? styleText(style, shown, { validateStream: false }) : shown;
      const padding = padToWidth(shown, room, align).length - shown.length;
      parts.push(align === "right" ? " ".repeat(padding) + styled : styled + " ".repeat(padding));
    }
    return parts.join(" ".repeat(gap)).trimEnd();
  });
}

function readCell(cell: Cell): LaidColumn["cells"][number] {
  const { text, style } = typeof cell === "string" ? { text: cell, style: undefined } : cell;
  return { text: oneLine(text), style };
}

function totalOf(columns: readonly LaidColumn[], widthOfColumn: (column: LaidColumn) => number): number {
  return columns.reduce((sum, column) => sum + widthOfColumn(column), gap * (columns.length - 1));
}

/** The width that a column keeps when others need its space. */
function leastWidth({ width, whole, least = smallestWidth, cells }: LaidColumn): number {
  return whole === true ? width : Math.min(width, Math.max(least, widthOf(cells[0]!.text)));
}

/** The columns that fit with their least widths. */
function leaveOut(columns: LaidColumn[], width: number): LaidColumn[] {
  let kept = columns;
  while (totalOf(kept, leastWidth) > width) {
    const [first] = kept.filter(({ optional }) => optional !== undefined).sort((a, b) => b.optional! - a.optional!);
    if (first === undefined) break;
    kept = kept.filter((column) => column !== first);
  }
  return kept;
}

/** Takes from the widest columns until the table fits. */
function shrink(columns: readonly LaidColumn[], width: number): void {
  for (let excess = totalOf(columns, (column) => column.width) - width; excess > 0; excess -= 1) {
    const [widest] = columns.filter((column) => column.width > leastWidth(column)).sort((a, b) => b.width - a.width);
    if (widest === undefined) return;
    widest.width -= 1;
  }
}

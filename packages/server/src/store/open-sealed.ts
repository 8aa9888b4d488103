/** Decrypts the encrypted values in what statements return: the only place where recorded content becomes readable. */
import { mayBeSealed } from "../encryption/telemetry-cipher.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import type { ColumnBlock, ReadColumn } from "./native-reader.ts";

/** The text of a value that begins like an encrypted one. */
export type OpenSealed = (stored: string) => string;

/** Replaces the encrypted texts in a row: its values, and those in lists at any depth. A row can have tens of thousands. */
export async function openValues(values: unknown[], open: OpenSealed, yielder: CooperativeYield): Promise<void> {
  const found: { readonly list: unknown[]; readonly at: number; readonly text: string }[] = [];
  const collect = (list: unknown[]): void => {
    for (const [at, value] of list.entries()) {
      if (typeof value === "string" && mayBeSealed(value)) found.push({ list, at, text: value });
      else if (Array.isArray(value)) collect(value);
    }
  };
  collect(values);
  for (const { at, list, text } of found) {
    list[at] = open(text);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
}

/** Blocks whose columns of texts have no encrypted values. */
export async function openBlocks(blocks: readonly ColumnBlock[], open: OpenSealed): Promise<ColumnBlock[]> {
  const yielder = new CooperativeYield();
  const openTexts = async (texts: readonly string[]): Promise<readonly string[]> => {
    const result: string[] = [];
    for (const text of texts) {
      const isSealed = mayBeSealed(text);
      result.push(isSealed ? open(text) : text);
      if (yielder.isDue(isSealed ? longStep : 1)) await yielder.yield();
    }
    return result;
  };
  const openColumn = async (column: ReadColumn): Promise<ReadColumn> => {
    if (isTexts(column)) return column.some(mayBeSealed) ? openTexts(column) : column;
    if (!("ends" in column) || !isTexts(column.items) || !column.items.some(mayBeSealed)) return column;
    return { ends: column.ends, items: await openTexts(column.items) };
  };
  const opened: ColumnBlock[] = [];
  for (const { columns, rowCount } of blocks) {
    const readable = new Map<string, ReadColumn>();
    for (const [name, column] of columns) readable.set(name, await openColumn(column));
    opened.push({ rowCount, columns: readable });
  }
  return opened;
}

function isTexts(column: ReadColumn): column is readonly string[] {
  return Array.isArray(column);
}

/** Decrypts the encrypted values in what statements return: the only place where recorded content becomes readable. */
import { mayBeSealed } from "../encryption/telemetry-cipher.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import type { ColumnBlock, ReadColumn } from "./native-reader.ts";

/** The text of a value that begins like an encrypted one. */
export type OpenSealed = (stored: string) => string;

/** Every text in a row: a text itself, or lists of them at any depth. */
export function openValue(value: unknown, open: OpenSealed): unknown {
  if (typeof value === "string") return mayBeSealed(value) ? open(value) : value;
  return Array.isArray(value) ? value.map((each) => openValue(each, open)) : value;
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

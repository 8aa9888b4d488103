/** Writes results and waits for a slow reader, so that a pipe's back-pressure reaches the source. */
import { once } from "node:events";
import type { Writable } from "node:stream";

/** Writes text and waits until the stream accepts more. */
export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  if (stream.destroyed || stream.write(text)) return;
  await Promise.race([once(stream, "drain"), once(stream, "close")]);
}

/** Writes one line. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  await write(stream, `${line}\n`);
}

/** Writes one JSON value on one line. */
export async function writeJson(stream: Writable, value: unknown): Promise<void> {
  await write(stream, `${JSON.stringify(value)}\n`);
}

/** Writes a table with aligned columns; every row has as many cells as the heading. */
export async function writeTable(
  stream: Writable,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const widths = heading.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = [heading.map((title) => title.toUpperCase()), ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  await write(stream, `${lines.join("\n")}\n`);
}

/** Removes control characters, so that text written by others cannot control the terminal. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is removed
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

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

// Control characters; characters that reorder text or have no shape; lone surrogates; language tags.
const unprintable =
  // oxlint-disable-next-line no-control-regex -- these are what is removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Bidi_Control}\p{Surrogate}]/gu;

/** Removes what could control the terminal or hide or reorder text, because others wrote it. Keeps tabs and line ends. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, "");
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text.replaceAll(/[\s\u0085]+/g, " "));
}

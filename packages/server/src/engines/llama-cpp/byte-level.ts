/**
 * Converts between bytes and the byte-level alphabet of GPT-2's tokenizer, which most GGUF vocabularies use: every byte has
 * a printable character. https://github.com/openai/gpt-2/blob/master/src/encoder.py
 */

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

const characters: string[] = [];
const bytes = new Map<string, number>();
for (let byte = 0, next = 256; byte < 256; byte++) {
  const character = String.fromCodePoint(isPrintable(byte) ? byte : next++);
  characters.push(character);
  bytes.set(character, byte);
}

/** Bytes in the byte-level alphabet. */
export function toByteLevel(text: Uint8Array): string {
  return Array.from(text, (byte) => characters[byte]).join("");
}

/** The bytes of a token's text in the byte-level alphabet; undefined if it is not in that alphabet. */
export function fromByteLevel(text: string): Buffer | undefined {
  const result: number[] = [];
  for (const character of text) {
    const byte = bytes.get(character);
    if (byte === undefined) return undefined;
    result.push(byte);
  }
  return Buffer.from(result);
}

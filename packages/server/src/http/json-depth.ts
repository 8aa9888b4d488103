/** Whether JSON text is nested too deeply, told before it is parsed: much that works on values is recursive. */

const quote = 0x22;
const backslash = 0x5c;

/** @param text JSON in UTF-8; of what is not JSON only its brackets are counted, for the parser to refuse it */
export function isNestedDeeper(text: Buffer, maxDepth: number): boolean {
  // Every level has two brackets, so a short text cannot be deep.
  if (text.length <= maxDepth * 2) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (byte === quote) {
      at = endOfString(text, at);
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** The index of the quote that ends the string, found natively since strings are most of a large body. */
function endOfString(text: Buffer, start: number): number {
  for (let end = text.indexOf(quote, start + 1); end !== -1; end = text.indexOf(quote, end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/** Splits piped text into pieces that can be spoken as soon as they arrive. */

/**
 * From this length on, a piece ends at the end of a paragraph if possible, so that sentences over several lines stay
 * whole.
 */
const longPiece = 4_000;

/** Maximum length of a piece; servers accept 100 000 characters at a time by default. */
const longestPiece = 50_000;

/**
 * Yields the text so far, up to its last line end: single lines from a slow writer, large pieces from a fast one.
 * Nothing is read while a piece is spoken.
 */
export async function* textPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of bytes) {
    text += decoder.decode(piece, { stream: true });
    for (let end = endOfPiece(text); end > 0; end = endOfPiece(text)) {
      yield text.slice(0, end);
      text = text.slice(end);
    }
  }
  text += decoder.decode();
  if (text !== "") yield text;
}

/** The end of the next piece; 0 if it has not arrived completely. */
function endOfPiece(text: string): number {
  const head = text.slice(0, longestPiece);
  const paragraph = head.length > longPiece ? /^.*\n\s*\n/s.exec(head)?.[0].length : undefined;
  if (paragraph !== undefined) return paragraph;
  const line = head.lastIndexOf("\n") + 1;
  if (line > 0 || text.length < longestPiece) return line;
  const sentence = /^.*[.!?…。！？]\s/s.exec(head)?.[0].length ?? head.lastIndexOf(" ") + 1;
  return sentence > 0 ? sentence : wholeCharacters(head);
}

/** A character of two code units is not split. */
function wholeCharacters(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

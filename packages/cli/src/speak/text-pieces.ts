/** Text that is piped in, in pieces that can be spoken as soon as they are there. */

/** From here on a piece ends with a paragraph where one ends, so that sentences over several lines stay whole. */
const longPiece = 4_000;

/** A piece is cut here at the latest; servers take 100 000 characters at a time. */
const longestPiece = 50_000;

/**
 * Yields what has come, up to its last line end: each line of a slow writer, much at once of a fast one. While a piece
 * is being spoken no more is read.
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

/** Where the next piece ends; 0 when it has not come whole. */
function endOfPiece(text: string): number {
  const head = text.slice(0, longestPiece);
  const paragraph = head.length > longPiece ? /^.*\n\s*\n/s.exec(head)?.[0].length : undefined;
  if (paragraph !== undefined) return paragraph;
  const line = head.lastIndexOf("\n") + 1;
  if (line > 0 || text.length < longestPiece) return line;
  const sentence = /^.*[.!?…。！？]\s/s.exec(head)?.[0].length ?? head.lastIndexOf(" ") + 1;
  return sentence > 0 ? sentence : wholeCharacters(head);
}

/** A character of two code units is not cut. */
function wholeCharacters(text: string): number {
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

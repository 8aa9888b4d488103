/** Decides where to cut a growing text, so that each piece can be checked on its own. */

const sentenceEnd = /[.!?…]["'”’)\]]*\s|[。！？]|\n/gu;
/** A piece ends at a sentence only when it has this share of the longest length. */
const shortestShare = 0.25;

/**
 * The end of the next piece; 0 while it is better to wait for more.
 * @param text what has not been judged yet
 */
export function pieceEnd(text: string, { longest, isLast }: { longest: number; isLast: boolean }): number {
  if (isLast && text.length <= longest) return text.length;
  const window = text.slice(0, longest);
  const shortest = longest * shortestShare;
  const ends = [...window.matchAll(sentenceEnd)].map((match) => match.index + match[0].length);
  const sentence = ends.findLast((end) => end >= shortest);
  if (sentence !== undefined) return sentence;
  if (text.length < longest) return 0;
  const space = window.search(/\s\S*$/u);
  if (space >= shortest) return space + 1;
  // Not inside a surrogate pair.
  return /[\ud800-\udbff]$/.test(window) ? longest - 1 : longest;
}

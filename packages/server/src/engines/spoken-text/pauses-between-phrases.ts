/** Decides how long a voice pauses after a phrase, from the signs at its end and the line break after it. */
import type { TextRange } from "./sentences.ts";

/** Seconds at speed 1, as Flite and espeak-ng pause in the middle of a text. */
const seconds = { paragraph: 0.65, sentence: 0.35, clause: 0.18, none: 0 };

const quote = /["'”’»›」』]/;
const bracket = /[)\]}]/;
const sentenceEnd = /[.!?…。！？।؟]/;
const clauseEnd = /[,;:—–、，；：،؛]/;

/** The pause in seconds at speed 1 after a phrase of `text`. */
export function pauseAfter(text: string, { offset, length }: TextRange, endsSentence: boolean): number {
  const end = offset + length;
  let next = end;
  for (; next < text.length && /\s/.test(text[next]!); next++) if (text[next] === "\n") return seconds.paragraph;
  if (next === text.length) return seconds.sentence;
  let last = end - 1;
  let closes = false;
  for (; last > offset && (quote.test(text[last]!) || bracket.test(text[last]!)); last--)
    closes ||= bracket.test(text[last]!);
  const sign = text[last] ?? "";
  if (endsSentence && sentenceEnd.test(sign)) return seconds.sentence;
  return closes || clauseEnd.test(sign) || sentenceEnd.test(sign) ? seconds.clause : seconds.none;
}

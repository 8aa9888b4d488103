/**
 * Splits a text into sentences without changing any position in it. Sentences follow Unicode's rules
 * (https://www.unicode.org/reports/tr29/#Sentence_Boundaries), except that a title such as "Dr." does not end one.
 */
import { graphemes } from "./segmenters.ts";

/** A part of the text, in UTF-16 code units. */
export interface TextRange {
  readonly offset: number;
  readonly length: number;
}

/** A sentence without an end is reported in parts of about this length, so that memory stays bounded. */
const longestSentence = 1_000;

const titleAtEnd =
  /(?:^|[\s("'“‘])(?:Dr|Mr|Mrs|Ms|Mx|Messrs|Prof|St|Gen|Col|Lt|Sgt|Capt|Cmdr|Maj|Rev|Hon|Gov|Sen|Rep|Pres|Mt|Ft|Adm|Cpl|Pvt|Insp|Supt|Mme|Mlle|Fig|Vol|Nr|vs|[A-HJ-Z])\.\s*$/;

/** Abbreviations in the middle of a sentence, whatever follows. */
const abbreviationAtEnd = /(?:^|[\s("'“‘])(?:e\.g|i\.e|cf|viz|approx|a\.k\.a)\.\s*$/i;
/** Abbreviations before a number. */
const numberedAtEnd =
  /(?:^|[\s("'“‘])(?:Nos?|Figs?|Vols?|Chs?|Secs?|Art|Eq|Apt|Ste|Rm|Bldg|Hwy|Rte|pp?|ext|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.\s*$/i;
const initialsAtEnd = /(?:^|[\s("'“‘])(?:[A-Z]\.){2,5}\s*$/;
/** Words that begin a sentence more often than they follow initials such as "U.S." */
const sentenceStart =
  /^(?:A|An|And|As|At|But|By|For|From|He|Her|His|How|I|If|In|It|Its|My|No|On|Or|Our|She|So|That|The|Their|Then|There|These|They|This|To|We|What|When|Where|Who|With|You|Your)\b/;

/** What begins a line of its own: items of lists, headings, rows of tables, fences of code. */
const block = /^ {0,8}(?:[-+*•] |\d{1,3}[.)] |#{1,6} |\||```)/;
/** Lines that end where they are, whatever follows. */
const ownLine = /^ {0,8}(?:#{1,6} |\||```)/;
const longestBlockStart = 16;

/**
 * The same text for an engine to read, position by position: control characters, lone surrogates and the line breaks
 * inside a paragraph become spaces; an empty line, and a line break before an item of a list, a heading and the like, stays a
 * line break, which ends a sentence.
 */
export function normalizeWhitespace(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll("\uFFFD", " ")
      .replaceAll(/\r\n/g, " \n")
      .replaceAll(/[\r\u2028\u2029\u0085]/g, "\n")
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      .replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, " ")
      .replaceAll(/(?<!\n *)\n(?! *\n)/g, (_, at: number, whole: string) => {
        const line = whole.lastIndexOf("\n", at - 1) + 1;
        const divides =
          block.test(whole.slice(at + 1, at + longestBlockStart)) ||
          ownLine.test(whole.slice(line, line + longestBlockStart));
        return divides ? "\n" : " ";
      })
  );
}

/**
 * The sentences of a readable text, in order, without the white space around them. Lazy: the next one is looked for
 * on demand.
 */
export function* sentencesOf(readable: string, language = "en"): Generator<TextRange, void, undefined> {
  const segmenter = new Intl.Segmenter(supported(language), { granularity: "sentence" });
  let start = 0;
  let end = 0;
  for (const { segment, index } of segmenter.segment(readable)) {
    end = index + segment.length;
    const tail = readable.slice(Math.max(start, end - 12), end);
    // Inside an address or a number ("a?b=1") nothing ends.
    const next = readable.slice(end, end + 12);
    const joins = /[.?!]$/.test(tail) || (isAbbreviation(tail, next) && !segment.endsWith("\n"));
    if (joins && end - start < longestSentence) continue;
    yield* parts(readable, start, end);
    start = end;
  }
  yield* parts(readable, start, end);
}

/** Whether the full stop at the end of `tail` belongs to an abbreviation, given what follows. */
function isAbbreviation(tail: string, next: string): boolean {
  if (titleAtEnd.test(tail) || abbreviationAtEnd.test(tail)) return true;
  if (numberedAtEnd.test(tail)) return /^\d/.test(next);
  return initialsAtEnd.test(tail) && /^[A-Za-z]/.test(next) && !sentenceStart.test(next);
}

function supported(language: string): string {
  try {
    return Intl.Segmenter.supportedLocalesOf(language)[0] ?? "en";
  } catch {
    return "en";
  }
}

function* parts(readable: string, start: number, end: number): Generator<TextRange, void, undefined> {
  for (let from = start; from < end;) {
    const to = end - from <= longestSentence ? end : cutBefore(readable, from, from + longestSentence);
    const range = trimmed(readable, from, to);
    if (range.length > 0) yield range;
    from = to;
  }
}

/** The range without the white space at its ends. */
export function trimmed(text: string, start: number, end: number): TextRange {
  const part = text.slice(start, end);
  const offset = start + part.length - part.trimStart().length;
  return { offset, length: part.trim().length };
}

/**
 * The last place up to `limit` where a text can be cut: after white space where there is some in the second half,
 * else between two characters as a reader sees them.
 */
export function cutBefore(text: string, from: number, limit: number): number {
  const half = from + Math.ceil((limit - from) / 2);
  for (let at = limit; at > half; at--) if (/\s/.test(text[at - 1]!)) return at;
  const around = graphemes.segment(text.slice(from, limit + 64));
  const start = around.containing(limit - from)?.index ?? limit - from;
  return start > 0 ? from + start : limit;
}

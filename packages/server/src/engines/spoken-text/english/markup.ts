/** Reads what is not words: Markdown, character references of HTML, and comparisons. Each pattern takes linear time. */
import type { Rewrite } from "../spoken-text.ts";

/** Signs of emphasis around words, the marks of headings and list items, and fences of code are silent. */
const silent =
  /^#{1,6}(?=\s)|^[-+*•]\s+(?=\S)|^`{3,}\w*$|(?<=^|[\s("'*_])[*_~`]{1,3}(?=[\p{L}\p{N}"'*_`$€£])|(?<=[\p{L}\p{N}.,;:!?)"'%+])[*_~`]{1,3}(?=[\s.,;:!?)"']|$)/gu;
/** `[text](address)` and `![text](address)`. */
const link = /(!?\[)([^[\]]{1,200})\]\([^()\s]{1,500}\)/g;
const tableRule = /^\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/;
const references: Readonly<Record<string, string>> = {
  amp: " and ",
  lt: " less than ",
  gt: " greater than ",
  nbsp: " ",
  quot: '"',
  apos: "'",
  "#39": "'",
};
const reference = /&(amp|lt|gt|nbsp|quot|apos|#39);/g;
/** Between words; `<` and `>` only where at least the right side is a number, or both are single letters: "File > Open". */
const comparison =
  /(?<=[\p{L}\p{N})%]\s)(?:[≥≤≠]|[<>]=|[!=]=|[<>](?=\s[-−+]?\d)|(?<=(?:^|[\s(])[\p{L}\p{N}]\s)[<>](?=\s\p{L}(?!\p{L})))(?=\s)/gu;
const comparisons: Readonly<Record<string, string>> = {
  "<": "is less than",
  ">": "is greater than",
  "≤": "is less than or equal to",
  "<=": "is less than or equal to",
  "≥": "is greater than or equal to",
  ">=": "is greater than or equal to",
  "≠": "is not equal to",
  "!=": "is not equal to",
  "==": "equals",
};

/** @param read says what a word is read as */
export function readMarkup(text: string, read: (word: string) => string): Rewrite[] {
  if (tableRule.test(text)) return [{ start: 0, end: text.length, spoken: "" }];
  return [
    ...replaced(text, silent, () => ""),
    ...replaced(text, reference, ([, name]) => references[name!]!),
    ...replaced(text, comparison, ([sign]) => comparisons[sign]!),
    ...links(text, read),
    ...(text.startsWith("|") ? replaced(text, /\|/g, cellBorder) : []),
  ];
}

function replaced(text: string, pattern: RegExp, spoken: (found: RegExpExecArray) => string): Rewrite[] {
  return [...text.matchAll(pattern)].map((found) => ({
    start: found.index,
    end: found.index + found[0].length,
    spoken: spoken(found),
  }));
}

/** Cells of a table are read with pauses between them. */
function cellBorder({ index, input }: RegExpExecArray): string {
  return index === 0 || index === input.length - 1 ? "" : ",";
}

/** The address belongs to the last word of its link. */
function links(text: string, read: (words: string) => string): Rewrite[] {
  return [...text.matchAll(link)].flatMap(({ 0: whole, 1: opening = "", 2: words = "", index }) => {
    const wordsEnd = words.trimEnd();
    const lastWord = /\S*$/.exec(wordsEnd)![0];
    const start = index + opening.length + wordsEnd.length - lastWord.length;
    return [
      { start: index, end: index + opening.length, spoken: "" },
      { start, end: index + whole.length, spoken: read(lastWord) },
    ];
  });
}

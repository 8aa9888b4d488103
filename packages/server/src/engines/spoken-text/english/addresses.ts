/** Reads web and email addresses, file names and paths, handles and hashtags: words where they are, names for the signs. */
import { cardinal, digitByDigit } from "./numbers.ts";
import { one, type Reading, type Sentence, type Token } from "./tokens.ts";
import type { Rewrite } from "../spoken-text.ts";

const signs: Readonly<Record<string, string>> = {
  ".": "dot",
  "/": "slash",
  "\\": "backslash",
  "-": "dash",
  _: "underscore",
  ":": "colon",
  "@": "at",
  "?": "question mark",
  "=": "equals",
  "&": "and",
  "#": "hash",
  "%": "percent",
  "+": "plus",
  "~": "tilde",
  "*": "star",
  $: "dollar",
};
/** What follows a dot in names of hosts and files; elsewhere a dot without a space is a missing space. */
const endings = new Set(
  (
    "com org net edu gov mil int info biz io ai app dev co uk us eu de fr es it nl ch at be se no dk fi pl ru ua jp cn kr in au nz ca br mx tv me ly gg tech cloud online shop blog site xyz example local test localhost " +
    "txt md pdf doc docx xls xlsx ppt csv tsv json yaml yml xml html htm css js ts jsx tsx mjs cjs py rb rs go java kt c h cpp hpp cs php sh bat ps1 sql db log ini cfg conf toml lock env zip gz tar tgz bz xz rar iso png jpg jpeg gif svg webp bmp mp3 mp4 wav ogg opus flac m4a aac mov avi mkv exe dll so deb rpm apk dmg NET"
  ).split(" "),
);
/** Endings that are spelled although they could be read. */
const spelled = new Set("uk us eu io ai tv js ts py rs md cs sh go js".split(" "));
/** Longer tokens are read in parts of this length, so that speech can begin and pause. */
const longestPart = 40;

const scheme = /^(?:https?|ftps?|wss?|file|mailto):(?:\/\/)?/i;
const email = /^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}$/;
const path = /^(?:~?|\.{1,2})\/[\w.@+-]+(?:\/[\w.@+-]*)*$|^[A-Za-z]:\\|^\\\\[\w]/;
const dotted = /^[\w-]{0,63}(?:\.[\w-]{1,63}){1,8}(?:[:/?#].*)?$/;
const handle = /^@[\w.]{1,64}$/;
const hashtag = /^#[A-Za-z]\w{0,99}$/;

export function readAddress({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const { text } = token;
  if (handle.test(text)) return one(token, `at ${parts(text.slice(1))}`);
  if (hashtag.test(text)) return one(token, `hashtag ${parts(text.slice(1))}`);
  if (!isAddress(text)) return undefined;
  const start = scheme.exec(text)?.[0].length ?? 0;
  if (text.length <= longestPart) return one(token, words(text.slice(start)));
  return { rewrites: inParts(token, start), count: 1 };
}

function isAddress(text: string): boolean {
  if (scheme.test(text) && text.length > 8) return true;
  if (/^www\./i.test(text)) return true;
  if (text.length <= 200 && (email.test(text) || path.test(text))) return true;
  if (!/[A-Za-z]/.test(text) || !dotted.test(text.slice(0, 200))) return false;
  const host = /^[\w.-]*/.exec(text)![0];
  const ending = host.slice(host.lastIndexOf(".") + 1);
  // "end.Next" is two sentences, "node.js" is a name.
  return endings.has(ending);
}

/** Cut at the signs in it, or anywhere. */
function inParts({ text, start }: Token, from: number): Rewrite[] {
  const rewrites: Rewrite[] = [];
  for (let at = from; at < text.length;) {
    let end = Math.min(text.length, at + longestPart);
    if (end < text.length)
      for (let cut = end; cut > at + longestPart / 2; cut--) if (/[/?&=.-]/.test(text[cut]!)) end = cut;
    if (end < text.length && /[\uDC00-\uDFFF]/.test(text[end]!)) end++;
    // The scheme belongs to the first part.
    const first = at === from ? 0 : at;
    rewrites.push({ start: start + first, end: start + end, spoken: `${words(text.slice(at, end))} ` });
    at = end;
  }
  return rewrites;
}

function words(text: string): string {
  return text
    .replaceAll(/[A-Za-z]+|\d+|[^A-Za-z\d]/g, (part) => ` ${partWords(part)} `)
    .replaceAll(/ {2,}/g, " ")
    .trim();
}

function partWords(part: string): string {
  if (/^\d/.test(part)) return part.length <= 2 ? cardinal(part) : digitByDigit(part);
  if (/^[A-Za-z]/.test(part)) return isSpelled(part) ? spell(part) : part;
  return signs[part] ?? part;
}

/** Letters without a vowel are spelled, and so are some short endings. */
function isSpelled(letters: string): boolean {
  return letters.length === 1 || spelled.has(letters) || (letters.length <= 4 && !/[aeiouy]/i.test(letters));
}

function spell(letters: string): string {
  return letters.toUpperCase().split("").join("-");
}

/** `ThrowbackThursday` and `user_name1` in their words. */
function parts(name: string): string {
  const pieces = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z\d]/g) ?? [name];
  return pieces
    .filter((piece) => piece !== "_")
    .map(partWords)
    .join(" ");
}

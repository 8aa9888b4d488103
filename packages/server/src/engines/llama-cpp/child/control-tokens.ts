/** Distinguishes control tokens of the template from caller's text that spells one. */

/** A private-use character that marks, in a caller's text, where it spells a control token. */
const mark = "\u{10F3A7}";

export const controlTokenGuard = (text: string): string => {
  const [first = "", ...rest] = Array.from(text);
  return `${first}${mark}${rest.join("")}`;
};

/** Any of the texts, longer ones first. */
export function controlTextPattern(texts: readonly string[]): RegExp {
  const alternatives = texts
    .toSorted((one, other) => other.length - one.length)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return new RegExp(alternatives.length === 0 ? "(?!)" : alternatives.join("|"), "g");
}

export interface PromptPart {
  readonly text: string;
  /** Whether control tokens in it are a caller's words. */
  readonly plain: boolean;
}

/** The parts of a rendered prompt: plain text where a caller's text spelled a control token, template text elsewhere. */
export function* promptParts(prompt: string, controlTexts: readonly string[]): Generator<PromptPart, void, undefined> {
  let position = 0;
  for (const match of prompt.matchAll(controlTextPattern(controlTexts.map(controlTokenGuard)))) {
    if (match.index > position) yield { text: prompt.slice(position, match.index), plain: false };
    yield { text: match[0].replace(mark, ""), plain: true };
    position = match.index + match[0].length;
  }
  if (position < prompt.length) yield { text: prompt.slice(position), plain: false };
}

/**
 * Defines the phrases of the trial model as a graph of tokens. A token depends only on the token before it, so every word
 * must be a separate token: a word that would follow two different words is joined with the next one.
 */

/** One continuation, with its probability among its siblings. */
interface Alternative {
  readonly text: string;
  readonly weight: number;
}

/** The stages of an answer: it contains one alternative of each, in order. */
export type Phrases = readonly (readonly Alternative[])[];

/** The weight of `next` after `previous`; null is the start or the end of an answer. */
export interface Transition {
  readonly previous: string | null;
  readonly next: string | null;
  readonly weight: number;
}

export const introductionPhrases: Phrases = [
  [
    { text: "I am sounding-trial,", weight: 0.6 },
    { text: "This is sounding-trial,", weight: 0.25 },
    { text: "You are talking to sounding-trial,", weight: 0.15 },
  ],
  [
    { text: " a tiny model that Sounding wrote by itself", weight: 0.6 },
    { text: " a few megabytes of numbers made by a script", weight: 0.4 },
  ],
  [
    { text: " so that you can try the whole server without a download.", weight: 0.6 },
    { text: " to show that everything works from end to end.", weight: 0.4 },
  ],
  [
    { text: " I know nothing and cannot reason.", weight: 0.6 },
    { text: " Nothing that I say is knowledge.", weight: 0.25 },
    { text: " Please do not trust me with questions.", weight: 0.15 },
  ],
  [
    { text: " For useful answers, pull a real model with: sounding models pull", weight: 0.7 },
    { text: " Configure a real model when you are ready.", weight: 0.3 },
  ],
];

/** The answer to a tool's result. */
export const toolAnswerPhrases: Phrases = [
  [
    { text: "The tool has answered,", weight: 0.7 },
    { text: "Your tool returned something,", weight: 0.3 },
  ],
  [{ text: " but a trial model cannot understand it.", weight: 1 }],
];

/** Characters of several bytes, each byte a token: for tests of UTF-8. */
export const emojiPhrases: Phrases = [[{ text: "😀é漢", weight: 1 }]];

/** Repeats endlessly: for tests of limits and cancellation. */
export const endlessWords = ["tick", " tock", " tuck"] as const;

/** The words of a text, each with the space before it. */
function wordsOf(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

/** The texts of the tokens that say `text`, joining words with their neighbors if a word is already taken. */
function claimTokens(text: string, taken: Set<string>): string[] {
  const words = wordsOf(text);
  const tokens: string[] = [];
  for (let index = 0; index < words.length; index++) {
    let token = words[index]!;
    // One character is a byte's token already.
    while ((taken.has(token) || token.length === 1) && index + 1 < words.length) token += words[++index]!;
    while (taken.has(token)) {
      const before = tokens.pop();
      if (before === undefined) throw new Error(`The trial model has ${JSON.stringify(token)} in two places.`);
      taken.delete(before);
      token = before + token;
    }
    taken.add(token);
    tokens.push(token);
  }
  return tokens;
}

/** The transitions that produce the phrases, given the texts of existing tokens. */
export function transitionsOf(phrases: Phrases, taken: Set<string>): Transition[] {
  const transitions: Transition[] = [];
  let ends: (string | null)[] = [null];
  for (const stage of phrases) {
    const nextEnds: string[] = [];
    for (const { text, weight } of stage) {
      const tokens = claimTokens(text, taken);
      for (const previous of ends) transitions.push({ previous, next: tokens[0]!, weight });
      for (let index = 1; index < tokens.length; index++) {
        transitions.push({ previous: tokens[index - 1]!, next: tokens[index]!, weight: 1 });
      }
      nextEnds.push(tokens.at(-1)!);
    }
    ends = nextEnds;
  }
  for (const previous of ends) transitions.push({ previous, next: null, weight: 1 });
  return transitions;
}

/** Computes the trial model's vocabulary and its table of transitions between tokens, in logits. */
import { toByteLevel } from "../byte-level.ts";
import {
  emojiPhrases,
  endlessWords,
  introductionPhrases,
  toolAnswerPhrases,
  transitionsOf,
  type Phrases,
  type Transition,
} from "./phrases.ts";

/** The trial model, or one of its variants for tests. */
export type TrialVariant = "default" | "emoji" | "endless";

/** Token types of GGUF. */
const tokenTypes = { normal: 1, control: 3, userDefined: 4 } as const;

const specialTokens = [
  { text: "<|im_start|>", type: tokenTypes.control },
  { text: "<|im_end|>", type: tokenTypes.control },
  { text: "<tools>", type: tokenTypes.userDefined },
  { text: "</tools>", type: tokenTypes.userDefined },
  { text: "<tool_call>", type: tokenTypes.userDefined },
  { text: "</tool_call>", type: tokenTypes.userDefined },
  { text: "<tool_response>", type: tokenTypes.userDefined },
  { text: "</tool_response>", type: tokenTypes.userDefined },
] as const;

/** A logit that makes a successor nearly certain, and one that makes a token nearly impossible. */
const certain = 14;
const impossible = -30;

export interface TransitionTable {
  readonly tokens: readonly { readonly text: string; readonly type: number }[];
  readonly merges: readonly string[];
  readonly endToken: number;
  /** Tokens whose presence anywhere in the prompt changes the answer. */
  readonly watched: readonly number[];
  /** Default logit of each token. */
  readonly background: Float32Array;
  readonly follow: readonly { readonly previous: number; readonly next: number; readonly logit: number }[];
  /** What the presence of the watched token with this index adds to a token's logit. */
  readonly whenFound: readonly { readonly found: number; readonly next: number; readonly logit: number }[];
}

/** Faint preferences: characters that close JSON first, then digits and letters, nothing unprintable. */
function backgroundLogit(byte: number): number {
  const character = String.fromCharCode(byte);
  const closing: Record<string, number> = { '"': 4, "}": 3.5, "]": 3, ":": 2, ",": 1.5, "{": 1 };
  if (closing[character] !== undefined) return closing[character];
  if (/[a-z]/.test(character)) return -1;
  if (/[0-9]/.test(character)) return -1.5;
  if (/[A-Z -]/.test(character)) return -3;
  return byte > 0x20 && byte < 0x7f ? -5 : -12;
}

/** The variant's transitions between token texts: single bytes for emoji, a cycle for the endless variant. */
function transitionsFor(variant: TrialVariant, taken: Set<string>): Transition[] {
  if (variant === "default") return transitionsOf(introductionPhrases, taken);
  if (variant === "emoji") return byteTransitions(emojiPhrases);
  for (const word of endlessWords) taken.add(word);
  const [first, second, third] = endlessWords;
  const circle = [null, first, second, third, second];
  return circle.slice(1).map((next, index) => ({ previous: circle[index]!, next, weight: 1 }));
}

function byteTransitions(phrases: Phrases): Transition[] {
  const bytes = [
    ...Buffer.from(
      phrases
        .flat()
        .map(({ text }) => text)
        .join(""),
    ),
  ];
  const tokens = [null, ...bytes.map((byte) => String.fromCharCode(byte)), null];
  return tokens.slice(1).map((next, index) => ({ previous: tokens[index]!, next, weight: 1 }));
}

/** The table of a variant. */
export function buildTransitionTable(variant: TrialVariant): TransitionTable {
  const taken = new Set<string>(["trial"]);
  const spoken = transitionsFor(variant, taken);
  const closing = transitionsOf(toolAnswerPhrases, taken);
  const tokens: { text: string; type: number }[] = [];
  for (let byte = 0; byte < 256; byte++)
    tokens.push({ text: toByteLevel(Buffer.from([byte])), type: tokenTypes.normal });
  tokens.push(...specialTokens);
  for (const word of taken) tokens.push({ text: toByteLevel(Buffer.from(word)), type: tokenTypes.normal });

  const special = (text: (typeof specialTokens)[number]["text"]): number =>
    256 + specialTokens.findIndex((token) => token.text === text);
  const byte = (character: string): number => character.charCodeAt(0);
  /** A spoken text is a word, or one character for one byte. */
  const wordToken = (text: string): number =>
    taken.has(text) ? 256 + specialTokens.length + [...taken].indexOf(text) : byte(text);
  const newline = byte("\n");
  const end = special("<|im_end|>");

  const background = new Float32Array(tokens.length).fill(-8);
  for (let each = 0; each < 256; each++) background[each] = backgroundLogit(each);
  specialTokens.forEach((_, index) => (background[256 + index] = impossible));

  const follow = spoken.map(({ previous, next, weight }) => ({
    previous: previous === null ? newline : wordToken(previous),
    next: next === null ? end : wordToken(next),
    logit: certain + Math.log(weight),
  }));
  const toolCall = special("<tool_call>");
  const whenFound: { found: number; next: number; logit: number }[] = [
    { found: 0, next: toolCall, logit: 24 },
    { found: 1, next: toolCall, logit: -40 },
  ];
  follow.push({ previous: newline, next: toolCall, logit: 4 });
  for (const { previous, next, weight } of closing) {
    if (previous === null) {
      follow.push({ previous: newline, next: wordToken(next!), logit: impossible / 3 + Math.log(weight) });
      whenFound.push({ found: 1, next: wordToken(next!), logit: 34 });
      background[wordToken(next!)] = impossible;
    } else {
      const target = next === null ? end : wordToken(next);
      follow.push({ previous: wordToken(previous), next: target, logit: certain + Math.log(weight) });
    }
  }
  follow.push(
    { previous: toolCall, next: byte("{"), logit: certain },
    { previous: newline, next: special("</tool_call>"), logit: 5 },
    { previous: byte("}"), next: special("</tool_call>"), logit: 2 },
    { previous: special("</tool_call>"), next: end, logit: certain },
    { previous: byte('"'), next: wordToken("trial"), logit: 6 },
    { previous: wordToken("trial"), next: byte('"'), logit: 8 },
  );
  return {
    tokens,
    merges: ["a s"],
    endToken: end,
    watched: [special("<tools>"), special("<tool_response>")],
    background,
    follow,
    whenFound,
  };
}

/**
 * Tokenizes a rendered prompt in pieces: llama.cpp takes about a microsecond per character and blocks meanwhile, so other
 * answers run between pieces.
 */
import { setImmediate } from "node:timers/promises";
import { LlamaVocabularyType, type LlamaModel, type Token } from "node-llama-cpp";
import { promptParts } from "./control-tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Longest piece, in UTF-16 code units: about 10 ms. */
const longestPiece = 8192;

/**
 * The prompt's tokens; as soon as there are `mostTokens` or more, those found so far.
 * @throws the signal's reason
 */
export async function promptTokens(
  prompt: string,
  { model, vocabulary, mostTokens, signal }: PromptTokensOptions,
): Promise<{ readonly tokens: Token[]; readonly whole: boolean }> {
  const tokens: Token[] = [];
  const inside = insideOption(model);
  for (const { text, plain } of promptParts(prompt, vocabulary.controlTexts)) {
    for (const piece of piecesOf(text, vocabulary.controlTexts)) {
      for (const token of model.tokenize(piece.text, !plain, piece.first ? undefined : inside)) tokens.push(token);
      if (tokens.length >= mostTokens) return { tokens, whole: false };
      if (piece.text.length === text.length && text.length < longestPiece / 8) continue;
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  const { bos, shouldPrependBosToken } = model.tokens;
  if (shouldPrependBosToken && bos !== null && tokens[0] !== bos) tokens.unshift(bos);
  return { tokens, whole: true };
}

/** Vocabularies that put a space before every text must not put one inside ours. */
export function insideOption({ vocabularyType }: LlamaModel): "trimLeadingSpace" | undefined {
  return vocabularyType === LlamaVocabularyType.bpe ? undefined : "trimLeadingSpace";
}

export interface PromptTokensOptions {
  readonly model: LlamaModel;
  readonly vocabulary: Vocabulary;
  readonly mostTokens: number;
  readonly signal: AbortSignal;
}

/** The text in pieces, cut where no token can span the cut, if possible. */
export function* piecesOf(
  text: string,
  controlTexts: readonly string[],
): Generator<{ readonly text: string; readonly first: boolean }, void, undefined> {
  let from = 0;
  while (text.length - from > longestPiece) {
    const to = cutIn(text, from, controlTexts);
    yield { text: text.slice(from, to), first: from === 0 };
    from = to;
  }
  yield { text: text.slice(from), first: from === 0 };
}

/** Before a space between two words; in text without any, before any character that is not inside a control token. */
function cutIn(text: string, from: number, controlTexts: readonly string[]): number {
  const half = from + longestPiece / 2;
  const window = text.slice(half, from + longestPiece);
  const space = [...window.matchAll(/(?<=[\p{L}\p{P}]) (?=\p{L})/gu)].at(-1);
  if (space !== undefined) return half + space.index;
  const cut = from + longestPiece;
  for (const each of controlTexts) {
    for (let length = 1; length < each.length; length++) {
      if (text.startsWith(each, cut - length)) return cut - length;
    }
  }
  const low = text.charCodeAt(cut);
  return low >= 0xdc00 && low <= 0xdfff ? cut - 1 : cut;
}

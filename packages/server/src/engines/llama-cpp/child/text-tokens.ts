/** Turns a text into tokens for a model that embeds: control tokens in it are text, and the model's own are added. */
import { setImmediate } from "node:timers/promises";
import { LlamaVocabularyType, type LlamaModel, type Token } from "node-llama-cpp";
import { insideOption, piecesOf } from "./prompt-tokens.ts";

export interface TextTokensOptions {
  readonly model: LlamaModel;
  readonly mostTokens: number;
  readonly signal: AbortSignal;
}

/**
 * The text's tokens; as soon as there are `mostTokens` or more, those found so far.
 * @throws the signal's reason
 */
export async function textTokens(
  text: string,
  { model, mostTokens, signal }: TextTokensOptions,
): Promise<{ readonly tokens: Token[]; readonly whole: boolean }> {
  const tokens: Token[] = [];
  let read = 0;
  for (const piece of piecesOf(text, [])) {
    if (!piece.first) {
      await setImmediate();
      signal.throwIfAborted();
    }
    for (const token of model.tokenize(piece.text, false, piece.first ? undefined : insideOption(model)))
      tokens.push(token);
    read += piece.text.length;
    if (tokens.length >= mostTokens) break;
  }
  return { tokens, whole: read === text.length };
}

/**
 * Adds the tokens with which the model was trained to see a text begin and end, unless they are there.
 * https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (llama_vocab::impl::tokenize)
 */
export function withModelTokens(tokens: readonly Token[], { tokens: own, vocabularyType }: LlamaModel): Token[] {
  const isWordPiece = vocabularyType === LlamaVocabularyType.wpm;
  const first = isWordPiece || own.shouldPrependBosToken ? own.bos : null;
  const last = isWordPiece ? own.sep : own.shouldAppendEosToken ? own.eos : null;
  return [
    ...(first === null || tokens[0] === first ? [] : [first]),
    ...tokens,
    ...(last === null || tokens.at(-1) === last ? [] : [last]),
  ];
}

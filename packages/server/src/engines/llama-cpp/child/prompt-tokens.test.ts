/** Where long prompts are split for the tokenizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LlamaVocabularyType, type LlamaModel, type Token } from "node-llama-cpp";
import { piecesOf, promptTokens } from "./prompt-tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";

const control = ["<|start|>", "<|end|>"];
const textsOf = (text: string): string[] => [...piecesOf(text, control)].map((piece) => piece.text);

test("a short prompt is one piece; a long one is split into pieces that add up to it", () => {
  assert.deepEqual(textsOf("Who are you?"), ["Who are you?"]);
  for (const unit of ["word and ", "A", "é", "👍", "日本語", "  ", "a\n", "<|end|>"]) {
    const text = unit.repeat(Math.ceil(30_000 / unit.length));
    const pieces = textsOf(text);
    assert.equal(pieces.join(""), text);
    assert.ok(pieces.length > 3 && pieces.every((piece) => piece.length > 0 && piece.length <= 8_192));
    assert.ok(pieces.every((piece) => piece.isWellFormed()));
  }
});

test("text is cut before the space that begins the next word", () => {
  for (const piece of textsOf("several words of text ".repeat(2_000)).slice(1)) assert.match(piece, /^ [a-z]/);
});

test("the text of a control token is not cut", () => {
  for (let shift = 0; shift < 10; shift++) {
    const text = "A".repeat(8_192 - shift) + "<|start|>" + "A".repeat(100);
    assert.ok(textsOf(text).some((piece) => piece.includes("<|start|>")));
  }
});

test("other work runs after each piece, and pieces that cannot fit any more are not tokenized", async () => {
  const lengths: number[] = [];
  let turns = 0;
  let counting = true;
  const turn = (): void => {
    turns++;
    if (counting) setImmediate(turn);
  };
  setImmediate(turn);
  const model = {
    vocabularyType: LlamaVocabularyType.bpe,
    tokens: { bos: null, shouldPrependBosToken: false },
    tokenize(text: string) {
      lengths.push(text.length);
      return Array.from<Token>({ length: text.length / 2 });
    },
  } as unknown as LlamaModel;
  const options = { model, vocabulary: { controlTexts: control } as unknown as Vocabulary, mostTokens: 50_000 };
  const { signal } = new AbortController();
  const { whole } = await promptTokens("A".repeat(1_000_000), { ...options, signal });
  counting = false;
  assert.equal(whole, false);
  assert.ok(Math.max(...lengths) <= 8_192);
  assert.ok(lengths.length <= 13, "tokenized more than fits");
  assert.ok(turns >= lengths.length - 1, `${turns} turns for ${lengths.length} pieces`);
});

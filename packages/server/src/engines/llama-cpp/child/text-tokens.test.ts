/** The tokens of texts that are embedded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LlamaVocabularyType, type LlamaModel, type Token } from "node-llama-cpp";
import { textTokens, withModelTokens } from "./text-tokens.ts";

const { signal } = new AbortController();

interface Vocabulary {
  readonly bos?: number | null;
  readonly eos?: number | null;
  readonly sep?: number | null;
  readonly addsBos?: boolean;
  readonly addsEos?: boolean;
}

function modelOf(vocabularyType: LlamaVocabularyType, own: Vocabulary = {}, calls: unknown[][] = []): LlamaModel {
  const { bos = 1, eos = 2, sep = 3, addsBos = false, addsEos = false } = own;
  return {
    vocabularyType,
    tokens: { bos, eos, sep, shouldPrependBosToken: addsBos, shouldAppendEosToken: addsEos },
    tokenize(text: string, ...more: unknown[]) {
      calls.push(more);
      return Array.from(text, (character) => character.codePointAt(0) as Token);
    },
  } as unknown as LlamaModel;
}

test("a text gets the tokens with which its model was trained to see it begin and end", () => {
  const { bpe, spm, ugm, wpm } = LlamaVocabularyType;
  for (const [type, own, expected] of [
    // BERT, whatever its metadata say.
    [wpm, {}, [1, 9, 3]],
    // XLM-RoBERTa, such as bge-m3; T5 has no first one.
    [ugm, { addsBos: true, addsEos: true }, [1, 9, 2]],
    [ugm, { addsEos: true }, [9, 2]],
    // Qwen3, and Mistral.
    [bpe, { addsEos: true }, [9, 2]],
    [spm, { addsBos: true }, [1, 9]],
    [bpe, {}, [9]],
    [bpe, { bos: null, eos: null, addsBos: true, addsEos: true }, [9]],
  ] as const) {
    const model = modelOf(type, own);
    assert.deepEqual(withModelTokens([9 as Token], model), expected);
    assert.deepEqual(withModelTokens(expected as unknown as Token[], model), expected, "those that are there stay");
  }
});

test("a text never has control tokens, and is tokenized in pieces", async () => {
  const calls: unknown[][] = [];
  const model = modelOf(LlamaVocabularyType.spm, {}, calls);
  const text = "word ".repeat(4_000);
  const { tokens, whole } = await textTokens(text, { model, mostTokens: 100_000, signal });
  assert.deepEqual([String.fromCodePoint(...tokens), whole], [text, true]);
  assert.ok(calls.length > 2);
  assert.deepEqual(calls[0], [false, undefined]);
  for (const call of calls.slice(1)) assert.deepEqual(call, [false, "trimLeadingSpace"]);
});

test("what cannot fit any more is not tokenized, and an abandoned text neither", async () => {
  const calls: unknown[][] = [];
  const model = modelOf(LlamaVocabularyType.bpe, {}, calls);
  const text = "word ".repeat(100_000);
  const { tokens, whole } = await textTokens(text, { model, mostTokens: 10_000, signal });
  assert.deepEqual([whole, calls.length], [false, 2]);
  assert.ok(tokens.length >= 10_000 && tokens.length < 20_000);
  const exact = await textTokens("x".repeat(100), { model, mostTokens: 50, signal });
  assert.deepEqual([exact.tokens.length, exact.whole], [100, true]);
  const reason = new Error("left");
  const left = AbortSignal.abort(reason);
  await assert.rejects(textTokens(text, { model, mostTokens: 1_000_000, signal: left }), reason);
});

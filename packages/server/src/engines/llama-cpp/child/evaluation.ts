/** Evaluates tokens in one sequence and returns raw logits. */
import type { ControlledEvaluateInputItem, LlamaContextSequence, Token } from "node-llama-cpp";
import type { PromptLogprobs } from "../protocol.ts";
import type { Logits } from "./sampler.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** How many of the likeliest tokens are candidates for the next one. */
const candidateCount = 1024;

export interface NextLogits {
  readonly logits: Logits;
  /** Natural logarithm of the sum of all tokens' exp(logit): log probability = logit − this. NaN unless requested. */
  readonly logTotal: number;
}

export interface LogitsRequest {
  readonly logTotal: boolean;
  /** Tokens whose logits are needed wherever they rank. */
  readonly also: readonly number[];
}

type GenerateNext = NonNullable<Exclude<ControlledEvaluateInputItem, Token>[1]["generateNext"]>;

/**
 * Without sampling options llama.cpp returns all tokens' logits sorted, which is exact and slow for a large vocabulary.
 * With top-k alone it selects first: the same raw logits, but no total over all of them.
 */
function request({ logTotal, also }: LogitsRequest): GenerateNext {
  const logits = { filter: { tokens: also as Token[], includeTop: candidateCount } };
  if (logTotal || also.length > 0) return { logits, totalLogitWeight: true };
  return { logits, options: { temperature: 1, topK: candidateCount, topP: 1, minP: 0, seed: 0 } };
}

/** Evaluates one token and returns what may follow it. */
export async function evaluateNext(
  sequence: LlamaContextSequence,
  token: Token,
  wanted: LogitsRequest,
): Promise<NextLogits> {
  const [output] = await sequence.controlledEvaluate([[token, { generateNext: request(wanted) }]]);
  const { logits, totalLogitWeight } = output!.next;
  const highest = Math.max(...logits!.values());
  return {
    logits: logits!,
    logTotal: totalLogitWeight === undefined ? Number.NaN : highest + Math.log(totalLogitWeight),
  };
}

/** All tokens' logits after the last evaluated token, for when no likely one is allowed. */
export async function reevaluateAll(sequence: LlamaContextSequence): Promise<Logits> {
  const last = sequence.contextTokens.at(-1)!;
  await sequence.eraseContextTokenRanges([{ start: sequence.nextTokenIndex - 1, end: sequence.nextTokenIndex }]);
  const [output] = await sequence.controlledEvaluate([[last, { generateNext: { logits: true } }]]);
  return output!.next.logits!;
}

/**
 * Evaluates the prompt without its last token, a batch at a time, and reuses the tokens that the sequence already has.
 * @returns how many tokens were held already
 */
export async function evaluatePrompt(
  sequence: LlamaContextSequence,
  prompt: Token[],
  signal: AbortSignal,
): Promise<number> {
  const same = sequence.compareContextTokens(prompt).firstDifferentIndex;
  const keep = Math.min(same, prompt.length - 1);
  await sequence.eraseContextTokenRanges([{ start: keep, end: sequence.nextTokenIndex }]);
  const held = sequence.nextTokenIndex;
  const { batchSize } = sequence.context;
  for (let start = held; start < prompt.length - 1; start += batchSize) {
    signal.throwIfAborted();
    await sequence.evaluateWithoutGeneratingNewTokens(
      prompt.slice(start, Math.min(start + batchSize, prompt.length - 1)),
    );
  }
  signal.throwIfAborted();
  return held;
}

/**
 * Evaluates the prompt without its last token and returns each token's log probability, with `count` alternatives.
 * A token that is not among the likeliest has no rank.
 */
export async function evaluatePromptLogprobs(
  sequence: LlamaContextSequence,
  prompt: Token[],
  { count, vocabulary, signal }: { count: number; vocabulary: Vocabulary; signal: AbortSignal },
): Promise<PromptLogprobs> {
  await sequence.clearHistory();
  const result: PromptLogprobs = [null];
  const decoded = (token: number): string => Buffer.from(vocabulary.bytesOf(token)).toString();
  for (let index = 0; index < prompt.length - 1; index++) {
    signal.throwIfAborted();
    const actual = prompt[index + 1]!;
    const { logits, logTotal } = await evaluateNext(sequence, prompt[index]!, { logTotal: true, also: [actual] });
    const ranked = [...logits].sort((one, other) => other[1] - one[1]);
    const rank = ranked.findIndex(([token]) => token === actual) + 1;
    const shown = ranked.slice(0, count).concat(rank > count ? [ranked[rank - 1]!] : []);
    result.push(
      Object.fromEntries(
        shown.map(([token, logit], place) => [
          token,
          {
            logprob: logit - logTotal,
            rank: place < count ? place + 1 : rank <= candidateCount ? rank : null,
            decoded_token: decoded(token),
          },
        ]),
      ),
    );
  }
  return result;
}

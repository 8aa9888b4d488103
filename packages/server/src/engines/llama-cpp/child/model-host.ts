/** Serves generations with a loaded model, several at a time. */
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import { maximumLogprobs } from "../generation-limits.ts";
import { promptLimit, type PromptLimit } from "../prompt-limit.ts";
import type { Generation, GenerationEvent } from "../protocol.ts";
import { createChatTemplate } from "./chat-template.ts";
import { evaluatePrompt, evaluatePromptLogprobs } from "./evaluation.ts";
import { generateChoice } from "./generate-choice.ts";
import type { LoadedChatModel, ReportLog } from "./load-model.ts";
import { Preparation } from "./preparation.ts";
import { promptTokens } from "./prompt-tokens.ts";
import { createSequencePool } from "./sequence-pool.ts";
import { createVocabulary } from "./vocabulary.ts";

type Emit = (event: GenerationEvent) => Promise<void>;

export interface ModelHost {
  readonly purpose: "chat";
  readonly promptLimit: PromptLimit;
  /** Resolves when the answer is complete. Rejects with an AppError, or with the signal's reason when it is aborted. */
  generate(generation: Generation, signal: AbortSignal, emit: Emit): Promise<void>;
}

function refuseUnknownTokens(generation: Generation, size: number): void {
  const unknown = generation.sampling.bias.find(([token]) => token >= size);
  if (unknown === undefined) return;
  throw new AppError(
    "invalid_request",
    `logit_bias contains the token ${unknown[0]}, but the model's tokens are 0 to ${size - 1}.`,
    {
      param: "logit_bias",
    },
  );
}

function requireFewLogprobs({ promptLogprobs }: Generation, prompt: readonly Token[]): void {
  if (promptLogprobs === undefined || prompt.length * (promptLogprobs + 1) <= maximumLogprobs) return;
  throw new AppError(
    "invalid_request",
    `prompt_logprobs is ${promptLogprobs}, which produces ${prompt.length * (promptLogprobs + 1)} log probabilities for a prompt of ${prompt.length} tokens; at most ${maximumLogprobs} are allowed. Lower prompt_logprobs or shorten the prompt.`,
    { param: "prompt_logprobs" },
  );
}

/** @throws AppError upstream_failed if the chat template is not one that can be read */
export function createModelHost({ model, context, template }: LoadedChatModel, report: ReportLog): ModelHost {
  const vocabulary = createVocabulary(model);
  const { contextSize } = context;
  const limit = promptLimit(contextSize, vocabulary.longestBytes);
  const source = {
    template,
    bos: model.tokens.bosString ?? "",
    eos: model.tokens.eosString ?? "",
    controlTexts: vocabulary.controlTexts,
  };
  createChatTemplate(source);
  const preparation = new Preparation({ source, limit }, (message) => report("error", message));
  const pool = createSequencePool(context);

  const tokenize = async (text: string, signal: AbortSignal): Promise<Token[]> => {
    const { tokens, whole } = await promptTokens(text, { model, vocabulary, mostTokens: contextSize, signal });
    if (whole && tokens.length < contextSize) return tokens;
    throw new AppError(
      "context_length_exceeded",
      `The messages have ${tokens.length} tokens${whole ? "" : " or more"}, but the model's context holds ${contextSize} tokens, including the completion. Shorten the messages.`,
      { param: "messages" },
    );
  };

  return {
    purpose: "chat",
    promptLimit: limit,
    async generate(generation, callerSignal, emit) {
      refuseUnknownTokens(generation, vocabulary.size);
      const { prompt: text, shape } = await preparation.prepare(generation, callerSignal);
      const prompt = await tokenize(text, callerSignal);
      requireFewLogprobs(generation, prompt);
      const seed = generation.sampling.seed ?? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
      const maximumTokens = Math.min(generation.maximumTokens ?? Infinity, contextSize - prompt.length);
      const started = { kind: "started", promptTokens: prompt.length } as const;
      if (generation.promptLogprobs === undefined) await emit(started);

      const failed = new AbortController();
      const signal = AbortSignal.any([callerSignal, failed.signal]);
      const runChoice = async (index: number): Promise<void> => {
        const sequence = await pool.acquire(prompt, { group: generation.group, signal });
        try {
          const cachedTokens = await prepare(sequence, index);
          const finish = await generateChoice(
            { index, generation, shape, vocabulary, maximumTokens, seed, signal, emit },
            sequence,
            prompt.at(-1)!,
          );
          await emit({ kind: "finished", choice: index, ...finish, cachedTokens });
        } finally {
          pool.release(sequence);
        }
      };
      const prepare = async (sequence: LlamaContextSequence, index: number): Promise<number> => {
        const count = index === 0 ? generation.promptLogprobs : undefined;
        if (count === undefined) return evaluatePrompt(sequence, prompt, signal);
        const promptLogprobs = await evaluatePromptLogprobs(sequence, prompt, { count, vocabulary, signal });
        await emit({ ...started, promptLogprobs });
        return 0;
      };
      const choices = Array.from({ length: generation.choices }, (_, index) => runChoice(index));
      try {
        await Promise.all(choices);
      } catch (error) {
        // No choice may run on after its call was answered.
        failed.abort(error);
        await Promise.allSettled(choices);
        throw error;
      }
    },
  };
}

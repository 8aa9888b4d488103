/** Embeds texts with a loaded model, one at a time; callers' texts take turns by organization. */
import type { Token } from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import { FairQueue } from "../../../scheduling/fair-queue.ts";
import { scaleToLengthOne } from "../../unit-vector.ts";
import { overlongInput } from "../embedding-input.ts";
import { promptLimit, type PromptLimit } from "../prompt-limit.ts";
import type { EmbeddedInput, EmbeddingInput } from "../protocol.ts";
import type { LoadedEmbeddingModel } from "./load-model.ts";
import { textTokens, withModelTokens } from "./text-tokens.ts";
import { createVocabulary } from "./vocabulary.ts";

export interface EmbeddingHost {
  readonly purpose: "embeddings";
  readonly promptLimit: PromptLimit;
  /** Rejects with an AppError, or with the signal's reason when it is aborted. */
  embed(input: EmbeddingInput, signal: AbortSignal): Promise<EmbeddedInput>;
}

export function createEmbeddingHost({ model, context, contextSize, settings }: LoadedEmbeddingModel): EmbeddingHost {
  const vocabulary = createVocabulary(model);
  const ownLength = model.embeddingVectorSize;
  // The model's own limit on calls bounds how many wait.
  const queue = new FairQueue({ places: 1, maxWaiting: Infinity, what: "The model" });

  /** The components that are kept. @throws AppError */
  const lengthFor = (dimensions = ownLength): number => {
    const { minimumDimensions: least } = settings;
    if (dimensions === ownLength || (least !== undefined && dimensions >= least && dimensions < ownLength))
      return dimensions;
    const allowed =
      least === undefined
        ? `the model's vectors have ${ownLength} components and cannot be shortened. Omit dimensions, or set embeddings.min_dimensions if the model was trained for shorter vectors`
        : `the model's vectors have ${least} to ${ownLength} components`;
    throw new AppError("unsupported_parameter", `dimensions is ${dimensions}, but ${allowed}.`, {
      param: "dimensions",
    });
  };

  const tokenize = async ({ text, param }: EmbeddingInput, signal: AbortSignal) => {
    const { tokens, whole } =
      typeof text === "string"
        ? await textTokens(text, { model, mostTokens: contextSize + 1, signal })
        : { tokens: knownTokens(text, param, vocabulary.size), whole: true };
    const complete = withModelTokens(tokens, model);
    // With those that the library adds.
    const count = context.calculateInputLength(complete);
    if (!whole || count > contextSize) throw overlongInput(param, count, contextSize, whole);
    if (complete.length > 0) return { tokens: complete, count };
    throw new AppError("invalid_request", `${param} has no token that the model knows.`, { param });
  };

  return {
    purpose: "embeddings",
    promptLimit: promptLimit(contextSize, vocabulary.longestBytes),
    async embed(input, signal) {
      const length = lengthFor(input.dimensions);
      const leave = await queue.enter(input.group, signal);
      try {
        const { tokens, count } = await tokenize(input, signal);
        const { vector } = await context.getEmbeddingFor(tokens);
        const kept = Float32Array.from(length < vector.length ? vector.slice(0, length) : vector);
        if (kept.length !== length || !kept.every(Number.isFinite))
          throw new AppError("upstream_failed", `The model returned no valid vector for ${input.param}.`);
        if (settings.normalize) scaleToLengthOne(kept);
        return { kind: "embedded", vector: Buffer.from(kept.buffer).toString("base64"), tokens: count };
      } finally {
        leave();
      }
    },
  };
}

/** @throws AppError invalid_request for a token that the vocabulary does not have */
function knownTokens(tokens: readonly number[], param: string, size: number): Token[] {
  const unknown = tokens.find((token) => token >= size);
  if (unknown === undefined) return tokens as Token[];
  throw new AppError(
    "invalid_request",
    `${param} has the token ${unknown}, but the model's tokens are 0 to ${size - 1}.`,
    { param },
  );
}

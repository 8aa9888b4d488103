/** Embeds texts: prepare, admit, call a model, record. */
import type { EmbeddingRequest } from "../api/embeddings.ts";
import type { EmbeddingCall } from "../engines/embedding-model.ts";
import type { Attempt } from "../engines/engine.ts";
import { toAppError, type AppError } from "../errors.ts";
import type { FinishedEmbeddings } from "../finished-call.ts";
import { callerOf, type CallerFields } from "../http/caller.ts";
import type { RouteInput, RouteResponse } from "../http/route.ts";
import type { Limiter } from "../limits/limiter.ts";
import { costHeaders, type CallCost, type CallCosts } from "../pricing/call-costs.ts";
import { lastModel } from "../pricing/priced-model.ts";
import { noTokens } from "../pricing/token-usage.ts";
import type { RoutedEmbeddings } from "../routing/route-embeddings.ts";
import type { Scope } from "../tenant.ts";
import { prepareEmbeddings } from "./prepare.ts";
import { writeEmbeddings } from "./write-embeddings.ts";

export interface EmbeddingParts {
  /** @throws AppError model_not_found, model_not_allowed, invalid_request */
  resolveModel(scope: Scope, modelId: string): RoutedEmbeddings;
  readonly limiter: Limiter;
  readonly costs: CallCosts;
  /** Called once for each call, refused ones included; must not throw. */
  observe(call: FinishedEmbeddings): void;
}

type EmbedInput = Pick<RouteInput<EmbeddingRequest>, "body" | CallerFields | "signal" | "note">;

export type Embed = (input: EmbedInput) => Promise<RouteResponse>;

export function createEmbed(parts: EmbeddingParts): Embed {
  return async (input) => {
    const { body, signal, requestId, scope } = input;
    const start = { unixMs: Date.now(), monotonicMs: performance.now() };
    const attempts: Attempt[] = [];
    const finish = (
      result: Pick<FinishedEmbeddings, "inputs" | "tokens" | "cost" | "refused">,
      error?: AppError,
    ): void => {
      parts.observe({
        ...callerOf(input, { endUser: body.user ?? undefined }),
        ...result,
        kind: "embeddings",
        model: body.model,
        stream: false,
        dimensions: body.dimensions ?? undefined,
        startUnixMs: start.unixMs,
        durationMs: performance.now() - start.monotonicMs,
        error,
        attempts,
      });
    };
    const admitted = await admit(input, parts).catch((thrown: unknown) => {
      finish({ inputs: 0, tokens: undefined, cost: undefined, refused: true }, toAppError(thrown));
      throw thrown;
    });
    const { admission, estimatedTokens, model, prepared } = admitted;
    const { inputs } = prepared;
    let tokens: number | undefined;
    let cost: CallCost | undefined;
    try {
      const call: EmbeddingCall = { ...prepared, signal, requestId, fairnessKey: scope.organizationId };
      const onAttempt = (attempt: Attempt): unknown => attempts.push(attempt);
      const { vectors, modelId, ...answer } = await model.embed({ ...call, onAttempt });
      tokens = answer.tokens;
      const used = tokens ?? estimatedTokens;
      if (tokens !== undefined) {
        const usage = { tokens: { ...noTokens, inputTokens: tokens } };
        cost = parts.costs.of(scope.key, lastModel(attempts, body.model), usage);
      }
      const toldCost = parts.costs.areTold ? cost : undefined;
      const facts = { model: modelId, tokens: used, format: body.encoding_format, cost: toldCost };
      const text = await writeEmbeddings(vectors, facts);
      finish({ inputs: inputs.length, tokens, cost, refused: false });
      admission.settle({ tokens: used, cost });
      return {
        kind: "text",
        text,
        type: "application/json",
        headers: { ...admission.headers(), ...costHeaders(toldCost) },
      };
    } catch (thrown) {
      admission.settle({ tokens: 0, cost });
      finish({ inputs: inputs.length, tokens, cost, refused: false }, toAppError(thrown));
      throw thrown;
    } finally {
      input.note({
        model: body.model,
        inputs: inputs.length,
        engine: attempts.at(-1)?.engine,
        attempts: attempts.length,
        prompt_tokens: tokens,
        cost: cost?.total,
        price: cost?.source,
      });
    }
  };
}

/** Prepares the request, resolves its model, then applies the limits. */
async function admit(input: EmbedInput, parts: EmbeddingParts) {
  const { body, scope } = input;
  const { estimatedTokens, ...prepared } = prepareEmbeddings(body);
  const model = parts.resolveModel(scope, body.model);
  const admission = await parts.limiter.admit(scope, {
    estimatedTokens,
    call: () => {
      const { endUser, tags } = callerOf(input, { endUser: body.user ?? undefined });
      return { model: body.model, endUser, tags, usage: { tokens: { ...noTokens, inputTokens: estimatedTokens } } };
    },
  });
  return { prepared, estimatedTokens, model, admission };
}

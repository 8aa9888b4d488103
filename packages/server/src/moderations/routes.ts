/** HTTP routes of moderations. */
import { createModeration, type ModerationRequest } from "../api/moderations.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import type { Moderator } from "../guardrails/guardrails.ts";
import { callerOf } from "../http/caller.ts";
import { route, type Route } from "../http/route.ts";
import { isObject, wholeNumber, type JsonObject } from "../json-object.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { CallCost, CallCosts } from "../pricing/call-costs.ts";
import type { PricedModel } from "../pricing/prices.ts";
import { noTokens, type CallUsage } from "../pricing/token-usage.ts";
import type { Scope } from "../tenant.ts";

export interface ModerationParts {
  /** @throws AppError model_not_found if none applies to the caller */
  moderatorFor(scope: Scope, name: string | undefined): Moderator;
  readonly limiter: Limiter;
  readonly costs: CallCosts;
}

export function moderationRoutes({ costs, limiter, moderatorFor }: ModerationParts): Route[] {
  return [
    route(createModeration, async (input) => {
      const { body, bytes, requestId, scope, signal } = input;
      const moderator = moderatorFor(scope, body.model ?? undefined);
      const target = pricedAs(moderator);
      const tokens = estimateTokens(bytes.length);
      const admission = await limiter.admit(scope, {
        estimatedTokens: tokens,
        call: () => {
          const { endUser, tags } = callerOf(input);
          return { model: moderator.name, endUser, tags, usage: usageOf(tokens), targets: [target] };
        },
      });
      let used = 0;
      let cost: CallCost | undefined;
      try {
        const answer = await moderator.classify(body.input, countOf(body), signal);
        used = tokens;
        cost = costs.of(scope.key, target, usageOf(tokensIn(answer)));
        input.note({ model: moderator.name, cost: cost?.total, price: cost?.source });
        return { kind: "json", value: withHead(answer, moderator, requestId), headers: admission.headers() };
      } finally {
        admission.settle({ tokens: used, cost });
      }
    }),
  ];
}

/** As in chats that the guardrail checks. */
function pricedAs({ name, model = name }: Moderator): PricedModel {
  return { engine: name, model, modelId: name };
}

function usageOf(inputTokens: number | undefined): CallUsage {
  return { tokens: inputTokens === undefined ? undefined : { ...noTokens, inputTokens } };
}

/** Endpoints of language models report usage, as embeddings do. */
function tokensIn({ usage }: JsonObject): number | undefined {
  return isObject(usage) ? wholeNumber(usage["prompt_tokens"] ?? usage["input_tokens"]) : undefined;
}

/** Parts belong to one input. */
function countOf({ input }: ModerationRequest): number {
  return typeof input === "string" || input.some((each) => typeof each !== "string") ? 1 : input.length;
}

/** Some endpoints leave out what clients require. */
function withHead(answer: JsonObject, { model, name }: Moderator, requestId: string): JsonObject {
  return { id: `modr-${requestId}`, model: model ?? name, ...answer };
}

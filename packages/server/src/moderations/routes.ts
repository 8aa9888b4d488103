/** HTTP routes of moderations. */
import { createModeration, type ModerationRequest } from "../api/moderations.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import type { Moderator } from "../guardrails/guardrails.ts";
import { route, type Route } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Scope } from "../tenant.ts";

export interface ModerationParts {
  /** @throws AppError model_not_found if none applies to the caller */
  moderatorFor(scope: Scope, name: string | undefined): Moderator;
  readonly limiter: Limiter;
}

export function moderationRoutes({ limiter, moderatorFor }: ModerationParts): Route[] {
  return [
    route(createModeration, async ({ body, bytes, requestId, scope, signal }) => {
      const moderator = moderatorFor(scope, body.model ?? undefined);
      const tokens = estimateTokens(bytes.length);
      const admission = await limiter.admit(scope, { estimatedTokens: tokens });
      let used = 0;
      try {
        const answer = await moderator.classify(body.input, countOf(body), signal);
        used = tokens;
        return { kind: "json", value: withHead(answer, moderator, requestId), headers: admission.headers() };
      } finally {
        admission.settle({ tokens: used });
      }
    }),
  ];
}

/** Parts belong to one input. */
function countOf({ input }: ModerationRequest): number {
  return typeof input === "string" || input.some((each) => typeof each !== "string") ? 1 : input.length;
}

/** Some endpoints leave out what clients require. */
function withHead(answer: JsonObject, { model, name }: Moderator, requestId: string): JsonObject {
  return { id: `modr-${requestId}`, model: model ?? name, ...answer };
}

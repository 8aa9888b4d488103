/** Counts the tokens of a request: exactly where the upstream can, as an estimate elsewhere. */
import type { TokenCountRequest } from "../api/messages-request.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { toWireCall } from "../chat/wire-call.ts";
import { AppError } from "../errors.ts";
import type { ResponseHeaders, RouteInput } from "../http/route.ts";
import { wholeNumber, type JsonObject } from "../json-object.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { withoutForeignThinking } from "./foreign-thinking.ts";
import { messagesWire } from "./messages-wire.ts";
import { estimateInputTokens } from "./token-estimate.ts";

type CountInput = Pick<
  RouteInput<TokenCountRequest>,
  "body" | "bytes" | "headers" | "scope" | "signal" | "cancellation" | "requestId" | "note"
>;

export interface CountedTokens {
  readonly value: { readonly input_tokens: number };
  readonly headers: ResponseHeaders;
}

export type CountTokens = (input: CountInput) => Promise<CountedTokens>;

/** Counting generates nothing, so it counts as a request without tokens. */
export function createCountTokens(
  parts: Pick<ChatParts<RoutedChat>, "resolveModel" | "guardFor" | "limiter">,
): CountTokens {
  return async (input) => {
    const { body, scope } = input;
    input.note({ model: body.model });
    const model = parts.resolveModel(scope, body.model);
    const admission = await parts.limiter.admit(scope, { estimatedTokens: 0 });
    try {
      // An upstream must not see what guardrails would redact.
      const isGuarded = parts.guardFor(scope, body.model) !== undefined;
      const counted = isGuarded ? undefined : await count(model, input);
      const tokens = counted ?? estimateInputTokens(body);
      const mark = counted === undefined ? { "x-token-count": "estimate" } : {};
      return { value: { input_tokens: tokens }, headers: { ...admission.headers(), ...mark } };
    } finally {
      admission.settle({ tokens: 0 });
    }
  };
}

/** @returns undefined if the model's upstream cannot count */
async function count(model: RoutedChat, input: CountInput): Promise<number | undefined> {
  const { signal, cancellation } = input;
  const { value } = await model.answer({ signal, cancellation }, async (target) => {
    const native = target.wires?.messages;
    return native === undefined ? undefined : readCount(await askFor(native, input));
  });
  return value;
}

/** @returns undefined if the upstream has no such operation, as some that speak the Messages API do not */
async function askFor(
  native: NonNullable<NonNullable<RoutedChat["wires"]>["messages"]>,
  input: CountInput,
): Promise<JsonObject | undefined> {
  try {
    const { body } = input;
    const sent = { request: body, changes: withoutForeignThinking(body) };
    return await native.ask("count_tokens", toWireCall(messagesWire, input, sent));
  } catch (error) {
    const isAbsent =
      error instanceof AppError && error.upstreamStatus === absentStatus && error.code !== "model_not_found";
    if (isAbsent) return undefined;
    throw error;
  }
}

const absentStatus = 404;

function readCount(answer: JsonObject | undefined): number | undefined {
  if (answer === undefined) return undefined;
  const tokens = wholeNumber(answer["input_tokens"]);
  if (tokens === undefined) throw new AppError("upstream_failed", "The engine did not say how many tokens there are.");
  return tokens;
}

/** Operations that only an upstream which speaks the Responses API can do: counting tokens, compacting a conversation. */
import type { ResponsePrompt } from "../api/responses-request.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { toWireCall } from "../chat/wire-call.ts";
import { AppError } from "../errors.ts";
import type { ResponseHeaders, RouteInput } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import type { StoredResponses } from "../tenancy/stored-responses.ts";
import { continueConversation, withoutForeignReasoning } from "./continue-conversation.ts";
import { responsesWire } from "./responses-wire.ts";
import { toChatUsage } from "./response-usage.ts";

type AskInput = Pick<
  RouteInput<ResponsePrompt>,
  "body" | "bytes" | "headers" | "scope" | "signal" | "cancellation" | "requestId" | "note"
>;

interface UpstreamAnswer {
  readonly value: JsonObject;
  readonly headers: ResponseHeaders;
}

export function askUpstream(
  parts: Pick<ChatParts<RoutedChat>, "resolveModel" | "guardFor" | "limiter">,
  stored: StoredResponses,
): (operation: "input_tokens" | "compact", input: AskInput) => Promise<UpstreamAnswer> {
  return async (operation, input) => {
    const { body, scope, signal, cancellation } = input;
    input.note({ model: body.model });
    const model = parts.resolveModel(scope, body.model);
    // An upstream must not see what guardrails would redact.
    if (parts.guardFor(scope, body.model) !== undefined) throw notSupported(body.model, operation);
    const continued = await continueConversation(body, scope, stored);
    const changes = withoutForeignReasoning(continued);
    const call = toWireCall(responsesWire, input, { request: { ...continued.body }, changes });
    const admission = await parts.limiter.admit(scope, { estimatedTokens: 0 });
    let tokens = 0;
    try {
      const { value } = await model.answer({ signal, cancellation }, async (target, engine) => {
        const native = target.wires?.responses;
        const isOther = continued.engine !== undefined && continued.engine !== engine;
        if (native === undefined || isOther) throw notSupported(body.model, operation);
        return native.ask(operation, call);
      });
      tokens = toChatUsage(value["usage"])?.total_tokens ?? 0;
      return { value, headers: admission.headers() };
    } finally {
      admission.settle({ tokens });
    }
  };
}

function notSupported(model: string, operation: string): AppError {
  return new AppError(
    "unsupported_parameter",
    `The engine of the model ${JSON.stringify(model)} has no ${operation}.`,
    {
      param: "model",
    },
  );
}

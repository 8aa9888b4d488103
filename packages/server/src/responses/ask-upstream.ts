/** Operations that only an upstream which speaks the Responses API can do: counting tokens, compacting a conversation. */
import type { ResponsePrompt } from "../api/responses-request.ts";
import { admitChat, type ChatParts } from "../chat/admit-chat.ts";
import { CallRecord } from "../chat/call-record.ts";
import { PreparedCall } from "../chat/prepared-call.ts";
import { toWireCall } from "../chat/wire-call.ts";
import type { ChatModel } from "../engines/engine.ts";
import { AppError, toAppError } from "../errors.ts";
import type { CallerFields } from "../http/caller.ts";
import type { ResponseHeaders, RouteInput } from "../http/route.ts";
import type { JsonObject } from "../json-object.ts";
import { costHeaders, pricedAnswer } from "../pricing/call-costs.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import type { StoredResponses } from "../tenancy/stored-responses.ts";
import { continueConversation, withoutForeignReasoning, type Continued } from "./continue-conversation.ts";
import { responsesWire } from "./responses-wire.ts";
import { toChatUsage } from "./response-usage.ts";

type AskInput = Pick<
  RouteInput<ResponsePrompt>,
  "body" | "bytes" | "texts" | CallerFields | "signal" | "cancellation" | "note"
>;

interface UpstreamAnswer {
  readonly value: JsonObject;
  readonly headers: ResponseHeaders;
}

type Operation = "input_tokens" | "compact";

interface UpstreamQuestions {
  countTokens(input: AskInput): Promise<UpstreamAnswer>;
  /** A call of the model like others: limits and budgets count it, and telemetry records it with its cost. */
  compact(input: AskInput): Promise<UpstreamAnswer>;
}

export function askUpstream(parts: ChatParts<RoutedChat>, stored: StoredResponses): UpstreamQuestions {
  /** @throws AppError unsupported_parameter where guardrails apply: an upstream must not see what they would redact */
  const prepare = async (operation: Operation, input: AskInput) => {
    const { body, scope } = input;
    input.note({ model: body.model });
    const model = parts.resolveModel(scope, body.model);
    if (parts.guardFor(scope, body.model) !== undefined) throw notSupported(body.model, operation);
    return { model, ask: asking(operation, input, await continueConversation(body, scope, stored)) };
  };
  return {
    async countTokens(input) {
      const { cancellation, scope, signal } = input;
      const { ask, model } = await prepare("input_tokens", input);
      const admission = await parts.limiter.admit(scope, { estimatedTokens: 0 });
      try {
        const { value } = await model.answer({ signal, cancellation }, ask);
        return { value, headers: admission.headers() };
      } finally {
        admission.settle();
      }
    },
    async compact(input) {
      const { ask } = await prepare("compact", input);
      const described = describe(input);
      const { admission, guard, model, promptTokens, request } = await admitChat(
        described,
        () => ({ request: described.body, changes: {}, organizationId: undefined }),
        parts,
      );
      const record = new CallRecord({ request, guard, promptTokens, admission, input: described, parts });
      try {
        const { value } = await model.answer(new PreparedCall({ request, changes: {} }, described, record), ask);
        const usage = toChatUsage(value["usage"]);
        if (usage !== undefined) record.onUsage(usage, true);
        record.end();
        const { toldCost } = record;
        return {
          value: pricedAnswer(value, toldCost),
          headers: { ...admission.headers(), ...costHeaders(toldCost) },
        };
      } catch (thrown) {
        record.end(toAppError(thrown));
        throw thrown;
      }
    },
  };
}

/** The same call with the chat request that telemetry and limits read. */
function describe(input: AskInput) {
  const { bytes, cancellation, clientAddress, headers, requestId, scope, signal, texts } = input;
  const caller = { clientAddress, headers, requestId, scope, note: input.note.bind(input) };
  return { ...caller, bytes, cancellation, signal, texts, body: responsesWire.describe(input.body) };
}

/** What asks one of the model's targets. */
function asking(operation: Operation, input: AskInput, continued: Continued) {
  const changes = withoutForeignReasoning(continued);
  const call = toWireCall(responsesWire, input, { request: { ...continued.body }, changes });
  return async (target: ChatModel, engine: string): Promise<JsonObject> => {
    const native = target.wires?.responses;
    const isOther = continued.engine !== undefined && continued.engine !== engine;
    if (native === undefined || isOther) throw notSupported(input.body.model, operation);
    return native.ask(operation, call);
  };
}

function notSupported(model: string, operation: Operation): AppError {
  return new AppError(
    "unsupported_parameter",
    `The engine of the model ${JSON.stringify(model)} has no ${operation}.`,
    {
      param: "model",
    },
  );
}

/** Completes one chat, batch or streaming: prepare, admit, call a model, record. */
import type { ChatCompletion } from "../api/chat-answer.ts";
import type { ChatRequest } from "../api/chat-request.ts";
import { toAppError } from "../errors.ts";
import type { ChatGuard } from "../guardrails/chat-guard.ts";
import type { CallerFields } from "../http/caller.ts";
import type { RouteInput, RouteResponse } from "../http/route.ts";
import type { ChatCall, ChatModel } from "../engines/engine.ts";
import { costHeaders, pricedAnswer, withCost } from "../pricing/call-costs.ts";
import { reportEnd } from "../streams/report-end.ts";
import { admitChat, guardPrompt, restoreReadTexts, type ChatParts } from "./admit-chat.ts";
import { prepareChat } from "./prepare.ts";
import { PreparedCall } from "./prepared-call.ts";
import { CallRecord } from "./call-record.ts";
import { toFrames } from "./chunks.ts";

type ChatInput = Pick<
  RouteInput<ChatRequest>,
  "body" | "bytes" | "texts" | CallerFields | "signal" | "cancellation" | "note"
>;

export type Chat = (input: ChatInput) => Promise<RouteResponse>;

export function createChat(parts: ChatParts): Chat {
  return async (input) => {
    if (input.texts !== undefined) await restoreReadTexts(input.texts, input, parts);
    const admitting = admitChat(input, () => prepareChat(input.body), parts);
    const admitted = admitting instanceof Promise ? await admitting : admitting;
    const { request: received, changes: receivedChanges, model, guard, promptTokens, admission } = admitted;
    const record = new CallRecord({ request: received, guard, promptTokens, admission, input, parts });
    const { request, changes } =
      guard === undefined
        ? { request: received, changes: receivedChanges }
        : await guardPrompt(guard, { request: received, changes: receivedChanges }, { signal: input.signal, record });
    const call = new PreparedCall({ request, changes }, input, record);
    const headers = admission.headers();
    if (request.stream !== true) {
      const completion = await complete(model, call, { record, guard });
      return {
        kind: "json",
        value: pricedAnswer(completion, record.toldCost),
        headers: { ...headers, ...costHeaders(record.toldCost) },
      };
    }
    const includeUsage = request.stream_options?.include_usage === true;
    const modelChunks = model.stream(call);
    const chunks =
      guard?.stream(modelChunks, {
        signal: input.signal,
        choiceCount: request.n ?? 1,
        onWithheld: () => record.onWithheld(),
      }) ?? modelChunks;
    const events = toFrames(
      reportEnd(chunks, (error) => record.end(error)),
      {
        includeUsage,
        observer: record,
        pricedUsage: (usage) => withCost(usage, record.toldCost),
      },
    );
    return { kind: "events", events, headers };
  };
}

/** Answers at once. The call has ended when this returns or throws. */
export async function complete(
  model: ChatModel,
  call: ChatCall,
  { record, guard }: { readonly record: CallRecord; readonly guard: ChatGuard | undefined },
): Promise<ChatCompletion> {
  try {
    const answer = await model.complete(call);
    if (answer.usage !== undefined) record.onUsage(answer.usage, true);
    const completion = guard === undefined ? answer : ((await guard.completion(answer, call.signal)) ?? answer);
    record.onCompletion(completion);
    record.end();
    return completion;
  } catch (error) {
    record.end(toAppError(error));
    throw error;
  }
}

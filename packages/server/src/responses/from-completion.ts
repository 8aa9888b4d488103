/** A chat completion as a response. */
import type { ChatCompletion } from "../api/chat-answer.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { isNone, reasoningOf } from "../chat/kept-reasoning.ts";
import { AppError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import { toReasoningItem } from "./kept-reasoning.ts";
import { callItem, callType, itemId, messageItem, refusalPart, textPart } from "./output-items.ts";
import { beginResponse, endResponse, itemStatus } from "./response-object.ts";
import { toolReader } from "./tools.ts";

/** @throws AppError upstream_failed */
export function fromCompletion(completion: ChatCompletion, request: ResponseRequest): JsonObject {
  const [choice] = completion.choices;
  if (choice === undefined) throw new AppError("upstream_failed", "The engine's response has no choice.");
  const { message, finish_reason: reason } = choice;
  const status = itemStatus(reason);
  const output: JsonObject[] = [];
  const reasoning = reasoningOf(message);
  if (!isNone(reasoning)) {
    output.push(toReasoningItem(itemId("reasoning", completion.id, 0), reasoning));
  }
  const parts = [
    ...(message.content == null || message.content === "" ? [] : [textPart(message.content)]),
    ...(message.refusal == null || message.refusal === "" ? [] : [refusalPart(message.refusal)]),
  ];
  const calls = message.tool_calls ?? [];
  // An answer without anything is an empty text.
  const content = parts.length === 0 && calls.length === 0 ? [textPart("")] : parts;
  // Only the last item can be cut off.
  const statusOf = (isLast: boolean): typeof status => (isLast ? status : "completed");
  if (content.length > 0) {
    const id = itemId("message", completion.id, output.length);
    output.push(messageItem(id, content, statusOf(calls.length === 0)));
  }
  const toolOf = toolReader(request);
  for (const [index, { function: called, ...call }] of calls.entries()) {
    const tool = toolOf(called.name);
    const id = itemId(callType(tool), completion.id, output.length);
    const made = { ...call, tool, arguments: called.arguments };
    output.push(callItem(id, made, statusOf(index === calls.length - 1)));
  }
  const begun = beginResponse(completion, request);
  return endResponse(begun, { output, reason, usage: completion.usage });
}

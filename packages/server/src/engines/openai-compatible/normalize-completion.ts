/** Normalizes a batch completion for strict clients, or refuses it. */
import type { ChatCompletion } from "../../api/chat-answer.ts";
import { invalidResponse, tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { maxChoices, maxToolCalls } from "./response-limits.ts";
import { isObject, nonEmptyText, type JsonObject } from "../../json-object.ts";
import {
  argumentsOf,
  choiceIndex,
  finishReasonOf,
  newCompletionId,
  newToolCallId,
  normalizeChoice,
  normalizeHead,
  textOf,
  takeUsage,
  throwEmbeddedError,
  unixSeconds,
} from "./normalize-parts.ts";

/**
 * Changes the parsed answer in place.
 * @param model used if the response names no model
 * @throws AppError upstream_failed if it is not a chat completion, or the error in it
 */
export function normalizeCompletion(value: unknown, model: string): ChatCompletion {
  if (!isObject(value)) throw invalidResponse("it is not a JSON object");
  throwEmbeddedError(value);
  const choices = value["choices"];
  if (!Array.isArray(choices) || choices.length === 0) throw invalidResponse("it has no choices");
  if (choices.length > maxChoices) throw tooManyInResponse("choices", maxChoices);
  value["id"] = nonEmptyText(value["id"]) ?? newCompletionId();
  value["object"] = "chat.completion";
  value["created"] = unixSeconds(value["created"]);
  value["model"] = nonEmptyText(value["model"]) ?? model;
  normalizeHead(value);
  for (const [position, choice] of choices.entries()) normalizeBatchChoice(choice, position);
  if (takeUsage(value) === undefined) delete value["usage"];
  // Every member that the type demands has been checked or set above.
  return value as unknown as ChatCompletion;
}

function normalizeBatchChoice(choice: unknown, position: number): void {
  if (!isObject(choice)) throw invalidResponse(`choices[${position}] is not an object`);
  normalizeChoice(choice);
  choice["index"] = choiceIndex(choice, position);
  choice["logprobs"] ??= null;
  const message = choice["message"];
  if (!isObject(message)) throw invalidResponse(`choices[${position}] has no message`);
  message["role"] = "assistant";
  message["content"] = textOf(message["content"], `choices[${position}].message.content`);
  message["refusal"] = typeof message["refusal"] === "string" ? message["refusal"] : null;
  const toolCalls = normalizeToolCalls(message["tool_calls"]);
  if (toolCalls.length > 0) message["tool_calls"] = toolCalls;
  else delete message["tool_calls"];
  const reason = finishReasonOf(choice["finish_reason"]) ?? "stop";
  // Some engines call every end "stop"; clients run tools only for "tool_calls".
  choice["finish_reason"] = reason === "stop" && toolCalls.length > 0 ? "tool_calls" : reason;
}

/** Only calls of functions: clients know no other kind. */
function normalizeToolCalls(value: unknown): JsonObject[] {
  if (!Array.isArray(value)) return [];
  if (value.length > maxToolCalls) throw tooManyInResponse("tool calls", maxToolCalls);
  return value.filter(isFunctionCall).map((call) => {
    const { function: called } = call;
    if (nonEmptyText(called["name"]) === undefined) throw invalidResponse("a tool call has no function name");
    called["arguments"] = argumentsOf(called["arguments"]);
    call["id"] = nonEmptyText(call["id"]) ?? newToolCallId();
    call["type"] = "function";
    return call;
  });
}

function isFunctionCall(call: unknown): call is JsonObject & { function: JsonObject } {
  return isObject(call) && (call["type"] == null || call["type"] === "function") && isObject(call["function"]);
}

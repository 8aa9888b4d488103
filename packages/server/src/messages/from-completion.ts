/** A chat completion as a message. */
import type { ChatChoice, ChatCompletion, ChatUsage } from "../api/chat-answer.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { AppError } from "../errors.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import { toMessageUsage } from "./message-usage.ts";
import { toStop } from "./stop-reason.ts";
import { toThinkingBlocks } from "./thinking-blocks.ts";
import { estimateInputTokens } from "./token-estimate.ts";
import { toToolUseId } from "../chat/tool-use-id.ts";
import { toolNameReader } from "../chat/tool-names.ts";

type ToolCall = NonNullable<ChatChoice["message"]["tool_calls"]>[number];

/** @throws AppError upstream_failed if the model called a tool with arguments that are no JSON object */
export function fromCompletion(completion: ChatCompletion, request: MessageRequest): JsonObject {
  const [choice] = completion.choices;
  if (choice === undefined) throw new AppError("upstream_failed", "The engine's response has no choice.");
  const { message } = choice;
  const refusal = message.refusal ?? "";
  const text = (message.content ?? "") || refusal;
  const nameOf = toolNameReader(request.tools ?? []);
  const isCut = choice.finish_reason === "length";
  return {
    id: completion.id,
    type: "message",
    role: "assistant",
    model: completion.model,
    content: [
      ...toThinkingBlocks(message, request),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...(message.tool_calls ?? []).map((call) => ({
        type: "tool_use",
        id: toToolUseId(call),
        name: nameOf(call.function.name),
        input: readInput(call, isCut),
      })),
    ],
    ...toStop(choice, refusal, request),
    usage: toMessageUsage(completion.usage ?? estimateUsage(request, answerLength(message))),
  };
}

/** Arguments that the limit on tokens cut are empty; the client sees from `stop_reason` that they are not to be trusted. */
function readInput({ function: { arguments: text, name } }: ToolCall, isCut: boolean): JsonObject {
  if (text.trim() === "") return {};
  try {
    const input: unknown = JSON.parse(text);
    if (isObject(input)) return input;
    if (input === null) return {};
  } catch {
    // The error below says so.
  }
  if (isCut) return {};
  throw new AppError("upstream_failed", `The model called ${name} with arguments that are not a JSON object.`);
}

function answerLength({ content, reasoning_content: reasoning, tool_calls: calls }: ChatChoice["message"]): number {
  const lengths = (calls ?? []).map(({ function: called }) => called.name.length + called.arguments.length);
  return [content?.length ?? 0, reasoning?.length ?? 0, ...lengths].reduce((sum, length) => sum + length, 0);
}

/** An estimate, for engines that report no usage. @param length characters of the answer */
export function estimateUsage(request: MessageRequest, length: number): ChatUsage {
  const prompt = estimateInputTokens(request);
  const completion = estimateTokens(length);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

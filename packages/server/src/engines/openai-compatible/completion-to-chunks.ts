/** Turns a whole completion into chunks, for engines that answer a streaming request in one piece. */
import type { ChatChunkChoice, ChatCompletion, ChatCompletionChunk } from "../../api/chat-answer.ts";
import { splitChunk } from "./split-chunk.ts";

/** @param completion a normalized answer */
export function completionToChunks(completion: ChatCompletion): ChatCompletionChunk[] {
  const { choices, usage, ...head } = completion;
  const toChunk = (newChoices: ChatChunkChoice[]): ChatCompletionChunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices: newChoices,
  });
  const answers = choices.flatMap(({ message, finish_reason, ...choice }) => {
    const { tool_calls: toolCalls, ...delta } = message;
    const calls = toolCalls?.map((call, index) => ({ ...call, index }));
    const whole = { ...choice, delta: { ...delta, ...(calls && { tool_calls: calls }) }, finish_reason: null };
    const end = { index: choice.index, delta: {}, logprobs: null, finish_reason };
    return [...splitChunk(toChunk([whole])), toChunk([end])];
  });
  return usage === undefined ? answers : [...answers, { ...toChunk([]), usage }];
}

/** The chat operation. */
import { ChatCompletion, ChatCompletionChunk } from "./chat-answer.ts";
import { ChatRequest } from "./chat-request.ts";
import { operation } from "./operation.ts";

export const createChatCompletion = operation({
  id: "createChatCompletion",
  method: "POST",
  path: "/v1/chat/completions",
  tag: "Chat",
  summary: "Generate a model's answer to a conversation",
  description:
    'OpenAI\'s chat completions. Fields that are not described pass through to the engine. With `stream` the answer comes as server-sent events and ends with `data: [DONE]`; a stream that fails carries `data: {"error": …}` and ends without it.',
  permission: "inference",
  body: ChatRequest,
  answer: { type: "application/json", schema: ChatCompletion, description: "The whole answer." },
  stream: {
    type: "text/event-stream",
    schema: ChatCompletionChunk,
    description: "The answer in pieces, when `stream` is true.",
  },
  example: { model: "sounding-trial", messages: [{ role: "user", content: "Say hello." }] },
});

/** The chat operation. */
import { ChatCompletion, ChatCompletionChunk } from "./chat-answer.ts";
import { ChatRequest } from "./chat-request.ts";
import { operation } from "./operation.ts";

export const createChatCompletion = operation({
  id: "createChatCompletion",
  method: "POST",
  path: "/v1/chat/completions",
  tag: "Chat",
  summary: "Generate a response to a conversation",
  description:
    'OpenAI\'s chat completions. Fields that are not described here are passed to the engine. With `stream`, the response is a stream of server-sent events that ends with `data: [DONE]`; a stream that fails sends `data: {"error": …}` and ends without `[DONE]`.',
  permission: "inference",
  body: ChatRequest,
  answer: { type: "application/json", schema: ChatCompletion, description: "The complete response." },
  stream: {
    type: "text/event-stream",
    schema: ChatCompletionChunk,
    description: "The response as a stream, if `stream` is true.",
  },
  example: { model: "sounding-trial", messages: [{ role: "user", content: "Say hello." }] },
});

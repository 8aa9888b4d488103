/** The operations of Anthropic's Messages API. */
import { Message, MessageEvent, TokenCount } from "./messages-answer.ts";
import { MessageRequest, TokenCountRequest } from "./messages-request.ts";
import { operation } from "./operation.ts";

const errors = {
  types: ["application/json"],
  description: "An error: `type` is `error`, `error` has `type` and `message`, and `request_id` names the request.",
} as const;

const example = { model: "sounding-trial", messages: [{ role: "user", content: "Say hello." }] };

export const createMessage = operation({
  id: "createMessage",
  method: "POST",
  path: "/v1/messages",
  tag: "Chat",
  summary: "Generate a message, in Anthropic's API",
  description:
    "Anthropic's Messages API. If the model's engine speaks it, the request is passed through unchanged except for the model's name; `anthropic-version` and `anthropic-beta` are passed through, too. For other engines the request is translated to chat completions, and what these cannot express is refused by name. With `stream`, the response is a stream of server-sent events that ends with `message_stop`, or with `error` if it fails.",
  permission: "inference",
  body: MessageRequest,
  answer: { type: "application/json", schema: Message, description: "The complete message." },
  stream: {
    type: "text/event-stream",
    schema: MessageEvent,
    description: "The message as a stream of events, if `stream` is true.",
  },
  errors,
  example: { ...example, max_tokens: 256 },
});

export const countMessageTokens = operation({
  id: "countMessageTokens",
  method: "POST",
  path: "/v1/messages/count_tokens",
  tag: "Chat",
  summary: "Count the tokens of a request of the Messages API",
  description:
    "Counted by the model's engine if it speaks the Messages API. Otherwise it is an estimate, and the response has the header `x-token-count: estimate`.",
  permission: "inference",
  body: TokenCountRequest,
  answer: { type: "application/json", schema: TokenCount, description: "The number of tokens." },
  errors,
  example,
});

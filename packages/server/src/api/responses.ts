/** The operations of OpenAI's Responses API. */
import { operation } from "./operation.ts";
import {
  ResponseDeleted,
  ResponseEvent,
  ResponseItems,
  ResponseObject,
  ResponseTokenCount,
} from "./responses-answer.ts";
import { ResponsePrompt, ResponseRequest } from "./responses-request.ts";

const tag = "Chat";
const permission = "inference";
const one = {
  path: "/v1/responses/{response_id}",
  pathParameters: { response_id: "Identifier of the response." },
} as const;
const example = { model: "sounding-trial", input: "Say hello." };

export const createResponse = operation({
  id: "createResponse",
  method: "POST",
  path: "/v1/responses",
  tag,
  summary: "Generate a response, in OpenAI's newer API",
  description:
    "OpenAI's Responses API. If the model's engine speaks it, the request is passed through unchanged except for the model's name. For other engines the request is translated to chat completions, and what these cannot express is refused by name. Unless `store` is false, the response is kept for the project, so that `previous_response_id` can name it. With `stream`, the response is a stream of server-sent events with rising `sequence_number`; it ends with `response.completed`, `response.incomplete` or `response.failed`, or with `error`. With `background`, the response is returned at once with the status `queued`, and generated whether or not the client stays; read it with `GET /v1/responses/{response_id}`.",
  permission,
  body: ResponseRequest,
  answer: { type: "application/json", schema: ResponseObject, description: "The complete response." },
  stream: {
    type: "text/event-stream",
    schema: ResponseEvent,
    description: "The response as a stream of events, if `stream` is true.",
  },
  example,
});

export const getResponse = operation({
  ...one,
  id: "getResponse",
  method: "GET",
  tag,
  summary: "Read a stored response of the project, or follow its events",
  description:
    "A response in the background has the status `queued` or `in_progress` until it ends. If it was created with `stream`, its events can be read again while it is generated and for an hour; the stream then goes on with new events as they come.",
  permission,
  queryParameters: {
    stream: "`true`: the events of a response in the background that was created with `stream`.",
    starting_after: "With `stream`: only the events after the one with this `sequence_number`.",
  },
  answer: { type: "application/json", schema: ResponseObject, description: "The response." },
  stream: {
    type: "text/event-stream",
    schema: ResponseEvent,
    description: "Its events, if `stream` is true.",
  },
});

export const deleteResponse = operation({
  ...one,
  id: "deleteResponse",
  method: "DELETE",
  tag,
  summary: "Delete a stored response of the project",
  description:
    "A response in the background that is still generated is stopped. The vendor that generated a passed-through response may keep its own copy as long as it says.",
  permission,
  answer: { type: "application/json", schema: ResponseDeleted, description: "The response is deleted." },
});

export const listResponseItems = operation({
  ...one,
  id: "listResponseItems",
  path: `${one.path}/input_items`,
  method: "GET",
  tag,
  summary: "List what was new in the request of a stored response",
  permission,
  queryParameters: {
    order: "`desc` (the default): the newest item first; or `asc`.",
    limit: "Largest number of items, from 1 to 100 (default 20).",
    after: "Identifier of an item; the list begins after it.",
  },
  answer: { type: "application/json", schema: ResponseItems, description: "The items." },
});

export const cancelResponse = operation({
  ...one,
  id: "cancelResponse",
  path: `${one.path}/cancel`,
  method: "POST",
  tag,
  summary: "Cancel a response in the background",
  description:
    "Its status becomes `cancelled`, and its engine stops. A response that has ended is returned as it is. Where another process generates it, the cancellation takes about a second.",
  permission,
  answer: { type: "application/json", schema: ResponseObject, description: "The response." },
});

export const countResponseTokens = operation({
  id: "countResponseTokens",
  method: "POST",
  path: "/v1/responses/input_tokens",
  tag,
  summary: "Count the tokens of a request of the Responses API, where the model's engine can",
  permission,
  body: ResponsePrompt,
  answer: { type: "application/json", schema: ResponseTokenCount, description: "The number of tokens." },
  example,
});

export const compactResponse = operation({
  id: "compactResponse",
  method: "POST",
  path: "/v1/responses/compact",
  tag,
  summary: "Compact a conversation, where the model's engine can",
  permission,
  body: ResponsePrompt,
  answer: { type: "application/json", description: "The compacted conversation, as the engine gives it." },
  example,
});

/** Anthropic's Messages API as a wire of chats. https://platform.claude.com/docs/en/api/messages */
import type { MessageRequest } from "../api/messages-request.ts";
import type { WireFormat } from "../chat/wire.ts";
import type { WireEvent } from "../engines/wire.ts";
import { embeddedError } from "../engines/upstream-http/upstream-error.ts";
import { AppError } from "../errors.ts";
import { isObject, parseObject } from "../json-object.ts";
import { pricedAnswer } from "../pricing/call-costs.ts";
import { describeRequest } from "./describe-request.ts";
import { fromChunks } from "./from-chunks.ts";
import { fromCompletion } from "./from-completion.ts";
import { errorEvent } from "./message-errors.ts";
import { createReader, readAnswer } from "./read-answer.ts";
import { toChatRequest } from "./to-chat-request.ts";

export const messagesWire: WireFormat<MessageRequest> = {
  wire: "messages",
  forwardedHeaders: ["anthropic-version", "anthropic-beta"],
  toChatRequest,
  describe: describeRequest,
  fromCompletion,
  fromChunks,
  readAnswer,
  createReader,
  withModel,
  hasFinalUsage: (event) => isOfType(event, "message_delta"),
  withCost(event, cost) {
    const delta = cost === undefined ? undefined : parseObject(event.data);
    return delta === undefined ? event : { name: event.name, data: JSON.stringify(pricedAnswer(delta, cost)) };
  },
  isLast: ({ name, data }) => isOfType({ name, data }, "message_stop"),
  errorIn({ name, data }) {
    if (!isOfType({ name, data }, "error")) return undefined;
    const event = parseObject(data);
    const error = event === undefined ? undefined : embeddedError(event);
    return error ?? new AppError("upstream_failed", "The engine's stream failed, without saying why.");
  },
  errorEvent,
};

/** An upstream may leave out the names: each is the type in the event's data. */
function isOfType({ name, data }: WireEvent, type: string): boolean {
  return name === undefined ? data.includes(`"${type}"`) && parseObject(data)?.["type"] === type : name === type;
}

function withModel(event: WireEvent, modelId: string): WireEvent {
  if (!isOfType(event, "message_start")) return event;
  const start = parseObject(event.data);
  if (!isObject(start?.["message"])) return event;
  return { name: event.name, data: JSON.stringify({ ...start, message: { ...start["message"], model: modelId } }) };
}

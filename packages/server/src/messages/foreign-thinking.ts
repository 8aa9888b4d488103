/**
 * Leaves out thinking that an engine of another API signed: an upstream of Anthropic would refuse the whole request. Such
 * blocks are in conversations that began at another engine.
 */
import type { MessageRequest } from "../api/messages-request.ts";
import { isForeign } from "./kept-reasoning.ts";

/** Top-level members that change for an upstream that speaks the Messages API. */
export function withoutForeignThinking({ messages }: Pick<MessageRequest, "messages">): {
  readonly messages?: MessageRequest["messages"];
} {
  if (!messages.some(hasForeign)) return {};
  const own = messages.flatMap((message) => {
    const { content } = message;
    if (typeof content === "string" || !content.some(isForeign)) return [message];
    const kept = content.filter((block) => !isForeign(block));
    return kept.length === 0 ? [] : [{ ...message, content: kept }];
  });
  return { messages: own };
}

type Message = MessageRequest["messages"][number];

function hasForeign({ content }: Message): boolean {
  return typeof content !== "string" && content.some(isForeign);
}

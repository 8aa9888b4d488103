/**
 * Leaves out thinking that an engine of another API signed: an upstream of Anthropic would refuse the whole request. Such
 * blocks are in conversations that began at another engine.
 */
import type { MessageRequest } from "../api/messages-request.ts";
import { keptPrefix } from "../chat/kept-reasoning.ts";
import { isForeign } from "./kept-reasoning.ts";

/** Top-level members that change for an upstream that speaks the Messages API. */
export function withoutForeignThinking(
  { messages }: Pick<MessageRequest, "messages">,
  bytes: Buffer,
): { readonly messages?: MessageRequest["messages"] } {
  if (!bytes.includes(keptPrefix)) return {};
  let found = false;
  const own = messages.flatMap((message) => {
    if (typeof message.content === "string" || !message.content.some(isForeign)) return [message];
    found = true;
    const content = message.content.filter((block) => !isForeign(block));
    return content.length === 0 ? [] : [{ ...message, content }];
  });
  return found ? { messages: own } : {};
}

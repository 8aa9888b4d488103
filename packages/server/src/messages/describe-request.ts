/** Describes a request of the Messages API as a chat request. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { describeWire } from "../chat/describe-wire.ts";
import { nonEmptyText, parseObject } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { describeParameters } from "./to-chat-request.ts";
import { leaveOut } from "../chat/untranslatable.ts";

export function describeRequest(request: MessageRequest): ChatRequest {
  return describeWire(request, {
    messages: () => toChatMessages(request, leaveOut),
    parameters() {
      const { user, ...parameters } = describeParameters(request, leaveOut);
      return { ...parameters, ...callerOf(user) };
    },
  });
}

/** Claude Code's `user_id` is JSON with its device, account and session. */
function callerOf(userId: string | null | undefined): { user?: string; metadata?: { session_id: string } } {
  if (userId == null) return {};
  const parts = userId.startsWith("{") ? parseObject(userId) : undefined;
  if (parts === undefined) return { user: userId };
  const user = nonEmptyText(parts["account_uuid"]) ?? nonEmptyText(parts["device_id"]) ?? userId;
  const session = nonEmptyText(parts["session_id"]);
  return session === undefined ? { user } : { user, metadata: { session_id: session } };
}

/** What a chat request can say of a request that is passed through, for limits and telemetry. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { nonEmptyText, parseObject } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { describeParameters } from "./to-chat-request.ts";
import { leaveOut } from "../chat/untranslatable.ts";

export function describeRequest(request: MessageRequest): ChatRequest {
  let messages: ChatRequest["messages"] | undefined;
  const { user, ...parameters } = describedParameters(request);
  return {
    ...parameters,
    ...callerOf(user),
    // Only telemetry that records content reads them, and a prompt may have megabytes.
    get messages() {
      return (messages ??= describedMessages(request));
    },
  };
}

/** A request that cannot be described is refused where it is translated, and by the upstream where it is not. */
function describedMessages(request: MessageRequest): ChatRequest["messages"] {
  try {
    return toChatMessages(request, leaveOut);
  } catch {
    return [];
  }
}

function describedParameters(request: MessageRequest): Omit<ChatRequest, "messages"> {
  try {
    return describeParameters(request, leaveOut);
  } catch {
    return { model: request.model, ...(request.stream == null ? {} : { stream: request.stream }) };
  }
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

/** What a chat request can say of a request that is passed through, for limits and telemetry. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { leaveOut } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { describeParameters } from "./to-chat-request.ts";

export function describeRequest(request: ResponseRequest): ChatRequest {
  let messages: ChatRequest["messages"] | undefined;
  return {
    ...describedParameters(request),
    ...metadataOf(request),
    // Only telemetry that records content reads them, and a prompt may have megabytes.
    get messages() {
      return (messages ??= describedMessages(request));
    },
  };
}

/** Codex names its session in a member of its own. */
function metadataOf({ metadata, client_metadata: client }: ResponseRequest & { readonly client_metadata?: unknown }) {
  const session = isObject(client) ? nonEmptyText(client["session_id"]) : undefined;
  if (metadata == null && session === undefined) return {};
  return { metadata: { ...(session === undefined ? {} : { session_id: session }), ...metadata } };
}

/** A request that cannot be described is refused where it is translated, and by the upstream where it is not. */
function describedMessages(request: ResponseRequest): ChatRequest["messages"] {
  try {
    return toChatMessages(request, leaveOut);
  } catch {
    return [];
  }
}

function describedParameters(request: ResponseRequest): Omit<ChatRequest, "messages"> {
  try {
    return describeParameters(request, leaveOut);
  } catch {
    return { model: request.model, ...(request.stream == null ? {} : { stream: request.stream }) };
  }
}

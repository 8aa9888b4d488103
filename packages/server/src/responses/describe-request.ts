/** Describes a request of the Responses API as a chat request. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { describeWire } from "../chat/describe-wire.ts";
import { leaveOut } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText } from "../json-object.ts";
import { toChatMessages } from "./to-chat-messages.ts";
import { describeParameters } from "./to-chat-request.ts";

export function describeRequest(request: ResponseRequest): ChatRequest {
  return describeWire(request, {
    messages: () => toChatMessages(request, leaveOut),
    parameters: () => describeParameters(request, leaveOut),
    others: metadataOf(request),
  });
}

/** Codex names its session in a member of its own. */
function metadataOf({ metadata, client_metadata: client }: ResponseRequest & { readonly client_metadata?: unknown }) {
  const session = isObject(client) ? nonEmptyText(client["session_id"]) : undefined;
  if (metadata == null && session === undefined) return {};
  return { metadata: { ...(session === undefined ? {} : { session_id: session }), ...metadata } };
}

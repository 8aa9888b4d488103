/** What a chat request can say of a request that is passed through, for limits and telemetry. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { JsonObject } from "../json-object.ts";
import type { WireRequest } from "./wire.ts";

/** How a wire translates its requests; each may throw. */
interface Described {
  readonly parameters: () => Omit<ChatRequest, "messages">;
  readonly messages: () => ChatRequest["messages"];
  /** Members in any case. */
  readonly others?: JsonObject;
}

/** A request that cannot be described is refused where it is translated, and by the upstream where it is not. */
export function describeWire({ model, stream }: WireRequest, { parameters, messages, others }: Described): ChatRequest {
  let read: ChatRequest["messages"] | undefined;
  const described = { ...orElse(parameters, { model, ...(stream == null ? {} : { stream }) }), ...others };
  // Only telemetry that records content reads them, and a prompt may have megabytes: a copy of the request must not.
  Object.defineProperty(described, "messages", { enumerable: false, get: () => (read ??= orElse(messages, [])) });
  return described as typeof described & Pick<ChatRequest, "messages">;
}

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

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

/** Its own members are the parameters. */
class DescribedRequest {
  readonly model: string;
  readonly #translate: () => ChatRequest["messages"];
  #messages: ChatRequest["messages"] | undefined;

  constructor(parameters: Omit<ChatRequest, "messages">, translate: () => ChatRequest["messages"]) {
    this.model = parameters.model;
    Object.assign(this, parameters);
    this.#translate = translate;
  }

  /**
   * Only telemetry that records content reads them, and a prompt may have megabytes: a copy of the request lacks them. An
   * accessor of the object itself would keep the prompt after the call, since V8's hidden classes refer to it.
   */
  get messages(): ChatRequest["messages"] {
    return (this.#messages ??= orElse(this.#translate, []));
  }
}

/** A request that cannot be described is refused where it is translated, and by the upstream where it is not. */
export function describeWire({ model, stream }: WireRequest, { parameters, messages, others }: Described): ChatRequest {
  const described = { ...orElse(parameters, { model, ...(stream == null ? {} : { stream }) }), ...others };
  return new DescribedRequest(described, messages);
}

function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

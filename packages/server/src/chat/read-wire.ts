/** Builds what limits and telemetry read of answers that are passed through. */
import type {
  ChatChoice,
  ChatCompletion,
  ChatCompletionChunk,
  ChatDelta,
  ChatUsage,
  FinishReason,
} from "../api/chat-answer.ts";
import { nonEmptyText, textOf, type JsonObject } from "../json-object.ts";

interface AnswerHead {
  readonly id: string;
  readonly model: string;
  readonly service_tier?: string;
}

/** What an upstream calls its answer and its model, empty if it does not say, and how it processed the call. */
export function headOf({ id, model, service_tier: tier }: JsonObject): AnswerHead {
  return {
    id: textOf(id),
    model: textOf(model),
    ...(nonEmptyText(tier) === undefined ? {} : { service_tier: textOf(tier) }),
  };
}

interface Told {
  readonly finish_reason: FinishReason | null;
  /** Undefined if the upstream told none. */
  readonly usage?: ChatUsage | undefined;
}

export function toCompletion(
  head: AnswerHead,
  { usage, ...choice }: Told & Pick<ChatChoice, "message">,
): ChatCompletion {
  return {
    ...head,
    object: "chat.completion",
    created: 0,
    choices: [{ index: 0, ...choice }],
    ...(usage === undefined ? {} : { usage }),
  };
}

export function toChunk(
  head: AnswerHead,
  { usage, ...choice }: Told & { readonly delta: ChatDelta },
): ChatCompletionChunk {
  return {
    ...head,
    object: "chat.completion.chunk",
    created: 0,
    choices: [{ index: 0, ...choice }],
    ...(usage === undefined ? {} : { usage }),
  };
}

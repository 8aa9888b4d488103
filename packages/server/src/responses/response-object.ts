/** The response object of a translated call. */
import type { ChatUsage, FinishReason } from "../api/chat-answer.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import type { JsonObject } from "../json-object.ts";
import { toResponseUsage } from "./response-usage.ts";

export interface ResponseHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** A response that has begun: the parameters of its request, with OpenAI's defaults, and no output. */
export function beginResponse({ id, created, model }: ResponseHead, request: ResponseRequest): JsonObject {
  return {
    id,
    object: "response",
    created_at: created,
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...request.reasoning },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: request.service_tier ?? "default",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { ...request.text, format: request.text?.format ?? { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    top_logprobs: 0,
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    usage: null,
    user: request.user ?? null,
  };
}

export interface Ending {
  readonly output: readonly JsonObject[];
  readonly reason: FinishReason | null;
  /** Undefined if the engine reported none. */
  readonly usage: ChatUsage | undefined;
}

export function endResponse(begun: JsonObject, { output, reason, usage }: Ending): JsonObject {
  const why = incompleteReasons[reason ?? "stop"];
  return {
    ...begun,
    status: why === undefined ? "completed" : "incomplete",
    completed_at: why === undefined ? Math.floor(Date.now() / 1000) : null,
    incomplete_details: why === undefined ? null : { reason: why },
    output,
    usage: usage === undefined ? null : toResponseUsage(usage),
  };
}

const incompleteReasons: Readonly<Partial<Record<FinishReason, string>>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

/** The state of the items of a response that ended so. */
export function itemStatus(reason: FinishReason | null): "completed" | "incomplete" {
  return incompleteReasons[reason ?? "stop"] === undefined ? "completed" : "incomplete";
}

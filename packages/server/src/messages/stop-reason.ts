/** Why an answer ended, in both APIs. */
import type { ChatChoice, FinishReason } from "../api/chat-answer.ts";
import type { StopReason } from "../api/messages-answer.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { nonEmptyText, type JsonObject } from "../json-object.ts";

export interface Stop {
  readonly stop_reason: StopReason;
  readonly stop_sequence: string | null;
  readonly stop_details: JsonObject | null;
}

interface Ending extends Pick<ChatChoice, "finish_reason"> {
  /** What vLLM and SGLang call the stop sequence that ended the answer. */
  readonly matched_stop?: unknown;
}

/** @param refusal the model's refusal, if it refused */
export function toStop(ending: Ending, refusal: string, { stop_sequences: stops }: MessageRequest): Stop {
  const stop = (reason: StopReason): Stop => ({ stop_reason: reason, stop_sequence: null, stop_details: null });
  if (refusal !== "" || ending.finish_reason === "content_filter") {
    const details = { type: "refusal", category: null, explanation: refusal === "" ? null : refusal };
    return { ...stop("refusal"), stop_details: details };
  }
  switch (ending.finish_reason) {
    case "length":
      return stop("max_tokens");
    case "tool_calls":
    case "function_call":
      return stop("tool_use");
    case "stop":
    default: {
      const sequence = nonEmptyText(ending.matched_stop);
      if (sequence === undefined || !(stops ?? []).includes(sequence)) return stop("end_turn");
      return { ...stop("stop_sequence"), stop_sequence: sequence };
    }
  }
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
} satisfies Record<StopReason, FinishReason>;

/** Null while the answer continues. */
export function toFinishReason(stopReason: unknown): FinishReason | null {
  if (typeof stopReason !== "string") return null;
  return Object.hasOwn(finishReasons, stopReason) ? finishReasons[stopReason]! : "stop";
}

/** Sends a chat request and fills an answer with its stream, at most once per frame. */
import type { Signal } from "@preact/signals";
import { ApiError, request } from "../../../api/request.ts";
import { readEvents } from "../../../api/server-sent-events.ts";
import { createTraceParent } from "../../../api/trace-parent.ts";
import type { Answer, AnswerError, ChatBody, TokenProbability, ToolCall } from "./conversation.ts";

interface Chunk {
  readonly choices?: readonly {
    readonly index: number;
    readonly delta?: {
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      /** Some engines call it so. */
      readonly reasoning?: string | null;
      readonly refusal?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly logprobs?: { readonly content?: readonly TokenProbability[] | null } | null;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly completion_tokens_details?: { readonly reasoning_tokens?: number } | null;
  } | null;
}

export function waitingAnswer(model: string): Answer {
  return {
    model,
    state: "waiting",
    text: "",
    reasoning: "",
    refusal: "",
    toolCalls: [],
    tokens: [],
  };
}

interface AnswerRequest {
  readonly body: ChatBody;
  /** The conversation's ID, under which it is listed. */
  readonly session: string;
  readonly signal: AbortSignal;
}

/** Never rejects: what goes wrong is in the answer. */
export async function runAnswer(answer: Signal<Answer>, { body, session, signal }: AnswerRequest): Promise<void> {
  const { traceId, header } = createTraceParent();
  const start = performance.now();
  let collected: Answer = { ...answer.peek(), traceId, request: body };
  let frame = 0;
  const publish = (changes: Partial<Answer> = {}): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    collected = { ...collected, ...changes };
    answer.value = collected;
  };
  publish();
  const toolCalls: ToolCall[] = [];
  const tokens: TokenProbability[] = [];
  const apply = (chunk: Chunk): void => {
    const choice = chunk.choices?.find(({ index }) => index === 0);
    const { content, refusal, tool_calls: calls, ...delta } = choice?.delta ?? {};
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    for (const piece of calls ?? []) toolCalls[piece.index] = extendCall(toolCalls[piece.index], piece);
    tokens.push(...(choice?.logprobs?.content ?? []));
    const grows = Boolean(content) || Boolean(reasoning) || Boolean(refusal) || (calls?.length ?? 0) > 0;
    collected = {
      ...collected,
      state: "streaming",
      text: collected.text + (content ?? ""),
      reasoning: collected.reasoning + (reasoning ?? ""),
      refusal: collected.refusal + (refusal ?? ""),
      ...(grows && collected.firstTokenMs === undefined ? { firstTokenMs: performance.now() - start } : {}),
      ...(choice?.finish_reason == null ? {} : { finishReason: choice.finish_reason }),
      ...(chunk.usage == null ? {} : usageOf(chunk.usage)),
    };
    if (frame === 0)
      frame = requestAnimationFrame(() => publish({ toolCalls: toolCalls.filter(Boolean), tokens: [...tokens] }));
  };
  const settle = (changes: Partial<Answer>): void =>
    publish({
      toolCalls: toolCalls.filter(Boolean),
      tokens,
      durationMs: performance.now() - start,
      ...changes,
    });
  try {
    const headers = { traceparent: header, "x-session-id": session };
    const response = await request("v1/chat/completions", { json: body, headers, signal });
    const events = readEvents<Chunk>(response);
    for (;;) {
      const { value, done } = await events.next();
      if (done !== true) apply(value);
      else return settle({ state: value ? "done" : "incomplete" });
    }
  } catch (thrown) {
    if (signal.aborted) return settle({ state: "stopped" });
    settle({ state: collected.state === "waiting" ? "failed" : "incomplete", error: errorOf(thrown as Error) });
  }
}

function extendCall(
  call: ToolCall | undefined,
  { id = "", function: called }: { readonly id?: string; readonly function?: { name?: string; arguments?: string } },
): ToolCall {
  return {
    id: (call?.id ?? "") || id,
    name: (call?.name ?? "") + (called?.name ?? ""),
    arguments: (call?.arguments ?? "") + (called?.arguments ?? ""),
  };
}

function usageOf(usage: NonNullable<Chunk["usage"]>): Partial<Answer> {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens,
  };
}

function errorOf(error: Error): AnswerError {
  if (!(error instanceof ApiError))
    return { status: 0, message: "The connection to the server was lost before the answer was complete." };
  const { message, status, code, param, requestId, retryAfterMs } = error;
  return {
    message,
    status,
    code,
    param,
    requestId,
    retryAtMs: retryAfterMs === undefined ? undefined : Date.now() + retryAfterMs,
  };
}

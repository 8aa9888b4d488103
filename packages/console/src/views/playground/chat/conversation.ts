/** The conversation of the playground, and the messages that it gives for a model. */
import type { Signal } from "@preact/signals";

/** An image of a message, as a data URL. */
export interface AttachedImage {
  readonly name: string;
  readonly url: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

export interface TokenProbability {
  readonly token: string;
  readonly logprob: number;
  readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[];
}

export interface AnswerError {
  readonly message: string;
  readonly status: number;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly requestId?: string | undefined;
  /** When the call may be sent again. */
  readonly retryAtMs?: number | undefined;
}

export interface Answer {
  readonly model: string;
  /** `stopped`: by the user; `incomplete`: the stream ended before the answer did. */
  readonly state: "waiting" | "streaming" | "done" | "stopped" | "incomplete" | "failed";
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  readonly tokens: readonly TokenProbability[];
  readonly finishReason?: string | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly firstTokenMs?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Absent for answers of a recorded call. */
  readonly traceId?: string | undefined;
  readonly cost?: number | undefined;
  readonly error?: AnswerError | undefined;
  /** The body of the request; absent if it is not known (any longer). */
  readonly request?: ChatBody | undefined;
}

export type ChatBody = Readonly<Record<string, unknown>> & { readonly messages: readonly ChatMessage[] };

/** An answer, and the results of the tools that it calls. */
export interface Step {
  readonly id: string;
  readonly answer: Signal<Answer>;
  /** By the ID of the tool call. */
  readonly results: Readonly<Record<string, string>>;
}

/** A message of the user and what follows, for each of the one or two models. */
export interface Turn {
  readonly id: string;
  readonly text: string;
  readonly images: readonly AttachedImage[];
  readonly columns: readonly (readonly Step[])[];
}

export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ContentPart[] }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: readonly SentToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

interface SentToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The messages of the turns as the model in this column knows them. */
export function messagesOf(system: string, turns: readonly Turn[], column: number): ChatMessage[] {
  return [
    ...(system.trim() === "" ? [] : [{ role: "system" as const, content: system }]),
    ...turns.flatMap((turn) => [...userMessage(turn), ...stepsOf(turn, column).flatMap(stepMessages)]),
  ];
}

/** A model that joined later knows the answers of the first one. */
function stepsOf({ columns }: Turn, column: number): readonly Step[] {
  return columns[column] ?? columns[0] ?? [];
}

function userMessage({ text, images }: Turn): ChatMessage[] {
  if (images.length === 0) return text === "" ? [] : [{ role: "user", content: text }];
  return [
    {
      role: "user",
      content: [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...images.map(({ url }) => ({ type: "image_url" as const, image_url: { url } })),
      ],
    },
  ];
}

function stepMessages({ answer, results }: Step): ChatMessage[] {
  const { text, refusal, toolCalls } = answer.peek();
  // A model may not see calls of tools without their results.
  const calls = toolCalls.filter(({ id }) => Object.hasOwn(results, id));
  const content = text === "" ? refusal : text;
  if (content === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: content === "" ? null : content,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, arguments: text }) => ({
              id,
              type: "function" as const,
              function: { name, arguments: text },
            })),
          }),
    },
    ...calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: results[id]! })),
  ];
}

export function isRunning({ state }: Answer): boolean {
  return state === "waiting" || state === "streaming";
}

/** Whether the model waits for results of tools. */
export function missesResults({ answer, results }: Step): boolean {
  const { state, toolCalls } = answer.value;
  return state === "done" && toolCalls.some(({ id }) => !Object.hasOwn(results, id));
}

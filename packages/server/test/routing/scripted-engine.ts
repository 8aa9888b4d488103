/** An engine that is scripted call by call and records its calls. */
import type { ChatCompletion, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { TargetTimeouts } from "../../src/config/engines/upstream.ts";
import { AppError } from "../../src/errors.ts";
import type { Attempt, ChatCall, ChatModel, Engine, ModelDescription } from "../../src/engines/engine.ts";

/** The behavior of one call: returns an answer, fails, waits for the test, or runs until it is cancelled. */
export type Step =
  | { readonly kind: "answer"; readonly chunks?: readonly string[] }
  | { readonly kind: "fail"; readonly error: Error; readonly afterChunks?: readonly string[] }
  | { readonly kind: "wait"; readonly until: Promise<void> }
  | { readonly kind: "hang"; readonly afterChunks?: readonly string[] }
  | { readonly kind: "empty" };

export const answer = (...chunks: string[]): Step => ({ kind: "answer", chunks });
export const fail = (error: Error, ...afterChunks: string[]): Step => ({ kind: "fail", error, afterChunks });
export const hang = (...afterChunks: string[]): Step => ({ kind: "hang", afterChunks });

export const failed = (retryAfterMs?: number): AppError =>
  new AppError("upstream_failed", "The engine failed.", { retryAfterMs });
export const rateLimited = (retryAfterMs?: number): AppError =>
  new AppError("rate_limited", "The engine asks for a pause.", { retryAfterMs });

export class ScriptedEngine implements Engine {
  readonly name: string;
  /** Models that were called, in order. */
  readonly calls: string[] = [];
  /** Consumed one by one; when none is left, `always` applies. */
  steps: Step[] = [];
  always: Step = answer("hello");
  models: readonly string[] = [];
  listing: () => Promise<void> = async () => {};
  running = 0;
  cancelled = 0;
  closed = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Time limits that a target had for a model. */
  readonly timeouts = new Map<string, TargetTimeouts | undefined>();

  /** Models that the engine is known not to have. */
  absent: readonly string[] = [];

  chat(model: string, timeouts?: TargetTimeouts): ChatModel {
    if (this.absent.includes(model)) throw new AppError("model_not_found", `${this.name} has secret models only.`);
    this.timeouts.set(model, timeouts);
    return {
      complete: (call) => this.#complete(model, call),
      stream: (call) => this.#stream(model, call),
    };
  }

  async listModels(): Promise<readonly ModelDescription[]> {
    await this.listing();
    return this.models.map((id) => ({ id, created: 1_700_000_000, ownedBy: this.name }));
  }

  async close(): Promise<void> {
    if (this.running > 0) throw new Error(`${this.name} was closed under ${this.running} running calls`);
    this.closed = true;
  }

  async #complete(model: string, call: ChatCall): Promise<ChatCompletion> {
    const texts: string[] = [];
    for await (const chunk of this.#stream(model, call)) texts.push(chunk.choices[0]?.delta.content ?? "");
    const message = { role: "assistant" as const, content: texts.join("") };
    const choices = [{ index: 0, message, finish_reason: "stop" as const }];
    return { id: "scripted", created: 1, model, object: "chat.completion", choices };
  }

  async *#stream(model: string, call: ChatCall): AsyncGenerator<ChatCompletionChunk, void> {
    if (this.closed) throw new Error(`${this.name} was called after it was closed`);
    this.calls.push(model);
    const step = this.steps.shift() ?? this.always;
    this.running++;
    let whole = false;
    try {
      if (step.kind === "wait") await Promise.race([step.until, aborted(call.signal)]);
      if (step.kind === "answer") for (const text of step.chunks ?? ["hello"]) yield chunkOf(model, text);
      if (step.kind === "wait") yield chunkOf(model, "hello");
      if (step.kind === "fail" || step.kind === "hang") {
        for (const text of step.afterChunks ?? []) yield chunkOf(model, text);
      }
      whole = true;
      if (step.kind === "fail") throw step.error;
      whole = false;
      if (step.kind === "hang") await aborted(call.signal);
      whole = true;
    } finally {
      this.running--;
      if (!whole) this.cancelled++;
    }
  }
}

/** Rejects when the signal aborts; leaves no listener on one that never does. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const cancel = (): void => reject(new AppError("client_closed", "The call was cancelled."));
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  });
}

function chunkOf(model: string, text: string): ChatCompletionChunk {
  const choices = [{ index: 0, delta: { content: text }, finish_reason: null }];
  return { id: "scripted", created: 1, model, object: "chat.completion.chunk", choices };
}

/** A call as the chat operation makes it, with the reported attempts. */
export function chatCall(signal: AbortSignal = new AbortController().signal): ChatCall & { attempts: Attempt[] } {
  const request = { model: "any", messages: [{ role: "user" as const, content: "Hi" }] };
  const attempts: Attempt[] = [];
  return {
    request,
    bytes: Buffer.from(JSON.stringify(request)),
    changes: {},
    signal,
    attempts,
    onAttempt: (attempt) => attempts.push(attempt),
  };
}

/** A real llama.cpp engine with the trial model, for the tests in this folder. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatRequest } from "../../src/api/chat-request.ts";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { LlamaCppModelSettings } from "../../src/config/engines/llama-cpp.ts";
import { silentLogger } from "../../src/logger.ts";
import { createLlamaCppEngine } from "../../src/engines/llama-cpp/engine.ts";
import { ensureTrialModel } from "../../src/engines/llama-cpp/trial/trial-model.ts";
import type { TrialVariant } from "../../src/engines/llama-cpp/trial/transition-table.ts";
import type { ChatCall, Engine } from "../../src/engines/engine.ts";

export interface TrialEngine {
  readonly engine: Engine;
  complete(request?: Partial<ChatRequest>, signal?: AbortSignal): Promise<ChatCompletion>;
  stream(request?: Partial<ChatRequest>, signal?: AbortSignal): AsyncIterable<ChatCompletionChunk>;
  /** A call of the organization with this ID. */
  completeFor(organization: string, request?: Partial<ChatRequest>): Promise<ChatCompletion>;
  close(): Promise<void>;
}

export function callOf(request: Partial<ChatRequest>, signal: AbortSignal = new AbortController().signal): ChatCall {
  const whole = { model: "trial", messages: [{ role: "user" as const, content: "Who are you?" }], ...request };
  return { request: whole, bytes: Buffer.from(JSON.stringify(whole)), changes: {}, signal };
}

/** Starts an engine whose one model is a variant of the trial model, on one thread. */
export async function startTrialEngine(
  variant: TrialVariant = "default",
  settings: Partial<LlamaCppModelSettings> = {},
): Promise<TrialEngine> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-llama-"));
  const file = await ensureTrialModel(join(directory, "models"), variant);
  const model = { file, gpu: false, threads: 1, context_size: 2048, ...settings } as const;
  const engine = await createLlamaCppEngine(
    "local",
    { type: "llama_cpp", models: { trial: model } },
    { logger: silentLogger, dataDirectory: directory },
  );
  const chat = engine.chat!("trial")!;
  return {
    engine,
    complete: (request = {}, signal) => chat.complete(callOf(request, signal)),
    completeFor: (fairnessKey, request = {}) => chat.complete({ ...callOf(request), fairnessKey }),
    stream: (request = {}, signal) => chat.stream(callOf(request, signal)),
    async close() {
      await engine.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** The text of the first choice. */
export function contentOf(completion: ChatCompletion): string {
  return completion.choices[0]?.message.content ?? "";
}

/** Continues raw prompts by an OpenAI-compatible API. https://platform.openai.com/docs/api-reference/completions */
import { AppError } from "../../errors.ts";
import { isObject, parseObject, type JsonObject } from "../../json-object.ts";
import type { TextCompletionModel } from "../text-completion.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";
import { createWireModel, type WireModelOptions } from "../upstream-http/wire-model.ts";
import type { WireCall, WireEvent } from "../wire.ts";

interface OpenAiTextModelOptions extends WireModelOptions {
  /** Whether to request usage in streams; some engines reject the parameter. */
  readonly asksUsage: boolean;
}

export function createOpenAiTextModel({ asksUsage, ...options }: OpenAiTextModelOptions): TextCompletionModel {
  const wire = createWireModel(options);
  return {
    complete: (call) => wire.complete(call),
    stream: (call) => readChunks(wire.stream(asksUsage ? askingUsage(call) : call, isDone)),
  };
}

function askingUsage(call: WireCall): WireCall {
  const { stream_options: given } = call.request;
  const options = { ...(isObject(given) ? given : {}), include_usage: true };
  return { ...call, changes: { ...call.changes, stream_options: options } };
}

function isDone({ data }: WireEvent): boolean {
  return data.trim() === "[DONE]";
}

/** @throws AppError upstream_failed for a stream that is cut off, malformed or tells a failure */
async function* readChunks(events: AsyncIterable<WireEvent>): AsyncGenerator<JsonObject, void, undefined> {
  let isFinished = false;
  for await (const event of events) {
    if (isDone(event)) return;
    const chunk = parseObject(event.data);
    if (chunk === undefined)
      throw new AppError("upstream_failed", "The engine's stream has an event that is not JSON.");
    const error = embeddedError(chunk);
    if (error !== undefined) throw error;
    const { choices } = chunk;
    isFinished ||=
      Array.isArray(choices) && choices.some((choice) => isObject(choice) && choice["finish_reason"] != null);
    yield chunk;
  }
  // Some engines leave out the last line.
  if (!isFinished) {
    throw new AppError("upstream_failed", "The engine ended its stream before the answer was complete.");
  }
}

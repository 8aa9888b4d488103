/** Builds chat completions and their chunks from a generation's events. */
import { randomUUID } from "node:crypto";
import type {
  ChatChoice,
  ChatCompletion,
  ChatCompletionChunk,
  ChatDelta,
  ChatUsage,
  FinishReason,
} from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import type { Generation, GenerationEvent, PromptLogprobs, TokenLogprob } from "./protocol.ts";

interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function createAnswerHead(model: string, prefix = "chatcmpl-"): AnswerHead {
  return { id: `${prefix}${randomUUID().replaceAll("-", "")}`, created: Math.floor(Date.now() / 1000), model };
}

/** Counts tokens over all choices. */
class UsageCount {
  private promptTokens = 0;
  private completionTokens = 0;
  private cachedTokens = 0;

  add(event: GenerationEvent): void {
    if (event.kind === "started") this.promptTokens = event.promptTokens;
    if (event.kind !== "finished") return;
    this.completionTokens += event.completionTokens;
    if (event.choice === 0) this.cachedTokens = event.cachedTokens;
  }

  get usage(): ChatUsage {
    return {
      prompt_tokens: this.promptTokens,
      completion_tokens: this.completionTokens,
      total_tokens: this.promptTokens + this.completionTokens,
      prompt_tokens_details: { cached_tokens: this.cachedTokens },
    };
  }
}

interface ChoiceDelta {
  readonly delta: ChatDelta;
  readonly logprobs?: TokenLogprob[] | undefined;
  readonly finishReason?: FinishReason;
}

function deltaOf(event: Exclude<GenerationEvent, { kind: "started" }>): ChoiceDelta {
  if (event.kind === "text") return { delta: { content: event.text }, logprobs: event.logprobs };
  if (event.kind === "finished") return { delta: {}, finishReason: event.reason };
  if (event.kind === "arguments") {
    return { delta: { tool_calls: [{ index: event.index, function: { arguments: event.text } }] } };
  }
  const { index, id, name } = event;
  return { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] } };
}

/** The chunks of a streamed answer; usage comes in a last one without choices. */
export async function* toChunks(
  events: AsyncIterable<GenerationEvent>,
  head: AnswerHead,
  generation: Generation,
): AsyncGenerator<ChatCompletionChunk> {
  const usage = new UsageCount();
  const chunk = (choices: ChatCompletionChunk["choices"]): ChatCompletionChunk => ({
    ...head,
    object: "chat.completion.chunk",
    choices,
  });
  for await (const event of events) {
    usage.add(event);
    if (event.kind === "started") {
      for (let index = 0; index < generation.choices; index++) {
        yield chunk([{ index, delta: { role: "assistant", content: "" }, logprobs: null, finish_reason: null }]);
      }
      continue;
    }
    const { delta, logprobs, finishReason = null } = deltaOf(event);
    yield chunk([
      {
        index: event.choice,
        delta,
        logprobs: logprobs === undefined ? null : { content: logprobs },
        finish_reason: finishReason,
      },
    ]);
  }
  yield { ...chunk([]), usage: usage.usage };
}

/** One choice while it is put together. */
class CollectedChoice {
  private text = "";
  private readonly calls: { id: string; name: string; arguments: string }[] = [];
  private readonly logprobs: TokenLogprob[] = [];
  private finishReason: FinishReason | null = null;

  add(event: Exclude<GenerationEvent, { kind: "started" }>): void {
    if (event.kind === "text") {
      this.text += event.text;
      this.logprobs.push(...(event.logprobs ?? []));
    } else if (event.kind === "tool_call") this.calls.push({ id: event.id, name: event.name, arguments: "" });
    else if (event.kind === "arguments") this.calls[event.index]!.arguments += event.text;
    else this.finishReason = event.reason;
  }

  toChoice(index: number, withLogprobs: boolean): ChatChoice {
    const calls = this.calls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: text },
    }));
    return {
      index,
      message: {
        role: "assistant",
        content: this.text === "" && calls.length > 0 ? null : this.text,
        refusal: null,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      logprobs: withLogprobs ? { content: this.logprobs } : null,
      finish_reason: this.finishReason,
    };
  }
}

/** The complete answer. */
export async function toCompletion(
  events: AsyncIterable<GenerationEvent>,
  head: AnswerHead,
  generation: Generation,
): Promise<ChatCompletion> {
  const usage = new UsageCount();
  const choices = Array.from({ length: generation.choices }, () => new CollectedChoice());
  let promptLogprobs: PromptLogprobs | undefined;
  for await (const event of events) {
    usage.add(event);
    if (event.kind === "started") promptLogprobs = event.promptLogprobs;
    else {
      const choice = choices[event.choice];
      if (choice === undefined)
        throw new AppError("upstream_failed", "The model's process sent a choice that was not requested.");
      choice.add(event);
    }
  }
  return {
    ...head,
    object: "chat.completion",
    choices: choices.map((choice, index) => choice.toChoice(index, generation.logprobs)),
    usage: usage.usage,
    ...(promptLogprobs === undefined ? {} : { prompt_logprobs: promptLogprobs }),
  };
}

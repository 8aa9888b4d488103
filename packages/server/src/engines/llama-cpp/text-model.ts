/** Continues a raw prompt with a local model: without its chat template, control tokens in the prompt included. */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { CompletionRequest } from "../../api/completions.ts";
import { AppError } from "../../errors.ts";
import { toTextChunk, toTextCompletion, type TextCompletionModel } from "../text-completion.ts";
import type { WireCall } from "../wire.ts";
import { createAnswerHead, toChunks, toCompletion } from "./chat-answer.ts";
import { requireBounded } from "./generation-limits.ts";
import { toGeneration } from "./generation-request.ts";
import type { Generation } from "./protocol.ts";
import type { SupervisedModel } from "./supervised-model.ts";

/** OpenAI's default. */
const defaultTokens = 16;

/** @param contextSize most tokens that a call may have */
export function createTextModel(name: string, model: SupervisedModel, contextSize: number): TextCompletionModel {
  const generationOf = ({ request, fairnessKey = "" }: WireCall): Generation => {
    // The operation's schema was checked.
    const { prompt, ...sampling } = toSampling(request as CompletionRequest);
    requireBounded(sampling, contextSize);
    return { ...toGeneration(sampling, fairnessKey), rawPrompt: prompt };
  };
  const head = () => createAnswerHead(name, "cmpl-");
  return {
    async complete(call) {
      const generation = generationOf(call);
      return toTextCompletion(await toCompletion(model.generate(generation, call.signal), head(), generation));
    },
    async *stream(call) {
      const generation = generationOf(call);
      const chunks = toChunks(model.generate(generation, call.signal), head(), generation);
      for await (const chunk of chunks) yield toTextChunk(chunk);
    },
  };
}

/** @throws AppError unsupported_parameter, invalid_request */
function toSampling(request: CompletionRequest): ChatRequest & { readonly prompt: string } {
  const { prompt, suffix, echo, best_of: bestOf, logprobs, max_tokens: maxTokens, ...others } = request;
  const [text] = Array.isArray(prompt) && prompt.length === 1 ? prompt : [prompt];
  if (typeof text !== "string") refuse("prompt", "the model continues one text, not several or tokens");
  if (text === "") throw new AppError("invalid_request", "prompt is empty; it must be a text.", { param: "prompt" });
  if (suffix != null && suffix !== "") refuse("suffix", "the model cannot insert text");
  if (echo === true) refuse("echo", "the model returns only what it generates");
  if (bestOf != null && bestOf !== (others.n ?? 1)) refuse("best_of", "all completions are returned; use n");
  if (logprobs != null) refuse("logprobs", "use POST /v1/chat/completions");
  if (maxTokens === 0) {
    throw new AppError("invalid_request", "max_tokens is 0; the model generates at least one token.", {
      param: "max_tokens",
    });
  }
  return { ...others, prompt: text, messages: [], max_tokens: maxTokens ?? defaultTokens };
}

function refuse(param: string, reason: string): never {
  throw new AppError("unsupported_parameter", `${param} is not supported by this model: ${reason}.`, { param });
}

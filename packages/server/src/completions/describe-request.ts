/** A raw prompt as a chat request, for limits, guardrails and telemetry: each text is a message of the user. */
import type { ChatRequest } from "../api/chat-request.ts";
import type { CompletionRequest } from "../api/completions.ts";
import { listTexts } from "../api/texts-or-tokens.ts";
import { AppError } from "../errors.ts";

/** How many choices the answer has. */
export function choiceCount(request: CompletionRequest): number {
  return listTexts(request.prompt).length * (request.n ?? 1);
}

export function describeCompletion(request: CompletionRequest): ChatRequest {
  // All that are generated count, not only those that are returned.
  const generated = Math.max(request.n ?? 1, request.best_of ?? 1) * listTexts(request.prompt).length;
  return {
    ...sharedMembers(request),
    ...(generated === 1 ? {} : { n: generated }),
    // Output guardrails refuse it.
    ...(request.logprobs == null ? {} : { logprobs: true }),
    messages: textsOf(request).map((content) => ({ role: "user", content })),
  };
}

/** Members that chat requests do not have, or with another meaning. */
const own = new Set(["best_of", "echo", "logprobs", "n", "prompt", "suffix"]);

function sharedMembers(request: CompletionRequest): Omit<ChatRequest, "messages"> {
  const members = Object.entries(request).filter(([name, value]) => !own.has(name) && value !== null);
  return { ...Object.fromEntries(members), model: request.model };
}

/** @throws AppError unsupported_parameter for what guardrails cannot check */
export function requireTexts(request: CompletionRequest): void {
  if (listTexts(request.prompt).every((prompt) => typeof prompt === "string")) return;
  const reason = "prompt has tokens, which guardrails cannot check; send text";
  throw new AppError("unsupported_parameter", `${reason}.`, { param: "prompt" });
}

/** The members that guardrails changed. */
export function withCheckedTexts(request: CompletionRequest, checked: ChatRequest): Readonly<Record<string, unknown>> {
  const texts = checked.messages.map(({ content }) => content);
  const hasSuffix = request.suffix != null;
  const prompts = hasSuffix ? texts.slice(0, -1) : texts;
  return {
    prompt: typeof request.prompt === "string" ? prompts[0] : prompts,
    ...(hasSuffix ? { suffix: texts.at(-1) } : {}),
  };
}

function textsOf(request: CompletionRequest): string[] {
  const prompts = listTexts(request.prompt).filter((prompt) => typeof prompt === "string");
  return request.suffix == null ? prompts : [...prompts, request.suffix];
}

/**
 * Normalizes what completions and chunks have in common. Rules: the OpenAI API reference
 * (https://platform.openai.com/docs/api-reference/chat/object), and what clients were seen to reject.
 */
import { randomUUID } from "node:crypto";
import { finishReasons, type FinishReason } from "../../api/chat-answer.ts";
import { AppError } from "../../errors.ts";
import { maxChoices } from "./response-limits.ts";
import { invalidResponse, tooManyInResponse } from "../upstream-http/invalid-response.ts";
import { isObject, nonEmptyText, wholeNumber, type JsonObject } from "../../json-object.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";

const known: ReadonlySet<string> = new Set(finishReasons);
const lengthReasons = new Set(["max_tokens", "model_length", "max_length", "token_limit", "max_output_tokens"]);
const toolReasons = new Set(["tool_use", "tool_call", "tool"]);
const filterReasons = new Set(["safety", "content_filtered", "recitation", "refusal", "blocklist", "spii"]);
/** The engine aborted: no client may mistake this for a complete answer. */
const brokenReasons = new Set(["error", "abort", "aborted", "cancelled", "canceled", "interrupted"]);
const serviceTiers = new Set<unknown>([null, "auto", "default", "flex", "scale", "priority"]);

/**
 * OpenAI's finish reason for the engine's; null while the choice continues.
 * @throws AppError upstream_failed if the reason means that the engine aborted
 */
export function finishReasonOf(value: unknown): FinishReason | null {
  if (value == null || value === "") return null;
  if (typeof value !== "string") return "stop";
  if (known.has(value)) return value as FinishReason;
  const word = value.toLowerCase();
  if (known.has(word)) return word as FinishReason;
  if (brokenReasons.has(word)) throw new AppError("upstream_failed", "The engine aborted its response.");
  if (lengthReasons.has(word)) return "length";
  if (toolReasons.has(word)) return "tool_calls";
  return filterReasons.has(word) ? "content_filter" : "stop";
}

/** Deletes a member `error` that contains none. @throws AppError the error in the object */
export function throwEmbeddedError(object: JsonObject): void {
  if (!("error" in object) && object["object"] !== "error") return;
  const error = embeddedError(object);
  if (error !== undefined) throw error;
  delete object["error"];
}

/** Members of answer and chunk that strict clients reject unless they are as OpenAI has them. */
export function normalizeHead(head: JsonObject): void {
  const fingerprint = head["system_fingerprint"];
  if (fingerprint != null && typeof fingerprint !== "string") delete head["system_fingerprint"];
  const tier = head["service_tier"];
  if (tier !== undefined && !serviceTiers.has(tier)) delete head["service_tier"];
}

/** The choice's number. Lists are kept by it, so it must be small. */
export function choiceIndex(choice: JsonObject, position: number): number {
  const index = wholeNumber(choice["index"]) ?? position;
  if (index >= maxChoices) throw tooManyInResponse("choices", maxChoices);
  return index;
}

/** Members of a choice, batch or streamed. */
export function normalizeChoice(choice: JsonObject): void {
  if ("error" in choice) throwEmbeddedError(choice);
  const stopReason = choice["stop_reason"];
  if (stopReason != null && !Number.isInteger(stopReason)) {
    // vLLM puts the matched stop string or token here; clients know only the token. SGLang has a member of its own.
    if (typeof stopReason === "string") choice["matched_stop"] ??= stopReason;
    choice["stop_reason"] = null;
  }
  const logprobs = choice["logprobs"];
  if (logprobs != null && !normalizeLogprobs(logprobs)) choice["logprobs"] = null;
}

/** @returns false if these are not log probabilities */
function normalizeLogprobs(logprobs: unknown): boolean {
  if (!isObject(logprobs)) return false;
  const { content } = logprobs;
  if (content == null) return true;
  return (
    Array.isArray(content) && content.every((token: unknown) => normalizeToken(token) && normalizeAlternatives(token))
  );
}

function normalizeToken(token: unknown): token is JsonObject {
  if (!isObject(token) || typeof token["token"] !== "string" || typeof token["logprob"] !== "number") return false;
  const { bytes } = token;
  if (!Array.isArray(bytes) || !bytes.every(isByte)) token["bytes"] = null;
  return true;
}

function normalizeAlternatives(token: JsonObject): boolean {
  const alternatives = token["top_logprobs"];
  if (Array.isArray(alternatives)) return alternatives.every(normalizeToken);
  token["top_logprobs"] = [];
  return true;
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;
}

/** The text, also of a list of parts. Null if there is none. */
export function textOf(content: unknown, where: string): string | null {
  if (typeof content === "string") return content;
  if (content == null) return null;
  if (!Array.isArray(content)) throw invalidResponse(`${where} is neither text nor null`);
  return content
    .map((part: unknown) =>
      typeof part === "string" ? part : isObject(part) ? (nonEmptyText(part["text"]) ?? "") : "",
    )
    .join("");
}

/** Arguments as JSON text, also where an engine sends the object itself. */
export function argumentsOf(value: unknown): string {
  if (typeof value === "string") return value;
  return value == null ? "" : JSON.stringify(value);
}

/** The usage of an answer or a chunk in OpenAI's shape; deleted if there is none. Groq has it in a member of its own. */
export function takeUsage(answer: JsonObject): JsonObject | undefined {
  const ofGroq = isObject(answer["x_groq"]) ? answer["x_groq"]["usage"] : undefined;
  const usage = usageOf(answer["usage"] ?? ofGroq);
  if (usage !== undefined) answer["usage"] = usage;
  else if (answer["usage"] != null) delete answer["usage"];
  return usage;
}

/** Token counts with all three totals as integers; undefined if the engine sent none. */
function usageOf(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  // Some engines have the names of Responses and of Messages.
  const prompt = wholeNumber(value["prompt_tokens"] ?? value["input_tokens"]);
  const completion = wholeNumber(value["completion_tokens"] ?? value["output_tokens"]);
  const total = wholeNumber(value["total_tokens"]);
  if (prompt === undefined && completion === undefined && total === undefined) return undefined;
  value["prompt_tokens_details"] ??= value["input_tokens_details"];
  value["completion_tokens_details"] ??= value["output_tokens_details"];
  normalizeDetails(value, "prompt_tokens_details", "cached_tokens");
  normalizeDetails(value, "completion_tokens_details", "reasoning_tokens");
  addCachedTokens(value);
  const found = addResearchTokens(value);
  if (found > 0 && prompt !== undefined && completion !== undefined) {
    value["prompt_tokens"] = prompt;
    value["completion_tokens"] = completion + found;
    value["total_tokens"] = prompt + completion + found;
    return value;
  }
  const completionTokens =
    completion === undefined
      ? prompt === undefined
        ? 0
        : Math.max(0, (total ?? 0) - prompt)
      : completion + excludedReasoning(value, { prompt, completion, total });
  const promptTokens = prompt ?? Math.max(0, (total ?? 0) - completionTokens);
  value["prompt_tokens"] = promptTokens;
  value["completion_tokens"] = completionTokens;
  value["total_tokens"] = total ?? promptTokens + completionTokens;
  return value;
}

/** Names under which DeepSeek, Moonshot and Mistral have cached tokens, which are part of the prompt. */
const cachedNames = ["prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens"] as const;

function addCachedTokens(usage: JsonObject): void {
  const details = usage["prompt_tokens_details"] ?? {};
  if (!isObject(details) || details["cached_tokens"] !== undefined) return;
  const cached = cachedNames.map((name) => wholeNumber(usage[name])).find((count) => count !== undefined);
  if (cached !== undefined) usage["prompt_tokens_details"] = { ...details, cached_tokens: cached };
}

/**
 * Perplexity counts reasoning, and pages that it has read, apart from the completion.
 * https://docs.perplexity.ai/getting-started/models/models/sonar-deep-research
 * @returns tokens that are not part of the completion
 */
function addResearchTokens(usage: JsonObject): number {
  const citations = wholeNumber(usage["citation_tokens"]);
  const details = usage["completion_tokens_details"] ?? {};
  if (citations === undefined || !isObject(details) || details["citation_tokens"] !== undefined) return 0;
  const reasoning = wholeNumber(usage["reasoning_tokens"]) ?? 0;
  usage["completion_tokens_details"] = { ...details, reasoning_tokens: reasoning, citation_tokens: citations };
  return reasoning + citations;
}

/** xAI, and Google's OpenAI-compatible API, count reasoning in the total but not in the completion. */
function excludedReasoning(
  { completion_tokens_details: details }: JsonObject,
  { completion, prompt, total }: { prompt: number | undefined; completion: number; total: number | undefined },
): number {
  if (prompt === undefined || total === undefined || total <= prompt + completion) return 0;
  const reasoning = isObject(details) ? (wholeNumber(details["reasoning_tokens"]) ?? 0) : 0;
  const missing = total - prompt - completion;
  return reasoning === missing ? missing : 0;
}

function normalizeDetails(usage: JsonObject, name: string, count: string): void {
  const details = usage[name];
  if (details === null) return;
  if (!isObject(details)) delete usage[name];
  else if (count in details && wholeNumber(details[count]) !== details[count]) delete details[count];
}

export function newCompletionId(): string {
  return `chatcmpl-${randomUUID().replaceAll("-", "")}`;
}

export function newToolCallId(): string {
  return `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
}

export function unixSeconds(value: unknown): number {
  return wholeNumber(value) || Math.floor(Date.now() / 1_000);
}

/**
 * Finds out, before any call, which parameters of a request the adapter would drop. That depends on the model, and the
 * adapters report it only as warnings at the start of a stream. So a request is prepared once with a transport that returns
 * an empty stream, and what the warnings name is refused.
 * docs/adr/0009-upstreams-and-wires.md
 */
import { hash } from "node:crypto";
import type { SharedV4Warning } from "@ai-sdk/provider";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { AppError } from "../../errors.ts";
import { toCallOptions } from "./call-options.ts";
import { unsupported } from "./parameter-support.ts";
import type { JsonObject } from "../../json-object.ts";
import type { ProviderFactory, Vendor } from "./vendor.ts";

/** OpenAI's parameter for each feature in the adapter's warnings. */
const parameterOfFeature: Readonly<Record<string, string>> = {
  frequencyPenalty: "frequency_penalty",
  maxOutputTokens: "max_completion_tokens",
  presencePenalty: "presence_penalty",
  reasoning: "reasoning_effort",
  responseFormat: "response_format",
  seed: "seed",
  serviceTier: "service_tier",
  stopSequences: "stop",
  temperature: "temperature",
  toolChoice: "tool_choice",
  topK: "top_k",
  topP: "top_p",
};

type Unsupported = Extract<SharedV4Warning, { type: "unsupported" }>;

function toParameter({ feature, details }: Unsupported, request: ChatRequest): string {
  if (feature === "strict") {
    const index = (request.tools ?? []).findIndex((tool) => details?.includes(`'${tool.function.name}'`));
    return `tools[${Math.max(0, index)}].function.strict`;
  }
  if (feature === "maxOutputTokens" && typeof request.max_completion_tokens !== "number") return "max_tokens";
  if (feature.includes("thinking") || feature.includes("effort")) return "reasoning_effort";
  return parameterOfFeature[feature] ?? feature;
}

function toRefusal(warnings: readonly SharedV4Warning[], request: ChatRequest, vendor: Vendor): AppError | undefined {
  for (const warning of warnings) {
    if (warning.type !== "unsupported") continue;
    const reason = warning.details ?? "the model does not support it.";
    return unsupported(vendor.label, toParameter(warning, request), reason);
  }
  return undefined;
}

/** The request without its text and its caller, which do not depend on the model. */
function toPreflightRequest(request: ChatRequest): ChatRequest {
  const { user: _, seed, ...rest } = request;
  const anonymous = { ...rest, metadata: null, safety_identifier: null, prompt_cache_key: null, stream: null, n: null };
  return {
    ...anonymous,
    messages: [{ role: "user", content: "." }],
    ...(typeof seed === "number" ? { seed: 0 } : {}),
  };
}

async function prepare(request: ChatRequest, model: string, { vendor, loadFactory }: PreflightParts) {
  const create = await loadFactory();
  let body: JsonObject = {};
  const answerNothing = (_input: unknown, init?: RequestInit): Promise<Response> => {
    body = JSON.parse(init?.body as string) as JsonObject;
    return Promise.resolve(new Response("", { headers: { "content-type": "text/event-stream" } }));
  };
  const { stream } = await create(answerNothing).languageModel(model).doStream(toCallOptions(request, vendor));
  const reader = stream.getReader();
  try {
    const { value: first } = await reader.read();
    return { body, warnings: first?.type === "stream-start" ? first.warnings : [] };
  } finally {
    await reader.cancel();
  }
}

interface PreflightParts {
  readonly vendor: Vendor;
  loadFactory(): Promise<ProviderFactory>;
}

/** How many different sets of parameters are remembered. */
const capacity = 1_000;

/** Creates the function that throws `unsupported_parameter` for what the adapter would drop; it caches results. */
export function createPreflight(parts: PreflightParts): (request: ChatRequest, model: string) => Promise<void> {
  const verdicts = new Map<string, AppError | undefined>();

  async function judge(preflightRequest: ChatRequest, model: string): Promise<AppError | undefined> {
    const { body, warnings } = await prepare(preflightRequest, model, parts);
    return (
      toRefusal(warnings, preflightRequest, parts.vendor) ?? parts.vendor.refuseBody?.(body, preflightRequest, model)
    );
  }

  return async (request, model) => {
    const preflightRequest = toPreflightRequest(request);
    const key = hash("sha256", JSON.stringify([model, preflightRequest]), "base64");
    if (!verdicts.has(key)) {
      const verdict = await judge(preflightRequest, model);
      const oldest = verdicts.size >= capacity ? verdicts.keys().next().value : undefined;
      if (oldest !== undefined) verdicts.delete(oldest);
      verdicts.set(key, verdict);
    }
    const verdict = verdicts.get(key);
    if (verdict !== undefined) throw verdict;
  };
}

/**
 * Lists the attributes of spans that Sounding understands, with their current and older names: OpenTelemetry's GenAI conventions
 * (https://github.com/open-telemetry/semantic-conventions-genai), their predecessors (`gen_ai.system`, `llm.…`),
 * OpenInference (https://github.com/Arize-ai/openinference), Traceloop and the AI SDK (`ai.…`).
 */

/** A name that an attribute can have. With `values`, other values do not count, and these are replaced as given. */
export interface AttributeSource {
  readonly name: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** The names of each attribute, best first; the first is the current one. */
export type KnownAttributes = Readonly<Record<string, readonly [string, ...(string | AttributeSource)[]]>>;

const openInferenceKinds = {
  LLM: "chat",
  EMBEDDING: "embeddings",
  AGENT: "invoke_agent",
  TOOL: "execute_tool",
  RETRIEVER: "retrieval",
  GUARDRAIL: "apply_guardrail",
};
const traceloopKinds = { workflow: "invoke_workflow", agent: "invoke_agent", tool: "execute_tool" };
const traceloopRequests = { chat: "chat", completion: "text_completion", embedding: "embeddings" };
const aiSdkOperations = {
  "ai.generateText.doGenerate": "chat",
  "ai.streamText.doStream": "chat",
  "ai.generateObject.doGenerate": "chat",
  "ai.streamObject.doStream": "chat",
  "ai.embed.doEmbed": "embeddings",
  "ai.embedMany.doEmbed": "embeddings",
  "ai.toolCall": "execute_tool",
};

/** By the columns of `spans`; `response_id` is stored as a hash. */
export const spanAttributes = {
  operation: [
    "gen_ai.operation.name",
    { name: "llm.request.type", values: traceloopRequests },
    { name: "openinference.span.kind", values: openInferenceKinds },
    { name: "traceloop.span.kind", values: traceloopKinds },
    { name: "ai.operationId", values: aiSdkOperations },
  ],
  provider: ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"],
  request_model: ["gen_ai.request.model", "llm.request.model", "llm.model_name", "embedding.model_name", "ai.model.id"],
  response_model: ["gen_ai.response.model", "llm.response.model", "ai.response.model"],
  agent_name: ["gen_ai.agent.name", "agent.name", "agent_name", "traceloop.association.properties.lc_agent_name"],
  agent_class: ["gen_ai.agent.class", "agent.class", "agent_class", "airefinery.agent.class"],
  session_id: [
    "gen_ai.conversation.id",
    "session.id",
    "session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "ai.telemetry.metadata.sessionId",
    "ai.settings.context.sessionId",
  ],
  input_tokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
  ],
  output_tokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
  ],
  // Part of the input tokens.
  cache_read_tokens: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
    "ai.usage.cachedInputTokens",
    "ai.usage.inputTokenDetails.cacheReadTokens",
  ],
  cache_write_tokens: [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
  ],
  cost: ["gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total", "llm.usage.total_cost", "operation.cost"],
  error_type: ["error.type"],
  tool_name: ["gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name"],
  response_id: ["gen_ai.response.id", "ai.response.id"],
} as const satisfies KnownAttributes;

/** Attributes from which `telemetry/otlp/span-meaning.ts` derives what the ones above do not say. */
const spanHints = {
  openinference_kind: ["openinference.span.kind"],
  traceloop_kind: ["traceloop.span.kind"],
  traceloop_entity: ["traceloop.entity.name"],
  input: ["input.value"],
  output: ["output.value"],
  metadata: ["metadata"],
  invocation_parameters: ["llm.invocation_parameters", "embedding.invocation_parameters"],
  http_method: ["http.request.method", "http.method"],
} as const satisfies KnownAttributes;

export const recognizedAttributes = { ...spanAttributes, ...spanHints } as const satisfies KnownAttributes;

/** The position of each attribute, with which it is looked up in a record. */
export function positionsOf<Known extends KnownAttributes>(known: Known): Readonly<Record<keyof Known, number>> {
  return Object.fromEntries(Object.keys(known).map((key, position) => [key, position])) as Record<keyof Known, number>;
}

export const spanAttributePositions = positionsOf(recognizedAttributes);

/** By position: the attribute's current name. */
export const spanAttributeNames: readonly string[] = Object.values(recognizedAttributes).map(([name]) => name);

/** Which attributes and events of telemetry hold recorded content: what `content_read` shows, and what is encrypted. */

/**
 * The names of attributes with content, and how names begin that have a part more: OpenTelemetry's GenAI conventions, current and
 * older, OpenInference, Traceloop, the AI SDK, Langfuse, MLflow, Pydantic AI.
 */
export const contentAttributes = [
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.retrieval.query.text",
  "gen_ai.retrieval.documents",
  "gen_ai.prompt",
  "gen_ai.completion",
  "gen_ai.content",
  "llm.prompts",
  "llm.completions",
  "llm.input_messages",
  "llm.output_messages",
  "llm.prompt_template",
  "llm.function_call",
  "input.value",
  "output.value",
  "tool.parameters",
  "embedding.text",
  "embedding.embeddings",
  "retrieval.documents",
  "reranker.query",
  "reranker.input_documents",
  "reranker.output_documents",
  "traceloop.entity.input",
  "traceloop.entity.output",
  "traceloop.prompt",
  "ai.prompt",
  "ai.response.text",
  "ai.response.object",
  "ai.response.reasoning",
  "ai.response.toolCalls",
  "ai.toolCall.args",
  "ai.toolCall.result",
  "ai.value",
  "ai.values",
  "langfuse.observation.input",
  "langfuse.observation.output",
  "langfuse.trace.input",
  "langfuse.trace.output",
  "mlflow.spanInputs",
  "mlflow.spanOutputs",
  "all_messages_events",
  "pydantic_ai.all_messages",
  "final_result",
  "tool_arguments",
  "tool_response",
] as const;

/** Events of the conventions have content as their bodies: `gen_ai.user.message`, `gen_ai.choice` and others. */
export const contentEventPrefix = "gen_ai.";
/** An attribute of these events that has content, too. */
export const contentOfEvents = "exception.message";

const dot = 0x2e;
/** Where names that begin alike differ: the letter after `gen_ai.`. No name is shorter. */
const differsAt = 7;

/** By their first byte and that letter. */
const candidates = new Map<number, Uint8Array[]>();
for (const name of contentAttributes) {
  const bytes = Buffer.from(name);
  const key = (bytes[0]! << 8) | bytes[differsAt]!;
  candidates.set(key, [...(candidates.get(key) ?? []), bytes]);
}

/** Whether the bytes are the name of an attribute with content. */
export function isContentName(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start <= differsAt) return false;
  const found = candidates.get((bytes[start]! << 8) | bytes[start + differsAt]!);
  return found !== undefined && found.some((name) => beginsWith(bytes, { start, end, name }));
}

/** Whether the name is one, or has parts more. */
function beginsWith(
  bytes: Uint8Array,
  { start, end, name }: { readonly start: number; readonly end: number; readonly name: Uint8Array },
): boolean {
  const { length } = name;
  if (end - start < length || (end - start > length && bytes[start + length] !== dot)) return false;
  for (let index = 1; index < length; index += 1) if (bytes[start + index] !== name[index]) return false;
  return true;
}

export function isContentAttribute(name: string): boolean {
  const bytes = Buffer.from(name);
  return isContentName(bytes, 0, bytes.length);
}

/** Lists the values of the column `operation` by what they mean; the names are OpenTelemetry's `gen_ai.operation.name`. */

/** Calls of models. */
export const inferenceOperations: readonly string[] = [
  "chat",
  "text_completion",
  "generate_content",
  "embeddings",
  "speech",
  "transcription",
];

/** A run of one agent. */
export const agentOperation = "invoke_agent";

/** A run of a workflow, which may run several agents. */
export const workflowOperation = "invoke_workflow";

/** A call of a tool. */
export const toolOperation = "execute_tool";

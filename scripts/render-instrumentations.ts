/**
 * Renders docs/observability/instrumentations.md: the attributes that Sounding understands, from the code, and which
 * instrumentation sends them, from the recordings in test/instrumentations.
 */
import { readFileSync } from "node:fs";
import { recognizedAttributes, type AttributeSource } from "../packages/server/src/telemetry/rows/known-attributes.ts";

/** The columns of the table: recordings by the instrumentation's name. */
const instrumentations: Readonly<Record<string, readonly string[]>> = {
  OpenTelemetry: ["openai_v2"],
  OpenLLMetry: ["openllmetry_openai", "openllmetry_langchain"],
  OpenInference: ["openinference_openai", "openinference_langchain", "openinference_openai_agents"],
  "Pydantic AI": ["pydantic_ai_agent"],
  "AI SDK": ["ai-sdk"],
  "AI SDK (legacy)": ["ai-sdk-legacy"],
  HTTPX: ["openai_v2-traced"],
};

const meanings: Readonly<Record<keyof typeof recognizedAttributes, string>> = {
  operation: "operation",
  provider: "provider",
  request_model: "requested model",
  response_model: "model that answered",
  agent_name: "agent name",
  agent_class: "agent class",
  session_id: "session",
  input_tokens: "input tokens",
  output_tokens: "output tokens",
  cache_read_tokens: "input tokens read from a cache",
  cache_write_tokens: "input tokens written to a cache",
  cost: "cost, in the currency of the server's prices",
  error_type: "error",
  tool_name: "tool name",
  response_id: "response ID",
  openinference_kind: "rules 1, 2, 5",
  traceloop_kind: "rules 3, 4",
  traceloop_entity: "rule 4",
  input: "rule 2",
  output: "rules 2, 5",
  metadata: "rule 1",
  invocation_parameters: "rule 6",
  http_method: "HTTP request of a call",
};

const introduction = `# Instrumentations

<!-- Written by scripts/render-instrumentations.ts; do not edit. -->

Sounding understands the spans of OpenTelemetry's GenAI conventions and of the instrumentations on this page.
The tests run each of them against a server, and send again what they recorded.

## Calls through Sounding count once

An instrumented application reports each model call, and Sounding records the calls that it serves.
Both spans stay visible in traces. In metrics the call counts once:

- Sounding's span counts, with its tokens, duration, status, project and model.
- The labels \`service_name\`, \`agent_name\`, \`agent_class\` and \`session_id\` come from the application's span if both spans are in
  the same project. Use a key that is bound to the project, or send the header \`x-project\`. Otherwise \`service_name\` is \`sounding\`.
- Only calls that this server served, in the same organization, hide spans of applications. A sender cannot mark its spans as such.
- If several spans of an application report one call, such as those of an agent framework and of the SDK below it, the innermost counts.

Sounding recognizes the spans of one call in two ways:

1. **By the response ID.** It needs at least 20 characters; Sounding extends shorter IDs of engines in its responses.
2. **By the HTTP request.** If the application traces its HTTP requests, Sounding's span becomes a child of the request's span
   (\`traceparent\`), which is a child of the call's span. In Python, install \`opentelemetry-instrumentation-httpx\` and call
   \`HTTPX2ClientInstrumentor().instrument()\` (\`HTTPXClientInstrumentor\` for versions of the SDK that use \`httpx\`).
   In Node.js, use \`@opentelemetry/instrumentation-undici\`.

A call counts twice if neither applies:

- A call that failed has no response ID, so it needs the HTTP request. OpenLLMetry for OpenAI passes the trace on without it.
- OpenInference reports no response ID for OpenAI Agents.

More limits:

- The ends of the two spans must be at most five minutes apart.
- Spans below a call, such as that of its HTTP request, must arrive before the call's span or in the same request.
  That is the case unless exporters of one application send to several servers.
- The application's spans of one call are compared in memory, at least the last 100 000. Those that a restart separates count each.
- Calls that were recorded before this feature existed count as before.

## What is understood

Sounding reads these attributes; where several have a meaning, the first that is present applies.
A mark says that an instrumentation sent the attribute when it was recorded.
`;

const operations = `
Instead of \`gen_ai.operation.name\`, these values name an operation; other values do not:

| attribute | value | operation |
| --- | --- | --- |`;

const rules = `
Sounding stores all attributes unchanged. Where no attribute says it, Sounding derives:

1. OpenInference reports a LangChain agent (\`create_agent\`) as a chain. A chain whose \`metadata\` has its own name as
   \`lc_agent_name\` is an agent run; so is a root chain with \`ls_integration\` \`langchain_create_agent\`. Model and tool calls below it
   get the agent's name. Other chains are neither agents nor tasks.
2. OpenInference reports the workflow around OpenAI Agents as an agent without a name, input and output. It is a workflow.
3. OpenLLMetry reports every outermost LangChain run, such as \`RunnableSequence\`, as an agent with the kind \`workflow\`.
   It is a workflow; the run of an agent has a span of its own.
4. OpenLLMetry's decorator \`@agent\` has the agent's name in \`traceloop.entity.name\`.
5. OpenInference has the response ID only in \`output.value\`: in OpenAI's response, or in LangChain's result.
6. OpenInference has the model of a failed call only in \`llm.invocation_parameters\`.

## Agents, tasks and tools

- A task of \`agent_task_total\` is one run of an agent (\`invoke_agent\`). A run of a sub-agent is a task of that agent.
- Workflows (\`invoke_workflow\`), chains and steps are not tasks. \`agent_traces\` finds workflows too.
- A tool call is \`execute_tool\`.
- The AI SDK's \`OpenTelemetry\` reports each \`generateText\` and \`streamText\` as an agent run, with \`functionId\` as the agent's name.
  \`LegacyOpenTelemetry\` reports no agents. The session is the key \`sessionId\` of the runtime context or of the metadata.
`;

interface Sent {
  readonly names: ReadonlySet<string>;
  readonly packages: Readonly<Record<string, string>>;
}

/** Reads lines as test/instrumentations/recording.ts writes them. */
function sentBy(recordings: readonly string[]): Sent {
  const names = new Set<string>();
  const packages: Record<string, string> = {};
  for (const name of recordings) {
    const text = readFileSync(new URL(`../test/instrumentations/recordings/${name}.jsonl`, import.meta.url), "utf8");
    for (const line of text.trimEnd().split("\n")) {
      const value = JSON.parse(line, (key, each: unknown) => {
        if (key === "key" && typeof each === "string") names.add(each);
        return each;
      }) as { packages?: Record<string, string> };
      Object.assign(packages, value.packages);
    }
  }
  return { names, packages };
}

function rowsOf(meaning: string, sources: readonly (string | AttributeSource)[], sent: readonly Sent[]): string[] {
  return sources.map((source) => {
    const name = typeof source === "string" ? source : source.name;
    const marks = sent.map(({ names }) => (names.has(name) ? "✓" : ""));
    return `| ${[meaning, `\`${name}\``, ...marks].join(" | ")} |`;
  });
}

function operationRows(): string[] {
  const sources: readonly (string | AttributeSource)[] = recognizedAttributes.operation;
  return sources.flatMap((source) => {
    if (typeof source === "string") return [];
    return Object.entries(source.values ?? {}).map(
      ([value, operation]) => `| \`${source.name}\` | \`${value}\` | \`${operation}\` |`,
    );
  });
}

export function renderInstrumentations(): string {
  const titles = Object.keys(instrumentations);
  const sent = Object.values(instrumentations).map(sentBy);
  const rows = Object.entries(recognizedAttributes).flatMap(([target, sources]) =>
    rowsOf(meanings[target as keyof typeof meanings], sources, sent),
  );
  const head = [
    `| ${["meaning", "attribute", ...titles].join(" | ")} |`,
    `| --- | --- |${titles.map(() => " :-: |").join("")}`,
  ];
  const versions = Object.entries(
    Object.assign({}, ...sent.map(({ packages }) => packages)) as Record<string, string>,
  ).toSorted(([left], [right]) => left.localeCompare(right));
  const tested = versions.map(([name, version]) => `- \`${name}\` ${version}`);
  return [
    introduction,
    ...head,
    ...rows,
    operations,
    ...operationRows(),
    rules,
    "## Tested versions\n",
    ...tested,
    "",
  ].join("\n");
}

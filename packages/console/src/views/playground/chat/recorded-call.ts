/** Loads a recorded chat call into the playground: its model, parameters, messages and answer. */
import { signal } from "@preact/signals";
import { requestJson } from "../../../api/request.ts";
import { plainAttributes } from "../../../genai/any-value.ts";
import { readContent, type Message, type MessagePart, type RecordingSpan } from "../../../genai/messages.ts";
import { emptyParameters, type ChatParameters } from "./chat-parameters.ts";
import type { ChatState } from "./chat-store.ts";
import type { Answer, Step, Turn } from "./conversation.ts";
import { parseJsonText } from "./json-text.ts";
import { waitingAnswer } from "./run-answer.ts";
import { readTools } from "./structured-parameters.ts";

export interface RecordedCall {
  readonly state: ChatState;
  /** Whether the messages were recorded. */
  readonly hasContent: boolean;
  /** Images and other data, which are never recorded. */
  readonly omittedMedia: number;
}

type Attributes = Readonly<Record<string, unknown>>;

type Span = RecordingSpan & { readonly spanId: string };

interface Traces {
  readonly traces: readonly {
    readonly batches?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
  }[];
}

/**
 * @param spanId the call's span; undefined: the first call of a model in the trace
 * @throws Error if there is no such trace or no such call
 */
export async function loadRecordedCall(
  { traceId, spanId }: { readonly traceId: string; readonly spanId: string | undefined },
  abort: AbortSignal,
): Promise<RecordedCall> {
  const json = { trace: "all_traces", trace_id: traceId };
  const { traces } = await requestJson<Traces>("observability/traces", { json, signal: abort });
  const spans = (traces[0]?.batches ?? []).flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  if (spans.length === 0)
    throw new Error(`No trace has the ID ${traceId}. It may have expired, or it belongs to another project.`);
  const span = spans.find((each) =>
    spanId === undefined ? "gen_ai.request.model" in plainAttributes(each.attributes) : hexOf(each.spanId) === spanId,
  );
  if (span === undefined) {
    throw new Error(
      spanId === undefined ? "This trace has no call of a model." : `The trace has no span with the ID ${spanId}.`,
    );
  }
  const attributes = plainAttributes(span.attributes);
  const content = readContent(span);
  const input = content?.input ?? [];
  const answers = (content?.output ?? []).filter(({ role }) => role === "assistant").slice(0, 1);
  const model = textOf(attributes["gen_ai.request.model"]) || textOf(attributes["gen_ai.response.model"]);
  const recorded = { ...recordedAnswer(attributes), model, traceId };
  return {
    state: {
      settings: {
        models: model === "" ? [] : [model],
        system: input
          .filter(({ role }) => isInstruction(role))
          .map(textIn)
          .join("\n\n"),
        parameters: parametersOf(attributes),
      },
      draft: { text: "", images: [] },
      turns: toTurns(
        input.filter(({ role }) => !isInstruction(role)),
        answers,
        recorded,
      ),
    },
    hasContent: input.length > 0,
    omittedMedia: input.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "media").length,
  };
}

function isInstruction(role: string): boolean {
  return role === "system" || role === "developer";
}

function parametersOf(attributes: Attributes): ChatParameters {
  const numeric = (name: string): string => {
    const value = attributes[`gen_ai.request.${name}`];
    return typeof value === "number" || (typeof value === "string" && value !== "") ? String(value) : "";
  };
  const stop = attributes["gen_ai.request.stop_sequences"];
  const tools = textOf(attributes["gen_ai.tool.definitions"]);
  return {
    ...emptyParameters,
    temperature: numeric("temperature"),
    top_p: numeric("top_p"),
    max_completion_tokens: numeric("max_tokens"),
    seed: numeric("seed"),
    frequency_penalty: numeric("frequency_penalty"),
    presence_penalty: numeric("presence_penalty"),
    stop: Array.isArray(stop)
      ? stop
          .map((each) => String(each).replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t"))
          .join("\n")
      : "",
    // The schema is not recorded.
    response_format: attributes["gen_ai.output.type"] === "json" ? "json_object" : "",
    tools: readTools(tools).value === undefined ? "" : tools,
  };
}

function recordedAnswer(attributes: Attributes): Partial<Answer> {
  const count = (name: string): number | undefined => {
    const value = Number(attributes[`gen_ai.usage.${name}`]);
    return Number.isFinite(value) ? value : undefined;
  };
  return { promptTokens: count("input_tokens"), completionTokens: count("output_tokens") };
}

/**
 * A message of the user begins a turn; the rest belongs to it.
 * @param last facts about the answers, which `messages` precede
 */
function toTurns(messages: readonly Message[], answers: readonly Message[], last: Partial<Answer>): Turn[] {
  const turns: { text: string; steps: Step[] }[] = [];
  const stepsOfLast = (): Step[] => {
    if (turns.length === 0) turns.push({ text: "", steps: [] });
    return turns.at(-1)!.steps;
  };
  for (const message of messages) {
    const results = message.parts.filter((part) => part.kind === "tool-result");
    if (results.length > 0) {
      const steps = stepsOfLast();
      const step = steps.pop();
      const added = Object.fromEntries(results.map(({ id, text }) => [id, text]));
      if (step !== undefined) steps.push({ ...step, results: { ...step.results, ...added } });
    } else if (message.role === "assistant") stepsOfLast().push(toStep(message, { model: last.model ?? "" }));
    else turns.push({ text: textIn(message), steps: [] });
  }
  for (const answer of answers) stepsOfLast().push(toStep(answer, last));
  return turns.map(({ text, steps }) => ({
    id: crypto.randomUUID(),
    text,
    images: [],
    columns: steps.length === 0 ? [] : [steps],
  }));
}

function toStep({ parts, finishReason }: Message, { model = "", ...facts }: Partial<Answer>): Step {
  const join = (kind: MessagePart["kind"]): string =>
    parts.map((part) => (part.kind === kind && "text" in part ? part.text : "")).join("");
  const answer: Answer = {
    ...waitingAnswer(model),
    ...facts,
    state: "done",
    text: join("text"),
    reasoning: join("reasoning"),
    toolCalls: parts
      .filter((part) => part.kind === "tool-call")
      .map(({ id, name, input }) => ({ id, name, arguments: compact(input) })),
    finishReason,
  };
  return { id: crypto.randomUUID(), answer: signal(answer), results: {} };
}

/** Arguments are indented for reading. */
function compact(input: string): string {
  const { value, problem } = parseJsonText(input);
  return problem === undefined ? JSON.stringify(value) : input;
}

function textIn({ parts }: Message): string {
  return parts
    .map((part) => (part.kind === "text" ? part.text : ""))
    .join("\n")
    .trim();
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Spans have their IDs in base64. */
function hexOf(base64: string): string {
  return Array.from(atob(base64), (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

/**
 * Reads the prompts and answers that a span recorded: from Sounding's own spans, and from those of the instrumentations that
 * docs/observability/instrumentations.md lists.
 */
import { parsedJson, plainAttributes, valueText, type KeyValue } from "./any-value.ts";
import { isObject, toInstructions, toMessages, toolCall, type Message } from "./message-forms.ts";

export type { Message, MessagePart } from "./message-forms.ts";

/** What of a span in Tempo's JSON encoding is read. */
export interface RecordingSpan {
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name?: string; readonly attributes?: readonly KeyValue[] }[];
}

export interface RecordedContent {
  /** What the model, agent or tool was given: the system prompt first. */
  readonly input: readonly Message[];
  /** What it answered. */
  readonly output: readonly Message[];
}

type Attributes = Readonly<Record<string, unknown>>;
type Reader = (attributes: Attributes, events: readonly SpanEvent[]) => RecordedContent;

interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

/** The recorded content; undefined if there is none. */
export function readContent(span: RecordingSpan): RecordedContent | undefined {
  const attributes = plainAttributes(span.attributes);
  const events = (span.events ?? []).map((event) => ({
    name: event.name ?? "",
    attributes: plainAttributes(event.attributes),
  }));
  for (const read of readers) {
    const content = read(attributes, events);
    if (content.input.length > 0 || content.output.length > 0) return content;
  }
  return undefined;
}

/** The most specific first. */
const readers: readonly Reader[] = [
  conventions,
  (_, events) =>
    conventions(events.find(({ name }) => name === "gen_ai.client.inference.operation.details")?.attributes ?? {}),
  messageEvents,
  contentEvents,
  numbered("llm.input_messages", "llm.output_messages"),
  numbered("gen_ai.prompt", "gen_ai.completion"),
  aiSdk,
  agentMessages,
  toolSpan,
  ({ "input.value": input, "output.value": output }) => plainly(input, output),
  ({ "traceloop.entity.input": input, "traceloop.entity.output": output }) => plainly(input, output),
];

/** OpenTelemetry's attributes. */
function conventions(attributes: Attributes): RecordedContent {
  return {
    input: [
      ...toInstructions(attributes["gen_ai.system_instructions"]),
      ...toMessages(attributes["gen_ai.input.messages"], "user"),
    ],
    output: toMessages(attributes["gen_ai.output.messages"], "assistant"),
  };
}

const eventRoles: Readonly<Record<string, string>> = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
};

/** Events of the conventions until 2025: one for each message, with its content as attributes. */
function messageEvents(_: Attributes, events: readonly SpanEvent[]): RecordedContent {
  const messages = (wanted: (name: string) => boolean) =>
    events
      .filter(({ name }) => wanted(name))
      .flatMap(({ name, attributes }) => {
        const body = isObject(parsedJson(attributes["body"]))
          ? (parsedJson(attributes["body"]) as Attributes)
          : attributes;
        const role = eventRoles[name] ?? "assistant";
        const nested = parsedJson(body["message"]);
        const message = isObject(nested) ? { ...body, message: { role, ...nested } } : { role, ...body };
        return toMessages([{ ...message, tool_call_id: body["id"] }], role);
      });
  return { input: messages((name) => name in eventRoles), output: messages((name) => name === "gen_ai.choice") };
}

/** Events that hold the whole prompt or answer. */
function contentEvents(_: Attributes, events: readonly SpanEvent[]): RecordedContent {
  const read = (event: string, attribute: string, role: string) =>
    events.filter(({ name }) => name === event).flatMap(({ attributes }) => toMessages(attributes[attribute], role));
  return {
    input: read("gen_ai.content.prompt", "gen_ai.prompt", "user"),
    output: read("gen_ai.content.completion", "gen_ai.completion", "assistant"),
  };
}

/** Messages as attributes with numbers in their names: `llm.input_messages.0.message.role`. */
function numbered(input: string, output: string): Reader {
  return (attributes) => ({
    input: toMessages(nested(attributes, input), "user"),
    output: toMessages(nested(attributes, output), "assistant"),
  });
}

/** The AI SDK's own attributes. */
function aiSdk(attributes: Attributes): RecordedContent {
  const prompt = parsedJson(attributes["ai.prompt.messages"] ?? attributes["ai.prompt"]);
  const system = isObject(prompt) ? toInstructions(prompt["system"]) : [];
  const messages = isObject(prompt) ? (prompt["messages"] ?? prompt["prompt"]) : prompt;
  const calls = parsedJson(attributes["ai.response.toolCalls"]);
  const answer = {
    role: "assistant",
    reasoning: attributes["ai.response.reasoning"],
    content: attributes["ai.response.text"] ?? attributes["ai.response.object"],
    tool_calls: calls,
  };
  return { input: [...system, ...toMessages(messages, "user")], output: toMessages([answer], "assistant") };
}

/** All messages of an agent's run; the last is its answer. */
function agentMessages(attributes: Attributes): RecordedContent {
  const all = toMessages(attributes["pydantic_ai.all_messages"] ?? attributes["all_messages_events"], "user");
  const answered = all.at(-1)?.role === "assistant";
  return answered ? { input: all.slice(0, -1), output: all.slice(-1) } : { input: all, output: [] };
}

function toolSpan(attributes: Attributes): RecordedContent {
  const id = attributes["gen_ai.tool.call.id"] ?? attributes["ai.toolCall.id"] ?? "";
  const name = attributes["gen_ai.tool.name"] ?? attributes["ai.toolCall.name"] ?? "";
  const input = attributes["gen_ai.tool.call.arguments"] ?? attributes["ai.toolCall.args"];
  const result = attributes["gen_ai.tool.call.result"] ?? attributes["ai.toolCall.result"];
  const text = valueText(parsedJson(result));
  return {
    input: input === undefined ? [] : [{ role: "assistant", parts: [toolCall({ id, name, arguments: input })] }],
    output:
      result === undefined
        ? []
        : [{ role: "tool", parts: [{ kind: "tool-result", id: valueText(id), name: valueText(name), text }] }],
  };
}

/** Values that need not be messages. */
function plainly(input: unknown, output: unknown): RecordedContent {
  return { input: asText(input, "user"), output: asText(output, "assistant") };
}

function asText(value: unknown, role: string): Message[] {
  const parsed = parsedJson(value);
  const messages = isObject(parsed) ? (parsed["messages"] ?? parsed["choices"]) : parsed;
  if (Array.isArray(messages) && messages.every((each) => isObject(each) && ("role" in each || "message" in each))) {
    return toMessages(messages, role);
  }
  const text = valueText(parsed);
  return text === "" ? [] : [{ role, parts: [{ kind: "text", text }] }];
}

/** Lists and objects from attributes whose names are paths below a prefix; undefined if there are none. */
function nested(attributes: Attributes, prefix: string): unknown {
  const root: Branch = new Map();
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith(`${prefix}.`)) continue;
    const path = name.slice(prefix.length + 1).split(".");
    if (path.length <= mostLevels) place(root, path, value);
  }
  return root.size === 0 ? undefined : toValue(root);
}

type Branch = Map<string, unknown>;

const mostLevels = 12;

function place(root: Branch, path: readonly string[], value: unknown): void {
  let branch = root;
  for (const step of path.slice(0, -1)) {
    const next = branch.get(step);
    if (next instanceof Map) branch = next as Branch;
    else {
      const created: Branch = new Map();
      branch.set(step, created);
      branch = created;
    }
  }
  branch.set(path.at(-1)!, value);
}

/** Branches with numbers only are lists, in the order of the numbers. */
function toValue(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  const entries = [...(value as Branch)];
  if (entries.every(([key]) => /^\d{1,6}$/.test(key))) {
    return entries.sort(([left], [right]) => Number(left) - Number(right)).map(([, each]) => toValue(each));
  }
  return Object.fromEntries(entries.map(([key, each]) => [key, toValue(each)]));
}

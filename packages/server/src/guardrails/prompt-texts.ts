/**
 * Finds the texts of a request that guardrails check: messages, the arguments of tool calls in them, and the predicted
 * output. https://platform.openai.com/docs/guides/predicted-outputs
 */
import { cacheHint, type CacheHinted, type ChatMessage, type ChatRequest } from "../api/chat-request.ts";
import { isObject } from "../json-object.ts";
import type { MapTexts, TextMapping } from "./check-texts.ts";
import { mapJsonTexts } from "./json-texts.ts";

type Members = Readonly<Record<string, unknown>>;

/**
 * Maps the texts of a request; its other members stay as they are.
 * @param roles whose messages; undefined: everybody's. A predicted answer is the assistant's.
 */
export function mapPromptTexts(roles: readonly string[] | undefined): MapTexts<ChatRequest> {
  const isJudged = (role: string): boolean => roles === undefined || roles.includes(role);
  return async (request, mapping) => {
    const messages: ChatMessage[] = [];
    for (const message of request.messages) {
      messages.push(isJudged(message.role) ? await mapMessage(message, mapping) : message);
      if (mapping.yielder.isDue()) await mapping.yielder.yield();
    }
    const { prediction } = request as { readonly prediction?: unknown };
    if (!isJudged("assistant") || !isObject(prediction)) return { ...request, messages };
    const content = await mapContent(prediction["content"], mapping);
    return { ...request, messages, prediction: { ...prediction, content } };
  };
}

/** Members of a message that name things, and so say nothing. */
const names: ReadonlySet<string> = new Set(["role", "tool_call_id"]);

/** Every text member, known or not: engines send reasoning, refusals and more in members of their own. */
async function mapMessage(message: ChatMessage, mapping: TextMapping): Promise<ChatMessage> {
  const mapped = (await mapMembers(message, mapping, (name, value) =>
    names.has(name) ? value : mapMember(name, value, mapping),
  )) as ChatMessage;
  const hint = (message as CacheHinted)[cacheHint];
  return hint === undefined ? mapped : Object.assign(mapped, { [cacheHint]: hint });
}

async function mapMembers(
  members: Members,
  { yielder }: TextMapping,
  map: (name: string, value: unknown) => unknown,
): Promise<Members> {
  const mapped: [string, unknown][] = [];
  for (const name of Object.keys(members)) {
    mapped.push([name, await map(name, members[name])]);
    if (yielder.isDue()) await yielder.yield();
  }
  return Object.fromEntries(mapped);
}

function mapMember(name: string, value: unknown, mapping: TextMapping): unknown {
  switch (name) {
    case "function_call":
      return mapArguments(value, mapping);
    case "tool_calls":
      return Array.isArray(value) ? mapList(value, mapping, (call) => mapToolCall(call as Members, mapping)) : value;
    case "content":
    case "reasoning_details":
      return mapContent(value, mapping);
    default:
      return typeof value === "string" ? mapping.map(value) : value;
  }
}

async function mapToolCall(call: Members, mapping: TextMapping): Promise<Members> {
  return { ...call, function: await mapArguments(call["function"], mapping) };
}

async function mapArguments(called: unknown, mapping: TextMapping): Promise<unknown> {
  if (!isObject(called) || typeof called["arguments"] !== "string") return called;
  return { ...called, arguments: await mapJsonTexts(called["arguments"], mapping) };
}

/** A text, or parts of which some are texts; the content of images, audio and files is not checked. */
function mapContent(content: unknown, mapping: TextMapping): unknown {
  if (typeof content === "string") return mapping.map(content);
  return Array.isArray(content) ? mapList(content, mapping, (part) => mapPart(part, mapping)) : content;
}

async function mapList(
  list: readonly unknown[],
  { yielder }: TextMapping,
  map: (item: unknown) => unknown,
): Promise<unknown[]> {
  const mapped: unknown[] = [];
  for (const item of list) {
    mapped.push(await map(item));
    if (yielder.isDue()) await yielder.yield();
  }
  return mapped;
}

/** What parts of messages, of reasoning (`reasoning_details`) and of thoughts call their text. */
const texts: ReadonlySet<string> = new Set(["text", "refusal", "thinking", "summary"]);

function mapPart(part: unknown, mapping: TextMapping): unknown {
  if (!isObject(part)) return part;
  return mapMembers(part, mapping, (name, value) => (texts.has(name) ? mapContent(value, mapping) : value));
}

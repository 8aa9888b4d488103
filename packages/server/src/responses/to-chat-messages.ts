/**
 * Items as messages of chat completions. What the model generated in one turn is one message there; the order never changes.
 */
import type { ChatMessage } from "../api/chat-request.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { readToolUseId } from "../chat/tool-use-id.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import { textIn, toChatParts, toContent, type ChatPart } from "./content-parts.ts";
import { readReasoningItem } from "./kept-reasoning.ts";
import { functionName, writeCustomInput } from "./tools.ts";

type ToolCall = NonNullable<ChatMessage["tool_calls"]>[number];

/** What the model generated in one turn. */
interface Turn {
  readonly parts: ChatPart[];
  readonly calls: ToolCall[];
  reasoning: string;
  readonly details: JsonObject[];
}

export function toChatMessages(
  { input, instructions }: Pick<ResponseRequest, "input" | "instructions">,
  refuse: Refuse,
): ChatMessage[] {
  const conversation = new Conversation(refuse);
  if (instructions != null && instructions !== "") conversation.say({ role: "system", content: instructions });
  if (typeof input === "string") conversation.say({ role: "user", content: input });
  else for (const [index, item] of (input ?? []).entries()) conversation.add(item, `input[${index}]`);
  return conversation.end();
}

class Conversation {
  readonly #refuse: Refuse;
  readonly #messages: ChatMessage[] = [];
  #turn: Turn | undefined;
  /** What results of tools show, which the message of a tool cannot contain; each after its number in the text. */
  #shown: ChatPart[] = [];

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  say(message: ChatMessage): void {
    this.#flush();
    this.#messages.push(message);
  }

  end(): ChatMessage[] {
    this.#flush();
    return this.#messages;
  }

  add(item: JsonObject, path: string): void {
    const type = item["type"] ?? "message";
    switch (type) {
      case "message":
        return this.#addMessage(item, path);
      case "function_call":
        return this.#addCall(item, textIn(item, "arguments", path), path);
      case "custom_tool_call":
        return this.#addCall(item, writeCustomInput(textIn(item, "input", path)), path);
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#addOutput(item, path);
      case "reasoning": {
        const reasoning = readReasoningItem(item, path);
        if (reasoning === undefined) return;
        const turn = this.#model();
        if (reasoning.details.length === 0) turn.reasoning += reasoning.text;
        turn.details.push(...reasoning.details);
        return;
      }
      default:
        this.#refuse(`${path}.type`, `is ${JSON.stringify(type)}`);
    }
  }

  #addMessage(item: JsonObject, path: string): void {
    const { role } = item;
    const parts = toChatParts(item["content"], `${path}.content`, this.#refuse);
    if (role === "assistant") {
      this.#model().parts.push(...parts);
      return;
    }
    if (role !== "user" && role !== "system" && role !== "developer") {
      throw invalid(`${path}.role`, `is ${JSON.stringify(role)}; expected user, assistant, system or developer.`);
    }
    this.say({ role, content: toContent(parts) });
  }

  #addCall(item: JsonObject, text: string, path: string): void {
    const { id, extra } = readToolUseId(textIn(item, "call_id", path));
    const name = functionName(textIn(item, "name", path), nonEmptyText(item["namespace"]));
    const called = { name, arguments: text };
    this.#model().calls.push({
      id,
      type: "function",
      function: called,
      ...(extra === undefined ? {} : { extra_content: extra }),
    });
  }

  #addOutput(item: JsonObject, path: string): void {
    this.#endTurn();
    const parts: ChatPart[] = [];
    for (const part of toChatParts(item["output"], `${path}.output`, this.#refuse)) {
      if (part.type === "text") {
        parts.push(part);
        continue;
      }
      const label: ChatPart = { type: "text", text: `[attachment ${this.#shown.length / 2 + 1}]` };
      parts.push(label);
      this.#shown.push(label, part);
    }
    const { id } = readToolUseId(textIn(item, "call_id", path));
    this.#messages.push({ role: "tool", tool_call_id: id, content: toContent(parts) });
  }

  /** What the model generates now. */
  #model(): Turn {
    if (this.#turn === undefined) this.#flush();
    return (this.#turn ??= { parts: [], calls: [], reasoning: "", details: [] });
  }

  #flush(): void {
    this.#endTurn();
    if (this.#shown.length > 0) this.#messages.push({ role: "user", content: this.#shown });
    this.#shown = [];
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    const { parts, calls, reasoning, details } = this.#turn;
    this.#turn = undefined;
    this.#messages.push({
      role: "assistant",
      content: parts.length > 0 ? toContent(parts) : calls.length > 0 ? null : "",
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    });
  }
}

/** Whether the input is a list of items, each an object. */
export function itemsOf(input: ResponseRequest["input"]): JsonObject[] {
  if (input == null) return [];
  if (typeof input !== "string") return input.filter(isObject);
  return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
}

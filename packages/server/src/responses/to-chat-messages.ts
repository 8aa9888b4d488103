/**
 * Items as messages of chat completions. What the model generated in one turn is one message there; the order never changes.
 */
import type { ChatMessage } from "../api/chat-request.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import {
  createTurn,
  separateAttachments,
  toAssistantMessage,
  toContent,
  toToolCall,
  toToolMessage,
  type ChatPart,
  type ModelTurn,
} from "../chat/chat-messages.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import { textIn, toChatParts } from "./content-parts.ts";
import { readReasoningItem } from "./kept-reasoning.ts";
import { functionName, writeCustomInput } from "./tools.ts";

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
  #turn: ModelTurn | undefined;
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
    this.say({ role, content: parts.length === 0 ? "" : toContent(parts) });
  }

  #addCall(item: JsonObject, text: string, path: string): void {
    const id = textIn(item, "call_id", path);
    const name = functionName(textIn(item, "name", path), nonEmptyText(item["namespace"]));
    this.#model().calls.push(toToolCall(id, { name, arguments: text }));
  }

  #addOutput(item: JsonObject, path: string): void {
    this.#endTurn();
    const parts = separateAttachments(toChatParts(item["output"], `${path}.output`, this.#refuse), this.#shown);
    this.#messages.push(toToolMessage(textIn(item, "call_id", path), parts));
  }

  /** What the model generates now. */
  #model(): ModelTurn {
    if (this.#turn === undefined) this.#flush();
    return (this.#turn ??= createTurn());
  }

  #flush(): void {
    this.#endTurn();
    if (this.#shown.length > 0) this.#messages.push({ role: "user", content: this.#shown });
    this.#shown = [];
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    this.#messages.push(toAssistantMessage(this.#turn));
    this.#turn = undefined;
  }
}

/** Whether the input is a list of items, each an object. */
export function itemsOf(input: ResponseRequest["input"]): JsonObject[] {
  if (input == null) return [];
  if (typeof input !== "string") return input.filter(isObject);
  return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
}

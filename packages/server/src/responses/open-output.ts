/** Items of a response while they are generated, and the events that tell of them. */
import type { Reasoning } from "../chat/kept-reasoning.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";
import { toReasoningItem } from "./kept-reasoning.ts";
import { callItem, callType, itemId, messageItem, refusalPart, textPart, type CalledTool } from "./output-items.ts";

export type Emit = (type: string, members: JsonObject) => void;

type Status = "completed" | "incomplete";

/** Sends an event whose text is its only new part: `members` is what precedes the text, as JSON without braces. */
export type EmitText = (type: string, members: string, text: string) => void;

export interface OutputPlace {
  readonly emit: Emit;
  readonly emitText: EmitText;
  readonly responseId: string;
  /** The item's index in the output. */
  readonly index: number;
}

/** The last events repeat the whole text, which therefore stays in memory. */
const longestItem = inputLimit({
  area: "Chat completions",
  bounds: "One item of a streamed response that is translated from chat completions",
  value: 16_777_216,
  unit: "characters",
  error: "upstream_failed",
});

export abstract class OpenOutput {
  readonly #place: OutputPlace;
  readonly id: string;
  #length = 0;
  #ended: JsonObject | undefined;

  constructor(place: OutputPlace, type: Parameters<typeof itemId>[0]) {
    this.#place = place;
    this.id = itemId(type, place.responseId, place.index);
  }

  begin(): void {
    this.#place.emit("response.output_item.added", { output_index: this.#place.index, item: this.begun() });
  }

  /** Later calls return what the first did. @returns the item */
  end(status: Status): JsonObject {
    if (this.#ended !== undefined) return this.#ended;
    this.#ended = this.finish(status);
    this.#place.emit("response.output_item.done", { output_index: this.#place.index, item: this.#ended });
    return this.#ended;
  }

  protected abstract begun(): JsonObject;
  protected abstract finish(status: Status): JsonObject;

  protected emit(type: string, members: JsonObject): void {
    this.#place.emit(`response.${type}`, { item_id: this.id, output_index: this.#place.index, ...members });
  }

  /** A piece of text, of which there may be thousands; `members` do not change. */
  protected emitDelta(type: string, members: string, text: string): void {
    this.#place.emitText(`response.${type}`, members, text);
  }

  /** What precedes the text of each piece. */
  protected deltaMembers(members: JsonObject): string {
    const all = { item_id: this.id, output_index: this.#place.index, ...members };
    return JSON.stringify(all).slice(1, -1);
  }

  /** @throws AppError upstream_failed */
  protected charge(text: string): void {
    this.#length += text.length;
    if (this.#length <= longestItem) return;
    throw new AppError("upstream_failed", `The engine's response has an item of more than ${longestItem} characters.`);
  }
}

type PartKind = "output_text" | "refusal";
const partOf = { output_text: textPart, refusal: refusalPart } as const;

export class MessageOutput extends OpenOutput {
  readonly #parts: { readonly kind: PartKind; readonly members: string; text: string }[] = [];

  constructor(place: OutputPlace) {
    super(place, "message");
  }

  addText(text: string): void {
    this.#add("output_text", text);
  }

  addRefusal(text: string): void {
    this.#add("refusal", text);
  }

  protected begun(): JsonObject {
    return messageItem(this.id, [], "in_progress");
  }

  protected finish(status: Status): JsonObject {
    if (this.#parts.length === 0) this.#beginPart("output_text");
    this.#endPart();
    return messageItem(
      this.id,
      this.#parts.map(({ kind, text }) => partOf[kind](text)),
      status,
    );
  }

  #add(kind: PartKind, text: string): void {
    this.charge(text);
    if (this.#parts.at(-1)?.kind !== kind) this.#beginPart(kind);
    const part = this.#parts.at(-1)!;
    part.text += text;
    this.emitDelta(`${kind}.delta`, part.members, text);
  }

  #beginPart(kind: PartKind): void {
    this.#endPart();
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    const members = this.deltaMembers({ content_index: this.#parts.length, ...logprobs });
    this.#parts.push({ kind, members, text: "" });
    this.emit("content_part.added", { content_index: this.#parts.length - 1, part: partOf[kind]("") });
  }

  #endPart(): void {
    const part = this.#parts.at(-1);
    if (part === undefined) return;
    const index = { content_index: this.#parts.length - 1 };
    const { kind, text } = part;
    this.emit(`${kind}.done`, { ...index, ...(kind === "refusal" ? { refusal: text } : { text, logprobs: [] }) });
    this.emit("content_part.done", { ...index, part: partOf[kind](text) });
  }
}

export class ReasoningOutput extends OpenOutput {
  #text = "";
  #members: string | undefined;
  readonly #details: JsonObject[] = [];

  constructor(place: OutputPlace) {
    super(place, "reasoning");
  }

  add({ text, details }: Reasoning): void {
    this.charge(text);
    this.#details.push(...details);
    if (text === "") return;
    if (this.#text === "") this.#emitPart("reasoning_summary_part.added", "");
    this.#text += text;
    this.emitDelta("reasoning_summary_text.delta", (this.#members ??= this.deltaMembers({ summary_index: 0 })), text);
  }

  protected begun(): JsonObject {
    return { id: this.id, type: "reasoning", status: "in_progress", summary: [] };
  }

  protected finish(): JsonObject {
    if (this.#text !== "") {
      this.emit("reasoning_summary_text.done", { summary_index: 0, text: this.#text });
      this.#emitPart("reasoning_summary_part.done", this.#text);
    }
    return toReasoningItem(this.id, { text: this.#text, details: this.#details });
  }

  #emitPart(type: string, text: string): void {
    this.emit(type, { summary_index: 0, part: { type: "summary_text", text } });
  }
}

export class CallOutput extends OpenOutput {
  readonly #call: CalledTool;
  #arguments = "";
  #members: string | undefined;

  constructor(place: OutputPlace, call: CalledTool) {
    super(place, callType(call.tool));
    this.#call = call;
  }

  add(text: string): void {
    if (text === "") return;
    this.charge(text);
    this.#arguments += text;
    // The input of a custom tool is read from its JSON once this is complete.
    if (this.#call.tool.isCustom) return;
    this.emitDelta("function_call_arguments.delta", (this.#members ??= this.deltaMembers({})), text);
  }

  protected begun(): JsonObject {
    return callItem(this.id, this.#call, "in_progress");
  }

  protected finish(status: Status): JsonObject {
    const text = this.#arguments.trim() === "" ? "{}" : this.#arguments;
    const item = callItem(this.id, { ...this.#call, arguments: text }, status);
    if (this.#call.tool.isCustom) {
      const input = String(item["input"]);
      this.emit("custom_tool_call_input.delta", { delta: input });
      this.emit("custom_tool_call_input.done", { input });
    } else {
      this.emit("function_call_arguments.done", { name: this.#call.tool.name, arguments: text });
    }
    return item;
  }
}

/** Items of a response while they are generated, and the events that tell of them. */
import type { Reasoning } from "../chat/kept-reasoning.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { JsonObject } from "../json-object.ts";
import { toReasoningItem } from "./kept-reasoning.ts";
import { callItem, callType, itemId, messageItem, refusalPart, textPart, type CalledTool } from "./output-items.ts";

export type Emit = (type: string, members: JsonObject) => void;

type Status = "completed" | "incomplete";

export interface OutputPlace {
  readonly emit: Emit;
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
  readonly #parts: { readonly kind: PartKind; text: string }[] = [];

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
    this.#parts.at(-1)!.text += text;
    const logprobs = kind === "output_text" ? { logprobs: [] } : {};
    this.emit(`${kind}.delta`, { content_index: this.#parts.length - 1, delta: text, ...logprobs });
  }

  #beginPart(kind: PartKind): void {
    this.#endPart();
    this.#parts.push({ kind, text: "" });
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
    this.emit("reasoning_summary_text.delta", { summary_index: 0, delta: text });
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

  constructor(place: OutputPlace, call: CalledTool) {
    super(place, callType(call.tool));
    this.#call = call;
  }

  add(text: string): void {
    if (text === "") return;
    this.charge(text);
    this.#arguments += text;
    // The input of a custom tool is read from its JSON once this is complete.
    if (!this.#call.tool.isCustom) this.emit("function_call_arguments.delta", { delta: text });
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

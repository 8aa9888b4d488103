/** The chunks of a chat completion as the events of a streamed message. */
import type { ChatChunkChoice, ChatCompletionChunk, ChatDelta, ChatUsage, FinishReason } from "../api/chat-answer.ts";
import type { MessageRequest } from "../api/messages-request.ts";
import { reasoningOf } from "../chat/kept-reasoning.ts";
import type { ChunkTranslation, TranslationOutput } from "../chat/translate-chunks.ts";
import type { WireEvent } from "../engines/wire.ts";
import { AppError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import { pricedAnswer } from "../pricing/call-costs.ts";
import { JsonEnd } from "../streams/json-end.ts";
import { estimateUsage } from "./from-completion.ts";
import { MessageBlocks, type Emit, type MessageBlock } from "./message-blocks.ts";
import { toMessageUsage } from "./message-usage.ts";
import { toStop } from "./stop-reason.ts";
import { ThinkingStream } from "./thinking-stream.ts";
import { hidesThinking, wantsThinking } from "./thinking-blocks.ts";
import { toolNameReader } from "../chat/tool-names.ts";
import { toToolUseId } from "../chat/tool-use-id.ts";

type ToolCallPiece = NonNullable<ChatDelta["tool_calls"]>[number];

interface OpenToolCall {
  readonly block: MessageBlock;
  readonly end: JsonEnd;
}

export function toEvent(event: JsonObject & { readonly type: string }): WireEvent {
  return { name: event.type, data: JSON.stringify(event) };
}

class MessageStream implements ChunkTranslation {
  readonly #request: MessageRequest;
  readonly #nameOf: (name: string) => string;
  readonly #emit: Emit;
  readonly #toldCost: TranslationOutput["toldCost"];
  readonly #blocks: MessageBlocks;
  readonly #thinking: ThinkingStream | undefined;
  readonly #toolCalls = new Map<number, OpenToolCall>();
  #text: MessageBlock | undefined;
  #refusal = "";
  #hasText = false;
  #ending: ChatChunkChoice | undefined;
  #usage: ChatUsage | undefined;
  #isBegun = false;
  /** Characters of the answer. */
  #length = 0;

  constructor(request: MessageRequest, output: TranslationOutput) {
    this.#request = request;
    this.#emit = (event) => output.emit(toEvent(event));
    this.#toldCost = () => output.toldCost();
    this.#blocks = new MessageBlocks(this.#emit);
    this.#nameOf = toolNameReader(request.tools ?? []);
    this.#thinking = wantsThinking(request) ? new ThinkingStream(this.#blocks, hidesThinking(request)) : undefined;
  }

  add(chunk: ChatCompletionChunk): void {
    if (chunk.usage != null) this.#usage = chunk.usage;
    if (!this.#isBegun) this.#begin(chunk);
    for (const choice of chunk.choices) if (choice.index === 0) this.#addChoice(choice);
  }

  finish(): void {
    if (!this.#isBegun) throw new AppError("upstream_failed", "The engine's stream has no content.");
    this.#endText();
    this.#blocks.endAll();
    const { delta: _, ...ending } = this.#ending ?? { delta: {}, finish_reason: "stop" as FinishReason };
    const usage = toMessageUsage(this.#usage ?? estimateUsage(this.#request, this.#length));
    const delta = toStop(ending, this.#refusal, this.#request);
    this.#emit(pricedAnswer({ type: "message_delta", delta, usage }, this.#toldCost()));
    this.#emit({ type: "message_stop" });
  }

  /** Chat completions tell the usage at their end, so that the prompt's size is an estimate here. */
  #begin({ id, model }: ChatCompletionChunk): void {
    this.#isBegun = true;
    const usage = toMessageUsage(this.#usage ?? estimateUsage(this.#request, 0));
    const message = {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 0 },
    };
    this.#emit({ type: "message_start", message });
    this.#emit({ type: "ping" });
  }

  #addChoice(choice: ChatChunkChoice): void {
    const { delta } = choice;
    this.#length += (delta.content?.length ?? 0) + reasoningOf(delta).text.length;
    if (this.#thinking?.add(delta) === true) this.#endText(false);
    if (delta.content != null && delta.content !== "") this.#addText(delta.content);
    if (delta.refusal != null && delta.refusal !== "") {
      this.#refusal += delta.refusal;
      if (!this.#hasText) this.#addText(delta.refusal, false);
    }
    for (const piece of delta.tool_calls ?? []) this.#addToolCall(piece);
    if (choice.finish_reason !== null) this.#ending = choice;
  }

  #addText(text: string, isContent = true): void {
    this.#thinking?.end();
    this.#hasText ||= isContent;
    this.#text ??= this.#blocks.begin({ type: "text", text: "" });
    this.#blocks.add(this.#text, { type: "text_delta", text }, text.length);
  }

  #endText(endsThinking = true): void {
    if (endsThinking) this.#thinking?.end();
    if (this.#text !== undefined) this.#blocks.end(this.#text);
    this.#text = undefined;
  }

  #addToolCall(piece: ToolCallPiece): void {
    const { arguments: json = "", name = "" } = piece.function ?? {};
    let call = this.#toolCalls.get(piece.index);
    if (call === undefined) {
      this.#endText();
      const id = toToolUseId({ ...piece, id: piece.id ?? `call_${piece.index}` });
      const block = this.#blocks.begin({ type: "tool_use", id, name: this.#nameOf(name), input: {} });
      this.#toolCalls.set(piece.index, (call = { block, end: new JsonEnd() }));
    }
    this.#length += name.length + json.length;
    if (json === "" || (call.block.isEnded && json.trim() === "")) return;
    this.#blocks.add(call.block, { type: "input_json_delta", partial_json: json }, json.length);
    call.end.push(json);
    if (call.end.isComplete) this.#blocks.end(call.block);
  }
}

export function fromChunks(request: MessageRequest, output: TranslationOutput): ChunkTranslation {
  return new MessageStream(request, output);
}

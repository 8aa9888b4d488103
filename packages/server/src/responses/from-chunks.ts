/** The chunks of a chat completion as the events of a streamed response. */
import type { ChatCompletionChunk, ChatDelta, ChatUsage, FinishReason } from "../api/chat-answer.ts";
import type { ResponseRequest } from "../api/responses-request.ts";
import { isNone, reasoningOf } from "../chat/kept-reasoning.ts";
import type { ChunkTranslation, TranslationOutput } from "../chat/translate-chunks.ts";
import { AppError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import { pricedAnswer } from "../pricing/call-costs.ts";
import {
  CallOutput,
  MessageOutput,
  ReasoningOutput,
  type Emit,
  type EmitText,
  type OpenOutput,
} from "./open-output.ts";
import { ResponseEvent } from "./response-event.ts";
import { beginResponse, endResponse, itemStatus } from "./response-object.ts";
import { toolReader, type ClientTool } from "./tools.ts";

type ToolCallPiece = NonNullable<ChatDelta["tool_calls"]>[number];

class ResponseStream implements ChunkTranslation {
  readonly #request: ResponseRequest;
  readonly #toolOf: (name: string) => ClientTool;
  readonly #output: TranslationOutput;
  readonly #outputs: OpenOutput[] = [];
  readonly #calls = new Map<number, CallOutput>();
  #sequence = 0;
  #response: JsonObject | undefined;
  #id = "";
  /** What text or reasoning goes on; calls stay open, since their pieces may alternate. */
  #current: MessageOutput | ReasoningOutput | undefined;
  #reason: FinishReason | null = null;
  #usage: ChatUsage | undefined;

  constructor(request: ResponseRequest, output: TranslationOutput) {
    this.#request = request;
    this.#output = output;
    this.#toolOf = toolReader(request);
  }

  add(chunk: ChatCompletionChunk): void {
    if (chunk.usage != null) this.#usage = chunk.usage;
    if (this.#response === undefined) this.#begin(chunk);
    for (const { index, delta, finish_reason: reason } of chunk.choices) {
      if (index !== 0) continue;
      this.#addDelta(delta);
      if (reason !== null) this.#reason = reason;
    }
  }

  finish(): void {
    if (this.#response === undefined) throw new AppError("upstream_failed", "The engine's stream has no content.");
    // An answer without anything is an empty text.
    if (!this.#outputs.some((output) => !(output instanceof ReasoningOutput))) this.#message();
    const status = itemStatus(this.#reason);
    const last = this.#outputs.at(-1);
    const output = this.#outputs.map((each) => each.end(each === last ? status : "completed"));
    const response = endResponse(this.#response, { output, reason: this.#reason, usage: this.#usage });
    this.#emitResponse(String(response["status"]), pricedAnswer(response, this.#output.toldCost()));
  }

  readonly #emit: Emit = (type, members) => {
    const event = { type, sequence_number: this.#sequence++, ...members };
    this.#output.emit({ name: type, data: JSON.stringify(event) });
  };

  readonly #emitText: EmitText = (type, members, text) => {
    const delta = JSON.stringify(text);
    const data = `{"type":"${type}","sequence_number":${this.#sequence++},${members},"delta":${delta}}`;
    this.#output.emit({ name: type, data });
  };

  #emitResponse(state: string, response: JsonObject): void {
    const type = `response.${state}`;
    this.#output.emit(new ResponseEvent(type, { type, sequence_number: this.#sequence++, response }));
  }

  #begin(chunk: ChatCompletionChunk): void {
    this.#id = chunk.id;
    this.#response = beginResponse(chunk, this.#request);
    for (const state of ["created", "in_progress"]) this.#emitResponse(state, this.#response);
  }

  #addDelta(delta: ChatDelta): void {
    const reasoning = reasoningOf(delta);
    if (!isNone(reasoning)) this.#reasoning().add(reasoning);
    if (delta.content != null && delta.content !== "") this.#message().addText(delta.content);
    if (delta.refusal != null && delta.refusal !== "") this.#message().addRefusal(delta.refusal);
    for (const piece of delta.tool_calls ?? []) this.#addToolCall(piece);
  }

  #reasoning(): ReasoningOutput {
    if (this.#current instanceof ReasoningOutput) return this.#current;
    return (this.#current = this.#open(new ReasoningOutput(this.#place())));
  }

  #message(): MessageOutput {
    if (this.#current instanceof MessageOutput) return this.#current;
    return (this.#current = this.#open(new MessageOutput(this.#place())));
  }

  #addToolCall(piece: ToolCallPiece): void {
    const { arguments: text = "", name = "" } = piece.function ?? {};
    let call = this.#calls.get(piece.index);
    if (call === undefined) {
      const called = { ...piece, id: piece.id ?? `call_${piece.index}`, tool: this.#toolOf(name), arguments: "" };
      call = this.#open(new CallOutput(this.#place(), called));
      this.#current = undefined;
      this.#calls.set(piece.index, call);
    }
    call.add(text);
  }

  /** Ends what was open before, since text and reasoning do not go on after something else. */
  #open<Output extends OpenOutput>(output: Output): Output {
    this.#current?.end("completed");
    this.#outputs.push(output);
    output.begin();
    return output;
  }

  #place() {
    return { emit: this.#emit, emitText: this.#emitText, responseId: this.#id, index: this.#outputs.length };
  }
}

export function fromChunks(request: ResponseRequest, output: TranslationOutput): ChunkTranslation {
  return new ResponseStream(request, output);
}

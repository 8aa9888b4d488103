/** Collects an answer for telemetry as it passes: ID, model, finish reasons, and its content if the project records it. */
import type { ChatCompletion, ChatCompletionChunk, FinishReason } from "../api/chat-answer.ts";
import type { AnsweredChoice, RecordedAnswer } from "../finished-call.ts";

/** Content beyond this is not kept. */
const maximumCharacters = 1_048_576;
/** Overhead of a tool call, in addition to its strings. */
const charactersPerCall = 64;

interface ChoiceRecord {
  text: string;
  readonly toolCalls: { id: string; name: string; arguments: string }[];
}

export class AnswerRecord implements RecordedAnswer {
  id: string | undefined;
  model: string | undefined;
  readonly finishReasons: FinishReason[] = [];
  #choices: ChoiceRecord[] | undefined;
  #characters = 0;

  /** @param keepContent whether content is kept; a promise: kept until it resolves to false */
  constructor(keepContent: boolean | Promise<boolean>) {
    if (keepContent === false) return;
    this.#choices = [];
    if (keepContent === true) return;
    const forget = (): void => {
      this.#choices = undefined;
    };
    keepContent.then((keep) => keep || forget(), forget);
  }

  get choices(): readonly AnsweredChoice[] | undefined {
    return this.#choices;
  }

  addCompletion(completion: ChatCompletion): void {
    this.id = completion.id;
    this.model = completion.model;
    for (const { index, message, finish_reason: reason } of completion.choices) {
      if (reason !== null) this.finishReasons.push(reason);
      this.#addText(index, message.content ?? message.refusal);
      for (const [place, { id, function: called }] of (message.tool_calls ?? []).entries()) {
        this.#addToolCall(index, { index: place, id, function: called });
      }
    }
  }

  addChunk(chunk: ChatCompletionChunk): void {
    this.id ??= chunk.id;
    this.model ??= chunk.model;
    for (const { index, delta, finish_reason: reason } of chunk.choices) {
      if (reason !== null) this.finishReasons.push(reason);
      if (this.#choices === undefined) continue;
      this.#addText(index, delta.content ?? delta.refusal);
      for (const piece of delta.tool_calls ?? []) this.#addToolCall(index, piece);
    }
  }

  #addText(index: number, text: string | null | undefined): void {
    const choice = this.#choice(index, text?.length ?? 0);
    if (choice !== undefined && text != null) choice.text += text;
  }

  #addToolCall(
    index: number,
    piece: { index: number; id?: string; function?: { name?: string; arguments?: string } },
  ): void {
    const { arguments: text = "", name = "" } = piece.function ?? {};
    // Tool calls without arguments use memory as well.
    const choice = this.#choice(index, text.length + name.length + (piece.id === undefined ? 0 : charactersPerCall));
    if (choice === undefined) return;
    const call = (choice.toolCalls[piece.index] ??= { id: "", name: "", arguments: "" });
    call.id += piece.id ?? "";
    call.name += name;
    call.arguments += text;
  }

  /** The choice, or undefined once the limit is exceeded. */
  #choice(index: number, characters: number): ChoiceRecord | undefined {
    this.#characters += characters;
    if (this.#choices === undefined || this.#characters > maximumCharacters) return undefined;
    return (this.#choices[index] ??= { text: "", toolCalls: [] });
  }
}

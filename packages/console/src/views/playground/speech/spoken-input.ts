/** The input of a speech call, divided into words as the server reports when each is spoken. */
import type { TTSWordBoundaryEvent } from "@sounding/client";
import type { TextPiece } from "../audio/spoken-text.tsx";
import type { TimedWord } from "../audio/timed-words.ts";

export class SpokenInput {
  readonly words: TimedWord[] = [];
  /** Words and what is between them. */
  readonly pieces: TextPiece[] = [];
  readonly #input: string;
  #end = 0;

  constructor(input: string) {
    this.#input = input;
  }

  /** The text after the last word. */
  get rest(): string {
    return this.#input.slice(this.#end);
  }

  add({ text_offset, word_length, audio_offset_ms, duration_ms }: TTSWordBoundaryEvent): void {
    if (text_offset < this.#end) return;
    if (text_offset > this.#end) this.pieces.push(this.#input.slice(this.#end, text_offset));
    this.#end = text_offset + word_length;
    const text = this.#input.slice(text_offset, this.#end);
    this.pieces.push({ word: this.words.length, text });
    this.words.push({ text, start: audio_offset_ms / 1000, end: (audio_offset_ms + duration_ms) / 1000 });
  }
}

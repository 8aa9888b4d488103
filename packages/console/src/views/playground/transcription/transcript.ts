/** A transcript that grows with the events of a streamed transcription. */
import type { TranscriptionSegment, TranscriptionStreamEvent, TranscriptionWord } from "@sounding/client";
import type { TextPiece } from "../audio/spoken-text.tsx";
import type { TimedWord } from "../audio/timed-words.ts";

/** A segment and its text in pieces that can be clicked. */
export interface SegmentText {
  readonly segment: TranscriptionSegment;
  readonly pieces: readonly TextPiece[];
}

export class Transcript {
  /** All text so far. */
  text = "";
  readonly segments: SegmentText[] = [];
  readonly words: TranscriptionWord[] = [];
  /** What can be clicked: words, or whole segments where the times of words are not known. */
  readonly timed: TimedWord[] = [];
  /** How much of the text is in the segments. */
  #inSegments = 0;
  #nextWord = 0;

  /** The text after the last complete segment. */
  get tail(): string {
    return this.text.slice(this.#inSegments).trimStart();
  }

  take(event: TranscriptionStreamEvent): void {
    switch (event.type) {
      case "transcript.text.delta":
        this.text += event.delta;
        break;
      case "transcript.word": {
        const { type: _, ...word } = event;
        this.words.push(word);
        break;
      }
      case "transcript.segment":
        this.#addSegment(event.segment);
        break;
      case "transcript.text.done":
        this.text = event.text;
        break;
    }
  }

  #addSegment(segment: TranscriptionSegment): void {
    const at = this.text.indexOf(segment.text, this.#inSegments);
    if (at >= 0) this.#inSegments = at + segment.text.length;
    const words = this.words.slice(this.#nextWord);
    this.#nextWord = this.words.length;
    this.segments.push({ segment, pieces: this.#piecesOf(segment, words) });
  }

  #piecesOf({ text, start, end }: TranscriptionSegment, words: readonly TranscriptionWord[]): TextPiece[] {
    if (words.length === 0) {
      this.timed.push({ text, start, end });
      return [{ word: this.timed.length - 1, text }];
    }
    const pieces: TextPiece[] = [];
    let done = 0;
    const spelledAlike = words.every(({ word }) => {
      const at = text.indexOf(word, done);
      if (at >= 0) done = at + word.length;
      return at >= 0;
    });
    done = 0;
    for (const { word, start, end } of words) {
      const at = spelledAlike ? text.indexOf(word, done) : 0;
      const between = spelledAlike ? text.slice(done, at) : pieces.length === 0 ? "" : " ";
      if (between !== "") pieces.push(between);
      pieces.push({ word: this.timed.length, text: word });
      this.timed.push({ text: word, start, end });
      done = at + word.length;
    }
    if (spelledAlike && done < text.length) pieces.push(text.slice(done));
    return pieces;
  }
}

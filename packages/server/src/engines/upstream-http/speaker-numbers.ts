/** Numbers a transcription's speakers in the order in which an engine first names them. */
import type { TranscribedSegment } from "../engine.ts";

export class SpeakerNumbers {
  readonly #numbers = new Map<string, number>();

  /** Undefined if the engine named no speaker. */
  of(name: unknown): TranscribedSegment["speaker"] {
    if (name === undefined) return undefined;
    if ((typeof name !== "string" && typeof name !== "number") || name === "" || /^unknown$/i.test(String(name))) {
      return "unknown";
    }
    const key = String(name);
    const known = this.#numbers.get(key) ?? this.#numbers.size;
    this.#numbers.set(key, known);
    return known;
  }
}

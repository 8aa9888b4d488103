/**
 * Parses the events of a streaming transcription: OpenAI's, and vLLM's, which look like chat chunks.
 * https://platform.openai.com/docs/api-reference/audio/transcript-text-delta-event
 */
import { AppError } from "../../errors.ts";
import type { SseEvent } from "../../streams/sse-decoder.ts";
import type { TranscribedDelta, TranscribedSegment } from "../engine.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import { invalidTranscription } from "../upstream-http/invalid-response.ts";
import { SpeakerNumbers } from "../upstream-http/speaker-numbers.ts";
import { readSegments, wholeSegment } from "./read-transcription.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";
import { errorEvent, parseEvent } from "./parse-event.ts";

export class TranscriptionEvents {
  readonly #recording: { readonly durationMs: number };
  readonly #onLast: (event: JsonObject) => void;
  readonly #speakers = new SpeakerNumbers();
  /** The text of all deltas so far. */
  #sentText = "";
  #hasSegments = false;
  /** Of the last segment. */
  #endMs = 0;
  #isWhole = false;

  /** @param onLast called with the last event, which may tell the usage */
  constructor(recording: { readonly durationMs: number }, onLast: (event: JsonObject) => void) {
    this.#recording = recording;
    this.#onLast = onLast;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** @throws AppError upstream_failed for an invalid event, or the error in it */
  push({ data, type }: SseEvent): (TranscribedDelta | TranscribedSegment)[] {
    if (this.#isWhole) return [];
    if (data.startsWith("[DONE]")) return this.#done(undefined);
    if (type === "error") throw errorEvent(data);
    const event = parseEvent({ data, type });
    if (event === undefined) return [];
    const error = embeddedError(event);
    if (error !== undefined) throw error;
    switch (event["type"]) {
      case "error":
        throw embeddedError({ error: event }) ?? invalidTranscription("it contains an error without a message");
      case "transcript.text.delta":
        return this.#delta(event);
      case "transcript.text.segment":
        this.#hasSegments = true;
        return this.#segment(event);
      case "transcript.text.done":
        this.#onLast(event);
        return this.#done(event["text"]);
      case undefined:
        return chunkTexts(event).flatMap((text) => this.#send(text));
      default:
        return [];
    }
  }

  /** @throws AppError upstream_failed when the end did not come */
  end(): void {
    if (!this.#isWhole) throw new AppError("upstream_failed", "The engine's response ended before it was complete.");
  }

  /** Segments contain their whole text. */
  #delta({ delta, segment_id: segmentId }: JsonObject): TranscribedDelta[] {
    if (typeof delta !== "string") throw invalidTranscription("a delta has no text");
    return segmentId == null && !this.#hasSegments ? this.#send(delta) : [];
  }

  #send(text: string): TranscribedDelta[] {
    if (text === "") return [];
    this.#sentText += text;
    return [{ kind: "delta", text }];
  }

  #segment(event: JsonObject): TranscribedSegment[] {
    const within = { startMs: this.#endMs, endMs: this.#recording.durationMs };
    const segments = readSegments([{ speaker: null, ...event }], this.#speakers, within);
    this.#endMs = segments[0]!.endMs;
    return segments;
  }

  /** Sent text is never changed; the engine's final text may only extend it. */
  #done(said: unknown): TranscribedSegment[] {
    this.#isWhole = true;
    if (this.#hasSegments) return [];
    const text = typeof said === "string" && said.startsWith(this.#sentText) ? said : this.#sentText;
    return text.trim() === "" ? [] : [wholeSegment(text, this.#recording.durationMs)];
  }
}

/** `{"object": "transcription.chunk", "choices": [{"delta": {"content": "…"}}]}` */
function chunkTexts({ choices }: JsonObject): string[] {
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown) => {
    const content = isObject(choice) && isObject(choice["delta"]) ? choice["delta"]["content"] : undefined;
    return typeof content === "string" ? [content] : [];
  });
}

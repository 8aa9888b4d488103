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
import { readSegment, wholeSegment } from "./read-transcription.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";

export class TranscriptionEvents {
  readonly #recording: { readonly durationMs: number };
  readonly #speakers = new SpeakerNumbers();
  /** The text of all deltas so far. */
  #sentText = "";
  #hasSegments = false;
  #isWhole = false;

  constructor(recording: { readonly durationMs: number }) {
    this.#recording = recording;
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** @throws AppError upstream_failed for an invalid event, or the error in it */
  push({ data }: SseEvent): (TranscribedDelta | TranscribedSegment)[] {
    if (this.#isWhole) return [];
    if (data.startsWith("[DONE]")) return this.#done(undefined);
    const event = parse(data);
    const error = embeddedError(event);
    if (error !== undefined) throw error;
    switch (event["type"]) {
      case "error":
        throw embeddedError({ error: event }) ?? invalidTranscription("it contains an error without a message");
      case "transcript.text.delta":
        return this.#delta(event);
      case "transcript.text.segment":
        this.#hasSegments = true;
        return [readSegment({ speaker: null, ...event }, this.#speakers)];
      case "transcript.text.done":
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

  /** Sent text is never changed; the engine's final text may only extend it. */
  #done(said: unknown): TranscribedSegment[] {
    this.#isWhole = true;
    if (this.#hasSegments) return [];
    const text = typeof said === "string" && said.startsWith(this.#sentText) ? said : this.#sentText;
    return text.trim() === "" ? [] : [wholeSegment(text, this.#recording.durationMs)];
  }
}

function parse(data: string): JsonObject {
  try {
    const event: unknown = JSON.parse(data);
    if (isObject(event)) return event;
  } catch (error) {
    throw invalidTranscription("an event is not JSON", error);
  }
  throw invalidTranscription("an event is not an object");
}

/** `{"object": "transcription.chunk", "choices": [{"delta": {"content": "…"}}]}` */
function chunkTexts({ choices }: JsonObject): string[] {
  if (!Array.isArray(choices)) throw invalidTranscription("an event has no type");
  return choices.flatMap((choice: unknown) => {
    const content = isObject(choice) && isObject(choice["delta"]) ? choice["delta"]["content"] : undefined;
    return typeof content === "string" ? [content] : [];
  });
}

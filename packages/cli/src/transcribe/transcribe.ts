/** Reads a streamed transcription to its end: text as it arrives, words and segments with their times. */
import type { AsyncSounding, TranscriptionParams, TranscriptionSegment, TranscriptionWord } from "@sounding/client";

export interface Transcript {
  readonly text: string;
  readonly segments: readonly TranscriptionSegment[];
  readonly words: readonly TranscriptionWord[];
}

export interface TranscriptListener {
  onText(text: string): Promise<void>;
  onWord(word: TranscriptionWord): Promise<void>;
  /** The recording has been transcribed up to this many seconds. */
  onProgress(seconds: number): void;
}

/** Requests segments with their times, which show the progress, and words if wanted. */
export async function readTranscript(
  client: AsyncSounding,
  params: TranscriptionParams & { readonly words: boolean },
  { signal, listener }: { signal: AbortSignal | undefined; listener: TranscriptListener },
): Promise<Transcript> {
  const { words: wantsWords, ...rest } = params;
  const granularities = wantsWords ? (["segment", "word"] as const) : (["segment"] as const);
  const segments: TranscriptionSegment[] = [];
  const words: TranscriptionWord[] = [];
  let text = "";
  const stream = await client.audio.transcriptions.create(
    { ...rest, stream: true, response_format: "verbose_json", timestamp_granularities: [...granularities] },
    { signal },
  );
  for await (const event of stream) {
    switch (event.type) {
      case "transcript.text.delta":
        await listener.onText(event.delta);
        break;
      case "transcript.word": {
        const { type: _, ...word } = event;
        words.push(word);
        await listener.onWord(word);
        listener.onProgress(word.end);
        break;
      }
      case "transcript.segment":
        segments.push(event.segment);
        listener.onProgress(event.segment.end);
        break;
      case "transcript.text.done":
        text = event.text;
    }
  }
  return { text, segments, words };
}

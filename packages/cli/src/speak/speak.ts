/** Requests the speech of successive texts, and passes on audio and word boundaries as they arrive. */
import type { AsyncSounding, SpeechParams, TTSWordBoundaryEvent } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import type { AudioSink } from "./audio-sink.ts";

/** Options that all texts share. */
export type SpeechSettings = Omit<SpeechParams, "input" | "response_format">;

export interface Spoken {
  readonly audioBytes: number;
  /** Hertz; undefined if the server does not report it. */
  readonly sampleRate: number | undefined;
}

/**
 * Afterwards the sink has ended or is abandoned. Texts that contain only white space are skipped.
 * @throws CliError if the server does not report the rate of raw samples
 */
export async function speakTexts(
  client: AsyncSounding,
  { texts, settings, sink }: { texts: AsyncIterable<string>; settings: SpeechSettings; sink: AudioSink },
  { signal, onBoundary }: { signal: AbortSignal; onBoundary: (boundary: TTSWordBoundaryEvent) => Promise<void> },
): Promise<Spoken> {
  let begun = false;
  let audioBytes = 0;
  let sampleRate: number | undefined;
  try {
    for await (const input of texts) {
      if (input.trim() === "") continue;
      const params = {
        ...settings,
        input,
        response_format: sink.wireFormat,
        // All pieces become one recording.
        ...(sampleRate === undefined ? {} : { sample_rate: sampleRate as SpeechParams["sample_rate"] }),
      };
      const stream = await client.audio.speech.with_streaming_response.create(params, { signal });
      if (!begun) {
        sampleRate = rateOf(stream.head.headers.get("x-sample-rate")) ?? settings.sample_rate ?? undefined;
        if (sampleRate === undefined && sink.wireFormat === "pcm") {
          throw new CliError("the server does not report the sample rate; request one with --rate");
        }
        await sink.begin(sampleRate);
        begun = true;
      }
      for await (const item of stream) {
        if (item instanceof Uint8Array) {
          audioBytes += item.length;
          await sink.write(item);
        } else await onBoundary(item);
        signal.throwIfAborted();
      }
      await sink.pieceEnded();
    }
    await (audioBytes > 0 ? sink.end() : sink.abandon());
    return { audioBytes, sampleRate };
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

function rateOf(header: string | null): number | undefined {
  const rate = Number(header ?? NaN);
  return Number.isInteger(rate) && rate > 0 ? rate : undefined;
}

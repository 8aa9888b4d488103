/** Cuts a recording into segments of speech while it arrives. */
import { SampleHistory } from "./sample-history.ts";
import { createVoiceDetector, type VoiceEvent } from "./voice-detector.ts";

/** What comes, in order: a start, the samples of the segment as they come, an end; and so on. */
export type SegmentEvent =
  | { readonly type: "start"; /** First sample of the segment, its padding included. */ readonly sample: number }
  | { readonly type: "samples"; readonly samples: Float32Array }
  | { readonly type: "end"; /** The sample after the segment's last. */ readonly sample: number };

export interface SegmentOptions {
  readonly sampleRate: number;
  /** Sound kept before detected speech, in ms; segments never overlap. */
  readonly prefixPaddingMs: number;
  /** Silence that ends a segment, in ms. */
  readonly silenceDurationMs: number;
  /** Segments of at least this length also end at shorter pauses; both in ms. Undefined: they do not. */
  readonly longSpeech?: { readonly lengthMs: number; readonly pauseMs: number } | undefined;
}

/** Sound kept after the last that was detected: words fade out. */
const suffixPaddingMs = 300;
/** Longer than a detector looks back for the beginning of speech. */
const lookBackMs = 1500;

/** The segments of speech among mono samples, cut while they come. Leaving early closes the source. */
export async function* segmentSpeech(
  source: AsyncIterable<Float32Array>,
  { sampleRate, prefixPaddingMs, silenceDurationMs, longSpeech }: SegmentOptions,
): AsyncGenerator<SegmentEvent, void> {
  const pauseDurationMs = longSpeech?.pauseMs;
  const detector = await createVoiceDetector({ sampleRate, silenceDurationMs, pauseDurationMs });
  const inSamples = (milliseconds: number): number => Math.round((milliseconds * sampleRate) / 1000);
  const history = new SampleHistory();
  const historyLength = inSamples(prefixPaddingMs + lookBackMs);
  let speaking = false;
  /** Everything before this sample was given, or belongs to no segment. */
  let position = 0;
  /** Of the current segment. */
  let start = 0;

  function* begin(sample: number): Generator<SegmentEvent> {
    position = start = sample;
    yield { type: "start", sample };
  }
  function* finish(sample: number): Generator<SegmentEvent> {
    const end = Math.max(position, Math.min(history.end, sample));
    if (end > position) yield { type: "samples", samples: history.slice(position, end) };
    position = end;
    yield { type: "end", sample: end };
  }
  function* change(event: VoiceEvent): Generator<SegmentEvent> {
    if (event.type === "start") {
      speaking = true;
      yield* begin(Math.max(position, history.first, event.sample - inSamples(prefixPaddingMs)));
    } else if (event.type === "pause") {
      if (event.sample - start < inSamples(longSpeech?.lengthMs ?? Infinity)) return;
      // Nothing is lost between the two segments.
      yield* finish(Math.round((event.sample + event.until) / 2));
      yield* begin(position);
    } else {
      speaking = false;
      yield* finish(event.sample + inSamples(suffixPaddingMs));
    }
  }
  /** During speech everything is yielded except the suffix's length, which the end may have to cut. */
  function* give(): Generator<SegmentEvent> {
    const until = history.end - inSamples(suffixPaddingMs + silenceDurationMs);
    if (!speaking || until <= position) return;
    yield { type: "samples", samples: history.slice(position, until) };
    position = until;
  }

  for await (const samples of source) {
    const past = history.end - historyLength;
    history.push(samples);
    history.forgetBefore(speaking ? Math.min(position, past) : past);
    for (const event of detector.push(samples)) yield* change(event);
    yield* give();
  }
  for (const event of detector.end()) yield* change(event);
}

/** Collects whole segments of speech, none longer than an engine accepts. */
import { joinSamples } from "./samples.ts";
import { segmentSpeech, type SegmentOptions } from "./segment-speech.ts";

export interface SpeechSegment {
  /** Seconds from the beginning of the recording. */
  readonly start: number;
  readonly samples: Float32Array<ArrayBuffer>;
}

export interface SpeechSegmentOptions extends SegmentOptions {
  /** Longest segment, in seconds; a longer one is cut where it is quietest. */
  readonly longest: number;
}

/** Share of a long segment, from its end, in which it may be cut. */
const cutWithin = 0.4;
/** Typical pause between words, in seconds. */
const pause = 0.1;

/** The segments among mono samples, each as soon as it has ended. Leaving the loop early closes the source. */
export async function* speechSegments(
  source: AsyncIterable<Float32Array>,
  options: SpeechSegmentOptions,
): AsyncGenerator<SpeechSegment, void> {
  const { sampleRate } = options;
  const most = Math.round(options.longest * sampleRate);
  const toSegment = (taken: { start: number; samples: Float32Array<ArrayBuffer> }): SpeechSegment => ({
    ...taken,
    start: taken.start / sampleRate,
  });
  let collected = collect(0);
  for await (const piece of segmentSpeech(source, options)) {
    if (piece.type === "start") collected = collect(piece.sample);
    else if (piece.type === "samples") {
      collected.push(piece.samples);
      while (collected.length > most)
        yield toSegment(
          collected.take((whole) =>
            quietestPlace(whole, { from: Math.round(most * (1 - cutWithin)), to: most, sampleRate }),
          ),
        );
    } else if (collected.length > 0) yield toSegment(collected.take((whole) => whole.length));
  }
}

/** Samples of one segment, from its first on. */
function collect(first: number) {
  let start = first;
  let pieces: Float32Array[] = [];
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(samples: Float32Array) {
      pieces.push(samples);
      length += samples.length;
    },
    /** Those before the place that is chosen; the rest stays. */
    take(choose: (whole: Float32Array) => number) {
      const whole = joinSamples(pieces);
      const place = choose(whole);
      const taken = { start, samples: whole.slice(0, place) };
      pieces = [whole.subarray(place)];
      start += place;
      length -= place;
      return taken;
    },
  };
}

/** Where the samples are quietest within a range; its end if that is shorter than a pause. */
export function quietestPlace(
  samples: Float32Array,
  { from, to, sampleRate }: { readonly from: number; readonly to: number; readonly sampleRate: number },
): number {
  const window = Math.round(pause * sampleRate);
  const half = Math.floor(window / 2);
  let best = to;
  let least = Infinity;
  for (let at = from; at + window <= to; at += half) {
    let energy = 0;
    for (const sample of samples.subarray(at, at + window)) energy += sample * sample;
    if (energy >= least) continue;
    least = energy;
    best = at + half;
  }
  return best;
}

/** Defines what transforms samples as they flow: a resampler, a time stretcher. */

/** A stream of samples in, a stream of samples out; the same samples come out however the input is cut. */
export interface SampleStream {
  /** Takes the next samples and returns those that are ready, maybe none. */
  push(samples: Float32Array): Float32Array;
  /** Returns the remaining samples. Nothing may be pushed afterwards. */
  end(): Float32Array;
}

/** A stream that changes nothing. */
export function passThrough(): SampleStream {
  return { push: (samples) => samples, end: () => new Float32Array(0) };
}

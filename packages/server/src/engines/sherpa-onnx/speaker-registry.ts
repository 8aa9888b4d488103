/**
 * Identifies the speakers of one recording while it arrives: a voice belongs to the most similar known speaker, or to a new
 * one.
 * docs/adr/0017-transcription.md
 */

/** From 0 in order of first appearance; "unknown" for a voice that spoke too briefly. */
export type Speaker = number | "unknown";

interface KnownVoice {
  /** Sum of the embeddings, each of length 1. */
  readonly sum: Float32Array;
}

export class SpeakerRegistry {
  readonly #threshold: number;
  readonly #known: KnownVoice[] = [];

  /** @param threshold cosine distance up to which two voices are one speaker's */
  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  /** Whose voice it is. */
  identify(embedding: Float32Array | undefined): Speaker {
    const voice = embedding === undefined ? undefined : normalized(embedding);
    if (voice === undefined) return "unknown";
    let best = -1;
    let least = Infinity;
    for (const [index, { sum }] of this.#known.entries()) {
      const distance = 1 - dot(voice, normalized(sum) ?? sum);
      if (distance >= least) continue;
      least = distance;
      best = index;
    }
    if (least > this.#threshold) {
      this.#known.push({ sum: voice });
      return this.#known.length - 1;
    }
    const { sum } = this.#known[best]!;
    for (const [index, value] of voice.entries()) sum[index]! += value;
    return best;
  }
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

/** Of length 1; undefined for a vector without a direction. */
function normalized(vector: Float32Array): Float32Array | undefined {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 && Number.isFinite(length) ? vector.map((value) => value / length) : undefined;
}

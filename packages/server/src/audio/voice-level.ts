/**
 * Brings voices to one loudness: a constant gain, and a limiter for the peaks that it raises too far. Mono speech, as
 * podcasts and assistants publish it: https://www.aes.org/technical/documentDownloads.cfm?docID=731
 */
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";

/** Loudness of every local voice, in LUFS (ITU-R BS.1770). */
export const targetLoudness = -20;
/** Highest sample, in dBFS: resampling and encoding raise peaks by less than 1 dB, so the true peak stays below −1 dBTP. */
const ceiling = fromDecibels(-2);
/** The limiter's gain changes linearly within a block. */
const blockSeconds = 0.01;
/** How fast the gain falls before a peak and recovers after it, per block. */
const attack = fromDecibels(3);
const release = fromDecibels(1);
/** Blocks between two looks at the clock. */
const blocksPerStep = 100;

/** The gain that brings a voice of this loudness to the target. */
export function gainFor(loudness: number): number {
  return fromDecibels(targetLoudness - loudness);
}

/** Multiplies the samples in place, without exceeding the ceiling. */
export async function applyGain(samples: Float32Array, sampleRate: number, gain: number): Promise<void> {
  const slices = new CooperativeYield();
  const size = Math.max(1, Math.round(sampleRate * blockSeconds));
  const limits = new Float32Array(Math.ceil(samples.length / size)).fill(1);
  let limited = false;
  for (let block = 0; block < limits.length; block++) {
    let peak = 0;
    const end = Math.min(samples.length, (block + 1) * size);
    for (let index = block * size; index < end; index++) {
      const sample = samples[index]! * gain;
      samples[index] = sample;
      peak = Math.max(peak, Math.abs(sample));
    }
    if (peak > ceiling) {
      limits[block] = ceiling / peak;
      limited = true;
    }
    if (block % blocksPerStep === 0 && slices.isDue(longStep)) await slices.yield();
  }
  if (!limited) return;
  for (let block = 1; block < limits.length; block++) {
    limits[block] = Math.min(limits[block]!, limits[block - 1]! * release);
  }
  for (let block = limits.length - 2; block >= 0; block--) {
    limits[block] = Math.min(limits[block]!, limits[block + 1]! * attack);
  }
  // At the edge of two blocks the gain is the lower of theirs, so within a block it never exceeds the block's own.
  const edge = (block: number): number => Math.min(limits[block] ?? 1, limits[block - 1] ?? 1);
  for (let block = 0; block < limits.length; block++) {
    const [from, to] = [edge(block), edge(block + 1)];
    if (from === 1 && to === 1) continue;
    const end = Math.min(samples.length, (block + 1) * size);
    for (let index = block * size; index < end; index++) {
      samples[index]! *= from + ((to - from) * (index - block * size)) / size;
    }
    if (block % blocksPerStep === 0 && slices.isDue(longStep)) await slices.yield();
  }
}

function fromDecibels(decibels: number): number {
  return 10 ** (decibels / 20);
}

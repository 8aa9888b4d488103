/** Decodes utterances with PocketSphinx and its US English model: cepstra in, words out. */
import koffi from "koffi";
import type { Installation } from "../installation.ts";
import type { RecognizedWord } from "../protocol.ts";
import { coefficients, frameMs } from "./mel-cepstrum.ts";
import { openPocketSphinx, type Native, type PocketSphinx } from "./pocketsphinx-library.ts";

export interface Decoder {
  begin(): void;
  /** The next frames, at most `mostFrames`, with their mean already subtracted. */
  decode(frames: readonly Float32Array[]): void;
  /** Ends the utterance: its words with their probabilities. */
  end(): RecognizedWord[];
}

/** Frames decoded at a time, a tenth of a second; messages are handled in between. */
export const mostFrames = 10;
/**
 * Paths that the search follows in a frame. Clear speech never needs as many; in noise the library's 30 000 cost twice the
 * time (bench/README.md).
 */
const mostPaths = 10_000;
/** Frames on each side that the decoder needs for a frame's derivatives. */
const contextFrames = 3;

/** @throws Error when the library or the model cannot be used */
export function createDecoder(installation: Installation): Decoder {
  const library = openPocketSphinx(installation);
  const native = library.createDecoder({
    hmm: installation.acousticModel,
    lm: installation.languageModel,
    dict: installation.dictionary,
    cmn: "none",
    maxhmmpf: mostPaths,
  });
  const buffer = createFrameBuffer();
  let last: Float32Array | undefined;

  const decode = (frames: readonly Float32Array[]): void => {
    if (frames.length === 0) return;
    last = frames.at(-1);
    library.forgetMean(native);
    check(library.processCepstra(native, buffer.hold(frames), frames.length, 0, 0));
  };
  return {
    begin() {
      last = undefined;
      check(library.startUtterance(native));
    },
    decode,
    end() {
      // The decoder keeps the last frames back until others follow.
      if (last !== undefined) decode(Array.from({ length: contextFrames }, () => last!));
      check(library.endUtterance(native));
      return readWords(library, native);
    },
  };
}

function check(status: number): void {
  if (status < 0) throw new Error(`PocketSphinx failed with ${status}.`);
}

/** Memory of a fixed place from which the decoder reads frames. */
function createFrameBuffer(): { hold(frames: readonly Float32Array[]): BigUint64Array } {
  const bytesPerFrame = coefficients * Float32Array.BYTES_PER_ELEMENT;
  const memory: Native = koffi.alloc("float", mostFrames * coefficients);
  const values = new Float32Array(koffi.view(memory, mostFrames * bytesPerFrame));
  const address = koffi.address(memory);
  const rows = BigUint64Array.from({ length: mostFrames }, (_, row) => address + BigInt(row * bytesPerFrame));
  return {
    hold(frames) {
      for (const [row, frame] of frames.entries()) values.set(frame, row * coefficients);
      return rows;
    },
  };
}

function readWords(library: PocketSphinx, native: Native): RecognizedWord[] {
  const logarithms = library.logarithms(native);
  const words: RecognizedWord[] = [];
  for (let segment = library.firstSegment(native); segment !== null; segment = library.nextSegment(segment)) {
    const text = toText(library.segmentWord(segment));
    if (text === undefined) continue;
    const [start, end]: [[number], [number]] = [[0], [0]];
    library.segmentFrames(segment, start, end);
    const posterior = library.exponential(logarithms, library.segmentPosterior(segment, null, null, null));
    words.push({
      text,
      startMs: start[0] * frameMs,
      endMs: (end[0] + 1) * frameMs,
      confidence: Math.min(Math.max(posterior, 0), 1),
    });
  }
  return words;
}

/** The word of a dictionary entry: silences and noises are not words, further pronunciations have a number. */
function toText(entry: string | null): string | undefined {
  if (entry === null || /^[<[+]/.test(entry)) return undefined;
  return entry.replace(/\(\d+\)$/, "");
}

/** Turns an engine's marks into word boundaries, with text and times relative to the whole input. */
import type { BoundaryType } from "../api/speech-request.ts";
import type { WordBoundary } from "../api/speech.ts";
import type { SpeechMark, SpeechPiece } from "../engines/engine.ts";

/** Groups pieces that are sent together: a sentence if its boundary is requested, because its duration must be known. */
export async function* groupPieces(
  pieces: AsyncIterable<SpeechPiece>,
  bySentence: boolean,
): AsyncGenerator<readonly SpeechPiece[], void, undefined> {
  let group: SpeechPiece[] = [];
  for await (const piece of pieces) {
    if (group.length > 0 && (!bySentence || piece.sentence !== undefined)) {
      yield group;
      group = [];
    }
    group.push(piece);
    if (bySentence) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

interface BoundaryOptions {
  readonly input: string;
  readonly wanted: ReadonlySet<BoundaryType>;
  /** Start of the first piece in the whole audio. */
  readonly startMs: number;
}

/** The boundaries of a group of pieces in order of time, a sentence before its first word. */
export function boundariesOf(group: readonly SpeechPiece[], options: BoundaryOptions): WordBoundary[] {
  const marks = timed(group, options.startMs);
  const toBoundary = (type: BoundaryType, mark: Omit<SpeechMark, "kind">): WordBoundary => ({
    type: "word_boundary",
    text: options.input.slice(mark.offset, mark.offset + mark.length),
    audio_offset_ms: tenths(mark.startMs),
    duration_ms: tenths(mark.durationMs),
    text_offset: mark.offset,
    word_length: mark.length,
    boundary_type: type,
  });
  const boundaries = marks.filter(({ kind }) => options.wanted.has(kind)).map((mark) => toBoundary(mark.kind, mark));
  const sentence = group[0]?.sentence;
  const [first, last] = [marks[0], marks.at(-1)];
  if (!options.wanted.has("sentence") || sentence === undefined || first === undefined || last === undefined) {
    return boundaries;
  }
  // The pause after a sentence belongs to its last sign, not to the sentence.
  const words = marks.filter(({ kind }) => kind === "word");
  const endMs = (words.length > 0 ? words : marks).reduce(
    (latest, { startMs, durationMs }) => Math.max(latest, startMs + durationMs),
    first.startMs,
  );
  return [
    toBoundary("sentence", { ...sentence, startMs: first.startMs, durationMs: endMs - first.startMs }),
    ...boundaries,
  ];
}

function timed(group: readonly SpeechPiece[], startMs: number): SpeechMark[] {
  let pieceStartMs = startMs;
  return group.flatMap(({ marks, samples, sampleRate }) => {
    const offsetMs = pieceStartMs;
    pieceStartMs += (samples.length / sampleRate) * 1_000;
    return marks.map((mark) => ({ ...mark, startMs: mark.startMs + offsetMs }));
  });
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/**
 * Accumulates an engine's output into text, words and segments for the response. Batch and streaming responses use the same.
 */
import type { TranscriptionStreamEvent, TranscriptionVerbose } from "../api/transcription.ts";
import { AppError } from "../errors.ts";
import type { TranscribedDelta, TranscribedSegment, TranscribedWord } from "../engines/engine.ts";
import { reportedLanguage } from "./prepare.ts";

type Segment = TranscriptionVerbose["segments"][number];
type Word = NonNullable<TranscriptionVerbose["words"]>[number];
type Logprob = NonNullable<Extract<TranscriptionStreamEvent, { type: "transcript.text.done" }>["logprobs"]>[number];

interface TranscriptOptions {
  readonly granularities: ReadonlySet<"segment" | "word">;
  readonly logprobs: boolean;
  /** As requested; undefined: what the engine found is reported. */
  readonly language: string | undefined;
}

/** Replaces a probability of zero, whose logarithm is not a JSON number. */
const leastProbability = 1e-10;

export class Transcript {
  readonly segments: Segment[] = [];
  readonly words: Word[] = [];
  /** Filled if requested and known. */
  readonly logprobs: Logprob[] = [];
  /** In order of first appearance; empty without diarization. */
  readonly speakers = new Set<string>();
  readonly #wanted: TranscriptOptions;
  readonly #confidence = { sum: 0, count: 0 };
  /** Milliseconds of speech in each language that the engine reported. */
  readonly #languages = new Map<string, number>();
  #text = "";
  /** White space that is sent only if text follows. */
  #space = "";
  /** The part of the current segment that was sent. */
  #sent = "";

  constructor(wanted: TranscriptOptions) {
    this.#wanted = wanted;
  }

  get text(): string {
    return this.#text;
  }

  /** The language of most of the speech, if the engine reports it. */
  get language(): string | undefined {
    const [most] = [...this.#languages].sort(([, one], [, other]) => other - one);
    return most?.[0];
  }

  /** Mean of the words' confidence; undefined if the engine does not report it. */
  get confidence(): number | undefined {
    const { sum, count } = this.#confidence;
    return count === 0 ? undefined : sum / count;
  }

  /**
   * Adds a delta or segment.
   * @throws AppError upstream_failed if a segment contradicts its deltas
   */
  *push(item: TranscribedDelta | TranscribedSegment): Generator<TranscriptionStreamEvent, void, undefined> {
    if (item.kind === "delta") {
      yield* this.#send(item.text);
      return;
    }
    if (item.text.trim() === "" && this.#sent.trim() === "") return;
    if (!item.text.startsWith(this.#sent)) {
      throw new AppError("upstream_failed", "The engine withdrew text that it had reported as final.");
    }
    yield* this.#send(item.text.slice(this.#sent.length));
    this.#sent = "";
    yield* this.#finishSegment(item);
  }

  /** The final event. */
  done(): TranscriptionStreamEvent {
    const logprobs = this.logprobs.length > 0 ? this.logprobs : null;
    const found = this.#wanted.language === undefined && this.language !== undefined;
    const language = found ? { language: reportedLanguage(undefined, this.language) } : {};
    return { type: "transcript.text.done", text: this.#text, logprobs, ...language };
  }

  *#send(text: string): Generator<TranscriptionStreamEvent, void, undefined> {
    if (text === "") return;
    const begins = this.#sent === "";
    this.#sent += text;
    if (begins && this.#space === "" && !/^\s/.test(text)) this.#space = " ";
    const all = this.#space + text;
    const visible = this.#text === "" ? all.trim() : all.trimEnd();
    this.#space = all.slice(all.trimEnd().length);
    if (visible === "") return;
    this.#text += visible;
    yield { type: "transcript.text.delta", delta: visible, text: visible, logprobs: null };
  }

  *#finishSegment(item: TranscribedSegment): Generator<TranscriptionStreamEvent, void, undefined> {
    const id = this.segments.length;
    if (item.language !== undefined) {
      const ms = this.#languages.get(item.language) ?? 0;
      this.#languages.set(item.language, ms + item.endMs - item.startMs);
    }
    const segment = toSegment(item, id);
    this.segments.push(segment);
    if (segment.speaker_id !== undefined) this.speakers.add(segment.speaker_id);
    for (const each of item.words ?? []) {
      const word = toWord(each, id);
      if (word.confidence !== undefined) {
        this.#confidence.sum += word.confidence;
        this.#confidence.count++;
        if (this.#wanted.logprobs) this.logprobs.push(toLogprob(word.word, word.confidence));
      }
      if (!this.#wanted.granularities.has("word")) continue;
      this.words.push(word);
      yield { type: "transcript.word", ...word };
    }
    if (this.#wanted.granularities.has("segment")) yield { type: "transcript.segment", segment };
  }
}

function toSegment(item: TranscribedSegment, id: number): Segment {
  const text = item.text.trim();
  const start = toSeconds(item.startMs);
  return {
    id,
    seek: start,
    start,
    end: Math.max(start, toSeconds(item.endMs)),
    text,
    avg_logprob: meanLogprob(item),
    compression_ratio: charactersAWord(text),
    ...(item.speaker === undefined
      ? {}
      : { speaker_id: item.speaker === "unknown" ? "Unknown" : `Guest-${item.speaker + 1}` }),
  };
}

function toWord({ text, startMs, endMs, confidence }: TranscribedWord, segment: number): Word {
  const start = toSeconds(startMs);
  return {
    word: text.trim(),
    start,
    end: Math.max(start, toSeconds(endMs)),
    ...(confidence === undefined || Number.isNaN(confidence) ? {} : { confidence: rounded(clamped(confidence, 0, 1)) }),
    segment,
  };
}

function toLogprob(word: string, confidence: number): Logprob {
  return { token: word, bytes: [...Buffer.from(word)], logprob: rounded(logarithm(confidence)) };
}

/** The mean over the words' confidence (docs/reference/interface.md), else the engine's value for the segment, else 0. */
function meanLogprob({ words = [], avgLogprob }: TranscribedSegment): number {
  const known = words.flatMap(({ confidence = Number.NaN }) =>
    Number.isNaN(confidence) ? [] : [logarithm(confidence)],
  );
  if (known.length > 0) return rounded(known.reduce((sum, each) => sum + each, 0) / known.length);
  if (avgLogprob === undefined || Number.isNaN(avgLogprob)) return 0;
  return rounded(clamped(avgLogprob, Math.log(leastProbability), 0));
}

function logarithm(probability: number): number {
  return Math.log(clamped(probability, leastProbability, 1));
}

function charactersAWord(text: string): number {
  const words = text.split(/\s+/);
  return rounded(Array.from(words.join("")).length / words.length);
}

function toSeconds(ms: number): number {
  return Math.max(0, Math.round(ms)) / 1_000;
}

function clamped(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** To four decimals. */
function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

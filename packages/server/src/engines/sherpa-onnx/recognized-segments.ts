/** Builds segments from a recognized stretch: one of each sentence, if the model says when the parts of its text begin and end. */
import type { TranscribedSegment, TranscribedWord } from "../engine.ts";
import { detectedLanguage } from "./languages.ts";
import { recognitionRate } from "./library-settings.ts";
import type { RecognizedPart, Recognition } from "./protocol.ts";
import type { RecognizedStretch } from "./recognize-whole.ts";
import { recognizedWords } from "./recognized-words.ts";

/** None if nothing was recognized. */
export function recognizedSegments({ start, samples, recognition }: RecognizedStretch): TranscribedSegment[] {
  const text = recognition.text.trim();
  if (!isSaid(text)) return [];
  const end = start + samples.length / recognitionRate;
  const words = recognizedWords({ ...recognition, text }, { begin: start, end });
  const sentences = sentencesOf(recognition);
  let begin = start;
  let taken = 0;
  return sentences.flatMap((sentence, index): TranscribedSegment[] => {
    const next = sentences[index + 1]?.start;
    const until = Math.max(begin, Math.min(end, next === undefined ? end : start + next));
    const last = Math.max(begin, Math.min(until, sentence.end === undefined ? until : start + sentence.end));
    const own = words === undefined ? undefined : wordsOf(sentence.text, words, taken);
    taken += own?.length ?? 0;
    const startMs = Math.round(begin * 1000);
    begin = until;
    if (!isSaid(sentence.text)) return [];
    return [
      {
        kind: "segment",
        text: sentence.text,
        startMs: own?.[0]?.startMs ?? startMs,
        endMs: own?.at(-1)?.endMs ?? Math.round(last * 1000),
        words: own,
        avgLogprob: undefined,
        speaker: undefined,
        language: detectedLanguage(recognition.language),
      },
    ];
  });
}

/** Of noise, models may say "[" or "...". */
function isSaid(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

type Sentence = { -readonly [Member in keyof RecognizedPart]: RecognizedPart[Member] };

const sentenceEnd = /[.?!…。！？।؟]["'”’»›」』)\]]*\s*$/u;

/** The whole text as one sentence if the parts are not exactly the text. */
function sentencesOf({ text, parts }: Recognition): Sentence[] {
  if (lettersIn(parts.map((part) => part.text).join("")) !== lettersIn(text))
    return [{ text: text.trim(), start: 0, end: undefined }];
  const sentences: Sentence[] = [];
  for (const part of parts) {
    const before = sentences.at(-1);
    if (before === undefined || sentenceEnd.test(before.text)) sentences.push({ ...part });
    else {
      before.text += part.text;
      before.end = part.end;
    }
  }
  return sentences.map((sentence) => ({ ...sentence, text: sentence.text.trim() }));
}

/** The words of a sentence, which are all its characters except white space, from this word on. */
function wordsOf(sentence: string, words: readonly TranscribedWord[], from: number): TranscribedWord[] {
  let left = lettersIn(sentence);
  let to = from;
  for (; to < words.length && left > 0; to++) left -= lettersIn(words[to]!.text);
  return words.slice(from, to);
}

function lettersIn(text: string): number {
  return text.replaceAll(/\s/g, "").length;
}

/** Subtitles of a transcript, as SubRip and WebVTT. */
import type { TranscriptionSegment, TranscriptionWord } from "@sounding/client";

interface Cue {
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly speaker: string | undefined;
}

export interface Spoken {
  readonly segments: readonly TranscriptionSegment[];
  /** Empty if their times are not known. */
  readonly words: readonly TranscriptionWord[];
}

/** Two lines of 42 characters and seven seconds are what viewers can read. https://partnerhelp.netflixstudios.com/hc/en-us/articles/217350977 */
const longestText = 84;
const longestSeconds = 7;

/** A number, times, text, an empty line. https://en.wikipedia.org/wiki/SubRip */
export function toSubRip(spoken: Spoken): string {
  return cuesOf(spoken)
    .map(({ start, end, text, speaker }, index) => {
      const said = speaker === undefined ? text : `${speaker}: ${text}`;
      return `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${oneBlock(said)}\n`;
    })
    .join("\n");
}

/** https://www.w3.org/TR/webvtt1/ */
export function toWebVtt(spoken: Spoken): string {
  const blocks = cuesOf(spoken).map(({ start, end, text, speaker }) => {
    const escaped = oneBlock(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    return `${clock(start, ".")} --> ${clock(end, ".")}\n${speaker === undefined ? "" : `<v ${speaker}>`}${escaped}\n`;
  });
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** One cue per segment; a long one is split between words if their times are known. A cue ends before the next starts. */
function cuesOf({ segments, words }: Spoken): Cue[] {
  const ofSegment = Map.groupBy(words, ({ segment }) => segment);
  const cues = segments.flatMap(({ id, start, end, text, speaker_id: speaker }): Cue[] => {
    const own = ofSegment.get(id) ?? [];
    const fits = text.length <= longestText && end - start <= longestSeconds;
    if (fits || own.length === 0) return [{ start, end, text, speaker }];
    return cutBetweenWords(own).map((part) => ({
      start: part[0]!.start,
      end: part.at(-1)!.end,
      text: part.map(({ word }) => word).join(" "),
      speaker,
    }));
  });
  return cues.map((cue, index) => {
    const next = cues[index + 1]?.start ?? Infinity;
    return next > cue.start && next < cue.end ? { ...cue, end: next } : cue;
  });
}

function cutBetweenWords(words: readonly TranscriptionWord[]): TranscriptionWord[][] {
  const parts: TranscriptionWord[][] = [];
  let length = 0;
  for (const word of words) {
    const part = parts.at(-1);
    const longer = length + 1 + word.word.length;
    const fits = part !== undefined && longer <= longestText && word.end - part[0]!.start <= longestSeconds;
    if (fits) part.push(word);
    else parts.push([word]);
    length = fits ? longer : word.word.length;
  }
  return parts;
}

/** An empty line would end the cue. */
function oneBlock(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, "\n").trim();
}

/** `00:01:02.345` */
function clock(seconds: number, point: "," | "."): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  const fraction = String(ms % 1000).padStart(3, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${point}${fraction}`;
}

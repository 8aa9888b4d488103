/** Splits a segment of speech where the speaker changes. */
import type { SpeechSegment } from "../../audio/speech-segments.ts";
import { recognitionRate } from "./library-settings.ts";
import type { SpeakerTurns } from "./protocol.ts";
import type { Speaker, SpeakerRegistry } from "./speaker-registry.ts";

export interface SpokenPart extends SpeechSegment {
  readonly speaker: Speaker;
}

/** A part of less than this, in seconds, belongs to the one before. */
const shortestPart = 0.3;

interface Turn {
  readonly start: number;
  readonly end: number;
  readonly speaker: Speaker;
}

/** The parts in order of time; together they are the whole segment. */
export function partsBySpeaker(segment: SpeechSegment, found: SpeakerTurns, speakers: SpeakerRegistry): SpokenPart[] {
  const turns = namedTurns(found, speakers);
  const cuts = [0];
  const names: Speaker[] = [turns[0]?.speaker ?? "unknown"];
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    if (before === undefined || turn.speaker === names.at(-1)) continue;
    // In the middle of the pause between the two, or of what they say at the same time.
    const cut = (before.end + turn.start) / 2;
    if (cut - cuts.at(-1)! < shortestPart || turn.end - cut < shortestPart) continue;
    cuts.push(cut);
    names.push(turn.speaker);
  }
  return cuts.map((cut, index): SpokenPart => {
    const from = Math.round(cut * recognitionRate);
    const to = cuts[index + 1] === undefined ? undefined : Math.round(cuts[index + 1]! * recognitionRate);
    return {
      start: segment.start + from / recognitionRate,
      samples: segment.samples.slice(from, to),
      speaker: names[index]!,
    };
  });
}

/** The speaker who speaks longest. */
export function mainSpeaker(found: SpeakerTurns, speakers: SpeakerRegistry): Speaker {
  const seconds = new Map<Speaker, number>();
  for (const { start, end, speaker } of namedTurns(found, speakers)) {
    seconds.set(speaker, (seconds.get(speaker) ?? 0) + end - start);
  }
  const [longest] = [...seconds].sort(([, one], [, other]) => other - one);
  return longest?.[0] ?? "unknown";
}

/** The turns in the order of time; speakers are numbered in that order. */
function namedTurns({ turns, embeddings }: SpeakerTurns, speakers: SpeakerRegistry): Turn[] {
  const names = new Map<number, Speaker>();
  return [...turns]
    .sort((one, other) => one.start - other.start)
    .map(({ start, end, voice }) => {
      const speaker = names.get(voice) ?? speakers.identify(embeddings[voice]);
      names.set(voice, speaker);
      return { start, end, speaker };
    });
}

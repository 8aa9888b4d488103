/** A transcript: segments with their times and speakers, and the text that is not in a segment yet. */
import type { Player } from "../audio/player.ts";
import { SpokenText, SpokenWords } from "../audio/spoken-text.tsx";
import { formatClock } from "../audio/timed-words.ts";
import type { Transcript } from "./transcript.ts";

export function TranscriptText({
  transcript,
  player,
  complete,
}: {
  readonly transcript: Transcript;
  readonly player: Player;
  readonly complete: boolean;
}) {
  const { segments, tail } = transcript;
  return (
    <SpokenText words={transcript.timed} player={player} label="Transcript">
      {segments.map(({ segment, pieces }) => (
        <div key={segment.id} class="transcript-segment">
          <div class="transcript-margin">
            <span class="mono">{formatClock(segment.start)}</span>
            {segment.speaker_id !== undefined && <span class="badge">{segment.speaker_id}</span>}
          </div>
          <p dir="auto">
            <SpokenWords pieces={pieces} count={pieces.length} />
          </p>
        </div>
      ))}
      {tail !== "" && (
        <div class="transcript-segment">
          <div class="transcript-margin" />
          <p dir="auto" class={complete ? "" : "muted"}>
            {tail}
          </p>
        </div>
      )}
    </SpokenText>
  );
}

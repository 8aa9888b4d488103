/** What a transcription gave: the text while it arrives, what it took, and the exports. */
import { ErrorState, Notice } from "../../../design/states.tsx";
import { formatDuration, formatShare } from "../../../design/format.ts";
import type { Player } from "../audio/player.ts";
import { PlaygroundFacts } from "../playground-facts.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { TranscriptText } from "./transcript-text.tsx";
import type { TranscriptionRun } from "./transcription-run.ts";

export function TranscriptionResult({
  run,
  player,
  name,
  onRetry,
}: {
  readonly run: TranscriptionRun;
  readonly player: Player;
  readonly name: string;
  readonly onRetry: () => void;
}) {
  // The transcript is not a signal: it grows in place.
  void run.eventCount.value;
  const { transcript } = run;
  const state = run.state.value;
  const error = run.error.value;
  const empty = transcript.text === "";
  const active = state === "uploading" || state === "running";
  return (
    <section class="card stack" aria-label="Transcription" aria-busy={active}>
      {active && empty && <Progress run={run} />}
      {!empty && <TranscriptText transcript={transcript} player={player} complete={!active} />}
      {state === "complete" && empty && <Notice>The model heard no speech in this recording.</Notice>}
      {state === "stopped" && <Notice>Stopped: the rest was not transcribed.</Notice>}
      {error !== undefined &&
        (empty ? (
          <ErrorState error={error} onRetry={onRetry} />
        ) : (
          <Notice kind="error">
            <span class="foreign">{error.message}</span>
          </Notice>
        ))}
      {run.lacksWordTimes.value && !empty && (
        <p class="small muted">This model does not report the times of words: click a segment to play it.</p>
      )}
      <Facts run={run} player={player} />
      {!active && !empty && <ExportMenu transcript={transcript} name={name} />}
    </section>
  );
}

function Progress({ run }: { readonly run: TranscriptionRun }) {
  const uploading = run.state.value === "uploading";
  const text = uploading
    ? `Uploading the recording: ${formatShare(run.uploaded.value)}`
    : "Waiting for the first text…";
  return (
    <div class="transcription-progress">
      <progress
        aria-label={uploading ? "Upload" : "Transcription"}
        max={1}
        {...(uploading ? { value: run.uploaded.value } : {})}
      />
      <p class="small muted">{text}</p>
    </div>
  );
}

function Facts({ run, player }: { readonly run: TranscriptionRun; readonly player: Player }) {
  const first = run.firstTextMs.value;
  const total = run.totalMs.value;
  const duration = player.duration.value;
  return (
    <PlaygroundFacts
      traceId={run.traceId}
      facts={[
        ["Time to first text", first === undefined ? undefined : formatDuration(first)],
        ["Transcribed in", total === undefined || run.state.value !== "complete" ? undefined : formatDuration(total)],
        ["Audio", duration === 0 ? undefined : formatDuration(duration * 1000)],
        ["Words", run.transcript.words.length === 0 ? undefined : String(run.transcript.words.length)],
      ]}
    />
  );
}

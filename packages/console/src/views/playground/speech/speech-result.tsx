/** What a speech call gave: the player, the words, what it took, and the download. */
import { ErrorState, Notice } from "../../../design/states.tsx";
import { formatCount, formatDuration } from "../../../design/format.ts";
import { AudioPlayer } from "../audio/audio-player.tsx";
import type { SamplePlayer } from "../audio/sample-player.ts";
import { SpokenText, SpokenWords } from "../audio/spoken-text.tsx";
import { PlaygroundFacts } from "../playground-facts.tsx";
import { SpeechDownload } from "./speech-download.tsx";
import type { SpeechRun } from "./speech-run.ts";

export function SpeechResult({ run, onRetry }: { readonly run: SpeechRun; readonly onRetry: () => void }) {
  const error = run.error.value;
  const player = run.player.value;
  const state = run.state.value;
  if (error !== undefined && player === undefined) {
    return (
      <section class="card" aria-label="Speech">
        <ErrorState error={error} onRetry={onRetry} />
      </section>
    );
  }
  return (
    <section class="card stack" aria-label="Speech" aria-busy={state === "running"}>
      {player === undefined ? (
        <p class="speech-waiting muted" role="status">
          {state === "stopped" ? "Stopped before the first audio." : "Waiting for the first audio…"}
        </p>
      ) : (
        <Spoken run={run} player={player} />
      )}
      {error !== undefined && (
        <Notice kind="error">
          <span class="foreign">{error.message}</span>
        </Notice>
      )}
      {state === "stopped" && player !== undefined && (
        <Notice>Stopped: the rest was not synthesized. What arrived can be played and downloaded as WAV or PCM.</Notice>
      )}
      <Facts run={run} player={player} />
      {player !== undefined && <SpeechDownload run={run} player={player} />}
    </section>
  );
}

function Spoken({ run, player }: { readonly run: SpeechRun; readonly player: SamplePlayer }) {
  const count = run.pieceCount.value;
  return (
    <>
      <AudioPlayer player={player} />
      <SpokenText words={run.text.words} player={player} label="Spoken words">
        <SpokenWords pieces={run.text.pieces} count={count} />
        <span class="muted">{upcoming(run.text.rest)}</span>
      </SpokenText>
      {count === 0 && run.parameters.wordTimes && (
        <p class="small muted">The model does not report when words are spoken.</p>
      )}
    </>
  );
}

function Facts({ run, player }: { readonly run: SpeechRun; readonly player: SamplePlayer | undefined }) {
  const first = run.firstAudioMs.value;
  const total = run.totalMs.value;
  const duration = player?.duration.value ?? 0;
  return (
    <PlaygroundFacts
      traceId={run.traceId}
      facts={[
        ["Time to first audio", first === undefined ? undefined : formatDuration(first)],
        ["Synthesized in", total === undefined || run.state.value !== "complete" ? undefined : formatDuration(total)],
        ["Audio", duration === 0 ? undefined : formatDuration(duration * 1000)],
        ["Characters", formatCount(run.parameters.input.length)],
        ["Sample rate", player && `${player.sampleRate / 1000} kHz`],
      ]}
    />
  );
}

/** Laying out all of a book again for each word would take longer than the word. */
const longestUpcoming = 2_000;

function upcoming(rest: string): string {
  return rest.length <= longestUpcoming ? rest : `${rest.slice(0, longestUpcoming)}…`;
}

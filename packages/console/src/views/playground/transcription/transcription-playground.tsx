/** The playground for transcription models: a recording, the settings, and the text while it arrives. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { apiRoot } from "../../../api/request.ts";
import { formatBytes } from "../../../design/format.ts";
import { Icon } from "../../../design/icons.tsx";
import { AudioPlayer } from "../audio/audio-player.tsx";
import { FilePlayer } from "../audio/file-player.ts";
import { CodeMenu } from "../code-menu.tsx";
import type { PlaygroundProps } from "../playground-model.ts";
import { RecordingSource } from "./recording-source.tsx";
import { transcriptionCode } from "./transcription-code.ts";
import { TranscriptionResult } from "./transcription-result.tsx";
import { TranscriptionRun, withKnownTimes } from "./transcription-run.ts";
import { readTranscriptionSettings, TranscriptionSettingsForm } from "./transcription-settings.tsx";

interface Recording {
  readonly id: number;
  readonly file: File;
  readonly player: FilePlayer;
}

export function TranscriptionPlayground({ models }: PlaygroundProps) {
  const parameters = readTranscriptionSettings(models);
  const recording = useSignal<Recording | undefined>(undefined);
  const run = useSignal<TranscriptionRun | undefined>(undefined);
  const clear = () => {
    run.value?.stop();
    run.value = undefined;
    recording.value?.player.close();
    recording.value = undefined;
  };
  useEffect(() => clear, []);
  const take = (file: File) => {
    const id = (recording.value?.id ?? 0) + 1;
    clear();
    recording.value = { id, file, player: new FilePlayer(file) };
  };
  const transcribe = () => {
    run.value?.stop();
    if (recording.value !== undefined) run.value = new TranscriptionRun(parameters, recording.value.file);
  };
  const state = run.value?.state.value;
  const active = state === "uploading" || state === "running";
  const file = recording.value?.file;
  return (
    <div class="playground-columns">
      <div class="stack">
        <section class="card stack" aria-label="Recording">
          <RecordingSource onRecording={take} />
          {recording.value !== undefined && (
            <>
              <div class="recording-file">
                <strong class="clip">{recording.value.file.name}</strong>
                <span class="small muted">{formatBytes(recording.value.file.size)}</span>
                <button
                  type="button"
                  class="button quiet icon-only spread"
                  aria-label="Remove the recording"
                  title="Remove the recording"
                  onClick={clear}
                >
                  <Icon name="close" />
                </button>
              </div>
              <AudioPlayer key={recording.value.id} player={recording.value.player} />
            </>
          )}
        </section>
        <div class="row">
          {active ? (
            <button type="button" class="button transcription-start" onClick={() => run.value?.stop()}>
              <Icon name="stop" />
              Stop
            </button>
          ) : (
            <button
              type="button"
              class="button primary transcription-start"
              disabled={file === undefined}
              onClick={transcribe}
            >
              Transcribe
            </button>
          )}
          <CodeMenu
            code={(language) =>
              transcriptionCode(language, {
                url: apiRoot.href.replace(/\/$/, ""),
                parameters: withKnownTimes(parameters),
                file: file?.name ?? "recording.wav",
              })
            }
          />
        </div>
        {run.value !== undefined && recording.value !== undefined && (
          <TranscriptionResult
            key={run.value.traceId}
            run={run.value}
            player={recording.value.player}
            name={recording.value.file.name}
            onRetry={transcribe}
          />
        )}
      </div>
      <TranscriptionSettingsForm models={models} value={parameters} />
    </div>
  );
}

/** Where the recording comes from: a file that is dropped or chosen, or the microphone. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../design/icons.tsx";
import { Notice } from "../../../design/states.tsx";
import { formatClock } from "../audio/timed-words.ts";
import { Recorder } from "./recorder.ts";

export function RecordingSource({ onRecording }: { readonly onRecording: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const over = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const recorder = useSignal<Recorder | undefined>(undefined);
  const busy = useSignal(false);
  useEffect(() => () => recorder.value?.close(), []);
  const take = (files: FileList | null | undefined) => {
    problem.value = undefined;
    const file = files?.[0];
    if (file !== undefined) onRecording(file);
  };
  const attempt = async (work: () => Promise<void>) => {
    problem.value = undefined;
    busy.value = true;
    try {
      await work();
    } catch (error) {
      problem.value = (error as Error).message;
    } finally {
      busy.value = false;
    }
  };
  const start = () => attempt(async () => void (recorder.value = await Recorder.start(() => void stop())));
  const stop = () =>
    attempt(async () => {
      const running = recorder.value;
      recorder.value = undefined;
      if (running !== undefined) onRecording(await running.stop());
    });
  return (
    <div
      class={`recording-source ${over.value ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      {recorder.value === undefined ? (
        <>
          <div class="row recording-choices">
            <button type="button" class="button" onClick={() => input.current!.click()}>
              <Icon name="plus" />
              Choose a file
            </button>
            <button type="button" class="button" disabled={busy.value} onClick={() => void start()}>
              <Icon name="microphone" />
              Record
            </button>
          </div>
          <p class="small muted">
            Or drop a recording here: WAV, MP3, FLAC, Ogg, WebM, or M4A if the server has ffmpeg.
          </p>
        </>
      ) : (
        <RecordingMeter recorder={recorder.value} onStop={() => void stop()} />
      )}
      <input
        ref={input}
        class="recording-input"
        type="file"
        accept="audio/*,video/webm,video/mp4,.flac,.opus,.pcm,.raw"
        aria-label="Recording"
        tabIndex={-1}
        onChange={(event) => {
          take(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      {problem.value !== undefined && <Notice kind="error">{problem.value}</Notice>}
    </div>
  );
}

function RecordingMeter({ recorder, onStop }: { readonly recorder: Recorder; readonly onStop: () => void }) {
  const bar = useRef<HTMLDivElement>(null);
  useSignalEffect(() => {
    const level = recorder.level.value;
    if (bar.current !== null) bar.current.style.transform = `scaleX(${level})`;
  });
  const time = useComputed(() => formatClock(recorder.seconds.value));
  const percent = useComputed(() => Math.round(recorder.level.value * 10) * 10);
  return (
    <>
      <div class="row recording-choices">
        <button type="button" class="button primary" onClick={onStop}>
          <Icon name="stop" />
          Stop recording
        </button>
        <span class="mono recording-time">{time}</span>
      </div>
      <div
        class="recording-level"
        role="meter"
        aria-label="Level of the microphone"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
      >
        <div ref={bar} />
      </div>
    </>
  );
}

/**
 * Downloads the audio in a format. The page plays samples, so it writes WAV and PCM from what it has; for a compressed format the
 * server synthesizes the text again.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { request } from "../../../api/request.ts";
import { Icon } from "../../../design/icons.tsx";
import { Notice } from "../../../design/states.tsx";
import { computed } from "@preact/signals";
import { parameters, setParameters } from "../../../state/address.ts";
import type { SamplePlayer } from "../audio/sample-player.ts";
import { wavFile } from "../audio/wav-file.ts";
import { saveFile } from "../save-file.ts";
import { speechBody, speechFormats, type SpeechFormat } from "./speech-parameters.ts";
import type { SpeechRun } from "./speech-run.ts";

const titles: Readonly<Record<SpeechFormat, string>> = {
  wav: "WAV",
  mp3: "MP3",
  opus: "Opus (Ogg)",
  pcm: "PCM (16-bit samples)",
};

/** The format in the address. */
export const downloadFormat = computed<SpeechFormat>(
  () => speechFormats.find((format) => format === parameters.value.get("format")) ?? "wav",
);

export function SpeechDownload({ run, player }: { readonly run: SpeechRun; readonly player: SamplePlayer }) {
  const id = useId();
  const error = useSignal<Error | undefined>(undefined);
  const loading = useSignal(false);
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const format = downloadFormat.value;
  const encoded = format === "mp3" || format === "opus";
  const complete = run.state.value === "complete";
  const download = async () => {
    error.value = undefined;
    loading.value = true;
    try {
      saveFile(await fileOf(run, { player, format, signal: controller.current.signal }), `speech.${format}`);
    } catch (thrown) {
      if (!controller.current.signal.aborted) error.value = thrown as Error;
    } finally {
      loading.value = false;
    }
  };
  return (
    <>
      <div class="row">
        <label class="small" for={`${id}-format`}>
          Format
        </label>
        <select
          id={`${id}-format`}
          class="select"
          value={format}
          onChange={(event) => {
            const chosen = event.currentTarget.value;
            setParameters({ format: chosen === "wav" ? undefined : chosen }, { replace: true });
          }}
        >
          {speechFormats.map((each) => (
            <option key={each} value={each}>
              {titles[each]}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="button"
          disabled={loading.value || run.state.value === "running" || (encoded && !complete)}
          onClick={() => void download()}
        >
          <Icon name="download" />
          {loading.value ? "Preparing…" : "Download"}
        </button>
        {encoded && <span class="small muted">Synthesizes the text again, as another call.</span>}
      </div>
      {error.value !== undefined && (
        <Notice kind="error">
          <span class="foreign">{error.value.message}</span>
        </Notice>
      )}
    </>
  );
}

async function fileOf(
  run: SpeechRun,
  { player, format, signal }: { player: SamplePlayer; format: SpeechFormat; signal: AbortSignal },
): Promise<Blob> {
  switch (format) {
    case "wav":
      return new Blob(wavFile(player.samples, player.sampleRate), { type: "audio/wav" });
    case "pcm":
      return new Blob([player.samples], { type: `audio/pcm;rate=${player.sampleRate}` });
    case "mp3":
    case "opus":
      return (await request("v1/audio/speech", { json: speechBody(run.parameters, format), signal })).blob();
  }
}

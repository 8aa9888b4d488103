/** The settings of a transcription, which the address keeps. */
import { useId } from "preact/hooks";
import { parameters, setParameters } from "../../../state/address.ts";
import { keptText } from "../kept-text.ts";
import { firstModel, ModelField } from "../model-field.tsx";
import type { PlaygroundModel } from "../playground-model.ts";
import { timestampChoices, type Timestamps, type TranscriptionParameters } from "./transcription-parameters.ts";

const timestampTitles: Readonly<Record<Timestamps, string>> = {
  word: "Words and segments",
  segment: "Segments",
  none: "None",
};

/** In this tab only: a prompt may be confidential, and servers and proxies log addresses. */
const prompt = keptText("sounding.playground.transcription-prompt", "");

/** The settings in the address, completed by defaults. */
export function readTranscriptionSettings(models: readonly PlaygroundModel[]): TranscriptionParameters {
  const query = parameters.value;
  return {
    model: query.get("model") ?? firstModel(models),
    language: query.get("language") ?? "",
    prompt: prompt.value.trim(),
    timestamps: timestampChoices.find((choice) => choice === query.get("timestamps")) ?? "word",
  };
}

export function TranscriptionSettingsForm({
  models,
  value,
}: {
  readonly models: readonly PlaygroundModel[];
  readonly value: TranscriptionParameters;
}) {
  const id = useId();
  const set = (changes: Record<string, string | undefined>) => setParameters(changes, { replace: true });
  return (
    <section class="playground-settings" aria-label="Settings">
      <ModelField models={models} value={value.model} onChange={(model) => set({ model })} />
      <div class="field">
        <label for={`${id}-language`}>Language</label>
        <input
          id={`${id}-language`}
          class="input"
          placeholder="en-US, fr, de-AT…"
          maxLength={35}
          value={value.language}
          onChange={(event) => set({ language: event.currentTarget.value.trim() || undefined })}
        />
      </div>
      <div class="field">
        <label for={`${id}-timestamps`}>Times</label>
        <select
          id={`${id}-timestamps`}
          class="select"
          value={value.timestamps}
          onChange={(event) => {
            const choice = event.currentTarget.value;
            set({ timestamps: choice === "word" ? undefined : choice });
          }}
        >
          {timestampChoices.map((choice) => (
            <option key={choice} value={choice}>
              {timestampTitles[choice]}
            </option>
          ))}
        </select>
      </div>
      <details open={prompt.value !== ""}>
        <summary>More settings</summary>
        <div class="field">
          <label for={`${id}-prompt`}>Prompt</label>
          <textarea
            id={`${id}-prompt`}
            class="textarea"
            rows={2}
            maxLength={32_768}
            value={prompt.value}
            onInput={(event) => (prompt.value = event.currentTarget.value)}
          />
          <p class="hint">Words that the speaker may use. Models without support for prompts ignore it.</p>
        </div>
      </details>
    </section>
  );
}

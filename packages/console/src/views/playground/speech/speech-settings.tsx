/** The settings of a speech call: model, voice, speed, and what they can be for the model. */
import type { VoiceList } from "@sounding/client";
import { useEffect, useId } from "preact/hooks";
import { requestJson } from "../../../api/request.ts";
import { useQuery } from "../../../api/use-query.ts";
import { Icon } from "../../../design/icons.tsx";
import { Notice } from "../../../design/states.tsx";
import { parameters, setParameters } from "../../../state/address.ts";
import { playSample, sample, stopSample } from "../../models/play-sample.ts";
import { firstModel, ModelField } from "../model-field.tsx";
import type { PlaygroundModel } from "../playground-model.ts";
import type { SpeechParameters } from "./speech-parameters.ts";
import { byLanguage, languageName, languagesOf, speaks, voiceLabel, type Voice } from "./voices.ts";

const sampleRates = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];

export type SpeechSettingsValue = Omit<SpeechParameters, "input">;

export interface SpeechSettings {
  /** The voice is empty until the voices are known. */
  readonly value: SpeechSettingsValue;
  /** Undefined while they are loading. */
  readonly voices: readonly Voice[] | undefined;
  readonly voicesError: Error | undefined;
}

/** The settings in the address, completed by what the model offers. */
export function useSpeechSettings(models: readonly PlaygroundModel[]): SpeechSettings {
  const read = (name: string): string | undefined => parameters.value.get(name) ?? undefined;
  const model = read("model") ?? firstModel(models);
  const { data, error } = useQuery(
    async (signal) => {
      const { data: voices } = await requestJson<VoiceList>("v1/audio/voices", {
        query: { model },
        signal,
      });
      return { model, voices };
    },
    [model],
  );
  const voices = data.value?.model === model ? data.value.voices : undefined;
  const language = read("language");
  const voice = read("voice") ?? voices?.find((each) => speaks(each, language))?.name ?? "";
  const languages = voices?.find(({ name }) => name === voice)?.languages ?? [];
  const speed = Number(read("speed") ?? 1);
  return {
    value: {
      model,
      voice,
      speed: speed >= 0.25 && speed <= 4 ? speed : 1,
      sampleRate: sampleRates.find((rate) => String(rate) === read("sample_rate")),
      language: languages.length > 1 || languages.includes("*") ? language : undefined,
      instructions: read("instructions") ?? "",
      wordTimes: read("word_times") !== "off",
    },
    voices,
    voicesError: error.value,
  };
}

export function SpeechSettingsForm({
  models,
  settings,
}: {
  readonly models: readonly PlaygroundModel[];
  readonly settings: SpeechSettings;
}) {
  const id = useId();
  const { value, voices, voicesError } = settings;
  const set = (changes: Record<string, string | undefined>) => setParameters(changes, { replace: true });
  return (
    <section class="playground-settings" aria-label="Settings">
      <ModelField
        models={models}
        value={value.model}
        onChange={(model) => set({ model, voice: undefined, language: undefined })}
      />
      {voicesError !== undefined && (
        <Notice kind="error">
          <span class="foreign">{voicesError.message}</span>
        </Notice>
      )}
      <VoiceFields key={value.model} value={value} voices={voices} failed={voicesError !== undefined} onChange={set} />
      <div class="field">
        <label for={`${id}-speed`}>Speed</label>
        <div class="row">
          <input
            id={`${id}-speed`}
            class="speech-speed"
            type="range"
            min={0.25}
            max={4}
            step={0.05}
            value={value.speed}
            aria-valuetext={`${value.speed} times`}
            onInput={(event) => {
              const speed = event.currentTarget.value;
              set({ speed: speed === "1" ? undefined : speed });
            }}
          />
          <output class="mono" for={`${id}-speed`}>
            {value.speed.toFixed(2)}×
          </output>
        </div>
      </div>
      <details open={value.sampleRate !== undefined || value.instructions !== "" || !value.wordTimes}>
        <summary>More settings</summary>
        <div class="stack">
          <div class="field">
            <label class="row" for={`${id}-words`}>
              <input
                id={`${id}-words`}
                type="checkbox"
                checked={value.wordTimes}
                onChange={(event) => set({ word_times: event.currentTarget.checked ? undefined : "off" })}
              />
              Highlight words
            </label>
            <p class="hint">Remote models begin earlier without: they are otherwise called phrase by phrase.</p>
          </div>
          <div class="field">
            <label for={`${id}-rate`}>Sample rate</label>
            <select
              id={`${id}-rate`}
              class="select"
              value={value.sampleRate ?? ""}
              onChange={(event) => set({ sample_rate: event.currentTarget.value || undefined })}
            >
              <option value="">The voice's own</option>
              {sampleRates.map((rate) => (
                <option key={rate} value={rate}>
                  {rate} Hz
                </option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for={`${id}-instructions`}>Instructions</label>
            <textarea
              id={`${id}-instructions`}
              class="textarea"
              rows={2}
              maxLength={4_096}
              value={value.instructions}
              onChange={(event) => set({ instructions: event.currentTarget.value || undefined })}
            />
            <p class="hint">How to speak, such as “calmly”. Models that do not support this refuse the call.</p>
          </div>
        </div>
      </details>
    </section>
  );
}

function VoiceFields({
  value,
  voices,
  failed,
  onChange,
}: {
  readonly value: SpeechSettingsValue;
  readonly voices: readonly Voice[] | undefined;
  readonly failed: boolean;
  readonly onChange: (changes: Record<string, string | undefined>) => void;
}) {
  const id = useId();
  const language = parameters.value.get("language") ?? undefined;
  if ((voices === undefined && failed) || voices?.length === 0) {
    return (
      <div class="field">
        <label for={`${id}-name`}>Voice</label>
        <input
          id={`${id}-name`}
          class="input"
          value={value.voice}
          onChange={(event) => onChange({ voice: event.currentTarget.value.trim() || undefined })}
        />
        <p class="hint">The model does not list its voices. Enter the name of one, such as “alloy”.</p>
      </div>
    );
  }
  const all = voices ?? [];
  const fitting = all.filter((voice) => speaks(voice, language));
  const selected = all.find(({ name }) => name === value.voice);
  return (
    <>
      <div class="field">
        <label for={`${id}-language`}>Language</label>
        <select
          id={`${id}-language`}
          class="select"
          value={language ?? ""}
          disabled={voices === undefined}
          onChange={(event) => {
            const code = event.currentTarget.value || undefined;
            const stays = selected !== undefined && speaks(selected, code);
            onChange({ language: code, ...(stays ? {} : { voice: undefined }) });
          }}
        >
          <option value="">All languages</option>
          {languagesOf(all).map((code) => (
            <option key={code} value={code}>
              {languageName(code)}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for={`${id}-voice`}>Voice</label>
        <div class="speech-voice">
          <select
            id={`${id}-voice`}
            class="select"
            value={value.voice}
            disabled={voices === undefined}
            onChange={(event) => onChange({ voice: event.currentTarget.value })}
          >
            {selected === undefined && <option value={value.voice}>{value.voice || "Loading…"}</option>}
            {[...byLanguage(fitting)].map(([name, group]) => (
              <optgroup key={name} label={name}>
                {group.map((voice) => (
                  <option key={voice.name} value={voice.name}>
                    {voiceLabel(voice)}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
          <VoiceSample voice={selected} />
        </div>
        {selected?.description && <p class="hint foreign">{selected.description}</p>}
      </div>
    </>
  );
}

/** Speaks a sentence with the selected voice. */
function VoiceSample({ voice }: { readonly voice: Voice | undefined }) {
  useEffect(() => stopSample, [voice?.name]);
  const current = sample.value?.voice === voice?.name ? sample.value : undefined;
  const active = current !== undefined && current.state !== "failed";
  const name = active ? "Stop the sample" : "Play a sample";
  return (
    <>
      <button
        type="button"
        class="button icon-only"
        aria-label={name}
        title={name}
        disabled={voice === undefined}
        onClick={() => (active || voice === undefined ? stopSample() : void playSample(voice))}
      >
        <Icon name={active ? "stop" : "play"} />
      </button>
      {current?.error !== undefined && (
        <Notice kind="error">
          <span class="foreign">{current.error.message}</span>
        </Notice>
      )}
    </>
  );
}

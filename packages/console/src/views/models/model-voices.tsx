/** The voices of a speech model, with a sample of each. */
import type { VoiceList } from "@sounding/client";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { Icon } from "../../design/icons.tsx";
import { ErrorState, Loading } from "../../design/states.tsx";
import { formatCount } from "../../design/format.ts";
import { playSample, sample, stopSample, type Voice } from "./play-sample.ts";

/** How many voices are shown at first. */
const firstVoices = 24;

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

function nameOf(language: string): string {
  if (language === "*") return "Any language";
  try {
    return languageNames.of(language) ?? language;
  } catch {
    return language;
  }
}

export function ModelVoices({ model }: { readonly model: string }) {
  const query = useQuery(
    (signal) => requestJson<VoiceList>("v1/audio/voices", { query: { model }, signal }).then(({ data }) => data),
    [model],
  );
  useEffect(() => stopSample, []);
  if (query.error.value !== undefined) return <ErrorState error={query.error.value} onRetry={query.reload} />;
  if (query.data.value === undefined) return <Loading what="the voices" />;
  return <VoiceGrid voices={query.data.value} />;
}

function VoiceGrid({ voices }: { readonly voices: readonly Voice[] }) {
  const search = useSignal("");
  const all = useSignal(false);
  const wanted = search.value.trim().toLowerCase();
  const found = voices.filter(({ name, languages }) =>
    [name, ...languages, ...languages.map(nameOf)].some((text) => text.toLowerCase().includes(wanted)),
  );
  const shown = all.value ? found : found.slice(0, firstVoices);
  if (voices.length === 0) return <p class="muted">The engine takes names of voices, and lists none.</p>;
  return (
    <>
      {voices.length > firstVoices && (
        <input
          class="input"
          type="search"
          aria-label="Search voices by name or language"
          placeholder={`Search ${formatCount(voices.length)} voices by name or language`}
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
      )}
      <ul class="models-voices">
        {shown.map((voice) => (
          <VoiceCard key={voice.name} voice={voice} />
        ))}
      </ul>
      {found.length === 0 && <p class="muted">No voice matches.</p>}
      {shown.length < found.length && (
        <button type="button" class="button" onClick={() => (all.value = true)}>
          Show all {formatCount(found.length)} voices
        </button>
      )}
    </>
  );
}

function VoiceCard({ voice }: { readonly voice: Voice }) {
  const { name, languages, gender, description } = voice;
  const current = sample.value?.voice === name ? sample.value : undefined;
  const playing = current?.state === "loading" || current?.state === "playing";
  return (
    <li class="models-voice">
      <button
        type="button"
        class="button icon-only"
        aria-label={playing ? `Stop the sample of ${name}` : `Play a sample of ${name}`}
        aria-pressed={playing}
        onClick={() => (playing ? stopSample() : void playSample(voice))}
      >
        {current?.state === "loading" ? (
          <span class="spinner" aria-hidden="true" />
        ) : (
          <Icon name={playing ? "stop" : "play"} />
        )}
      </button>
      <div class="models-voice-text">
        <strong class="clip" title={name}>
          {name}
        </strong>
        <span class="small muted clip" title={description ?? undefined}>
          {[languages.slice(0, 3).map(nameOf).join(", "), gender].filter(Boolean).join(" · ")}
          {languages.length > 3 && ` and ${languages.length - 3} more`}
        </span>
        {current?.error !== undefined && (
          <span class="small models-errors foreign" role="alert">
            {current.error.message}
          </span>
        )}
      </div>
    </li>
  );
}

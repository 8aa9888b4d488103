/** The playground for speech models: a text, the settings, and the audio with its words. */
import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import { apiRoot } from "../../../api/request.ts";
import { Icon } from "../../../design/icons.tsx";
import { EmptyState } from "../../../design/states.tsx";
import { formatCount } from "../../../design/format.ts";
import { CodeMenu } from "../code-menu.tsx";
import { keptText } from "../kept-text.ts";
import type { PlaygroundProps } from "../playground-model.ts";
import { speechCode } from "./speech-code.ts";
import { downloadFormat } from "./speech-download.tsx";
import { SpeechResult } from "./speech-result.tsx";
import { SpeechRun } from "./speech-run.ts";
import { SpeechSettingsForm, useSpeechSettings } from "./speech-settings.tsx";

/** In this tab only: unlike the settings, a text is not put into the address, which servers and proxies log. */
const text = keptText(
  "sounding.playground.speech",
  "Hello! Sounding turns this text into speech. Each word is highlighted while it is spoken. Click one to hear it again.",
);

export function SpeechPlayground({ models }: PlaygroundProps) {
  const id = useId();
  const settings = useSpeechSettings(models);
  const run = useSignal<SpeechRun | undefined>(undefined);
  useEffect(() => () => run.value?.close(), []);
  const running = run.value?.state.value === "running";
  const ready = settings.value.voice !== "" && text.value.trim() !== "";
  const parameters = { ...settings.value, input: text.value };
  const speak = () => {
    if (!ready) return;
    run.value?.close();
    run.value = new SpeechRun(parameters);
  };
  return (
    <div class="playground-columns">
      <div class="stack">
        <div class="field">
          <label for={`${id}-text`}>Text</label>
          <textarea
            id={`${id}-text`}
            class="textarea"
            rows={5}
            dir="auto"
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              speak();
            }}
          />
        </div>
        <div class="row">
          {running ? (
            <button type="button" class="button speech-speak" onClick={() => run.value?.stop()}>
              <Icon name="stop" />
              Stop
            </button>
          ) : (
            <button type="button" class="button primary speech-speak" disabled={!ready} onClick={speak}>
              <Icon name="play" />
              Speak
            </button>
          )}
          <CodeMenu
            code={(language) =>
              speechCode(language, { url: apiRoot.href.replace(/\/$/, ""), parameters, format: downloadFormat.value })
            }
          />
          <span class="small muted spread">{formatCount(text.value.length)} characters</span>
        </div>
        {run.value === undefined ? (
          <EmptyState title="Nothing has been spoken yet" icon="playground">
            <p>
              Press <strong>Speak</strong>, or Ctrl and Enter in the text. The audio begins while the rest is being
              synthesized.
            </p>
          </EmptyState>
        ) : (
          <SpeechResult key={run.value.traceId} run={run.value} onRetry={speak} />
        )}
      </div>
      <SpeechSettingsForm models={models} settings={settings} />
    </div>
  );
}

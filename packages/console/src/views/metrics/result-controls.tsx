/** How results are evaluated and shown: range or instant, the kind of chart, the step, exemplars. */
import { useSignal } from "@preact/signals";
import { setParameters } from "../../state/address.ts";
import {
  drawsExemplars,
  givenStep,
  isInstant,
  parseStep,
  resultView,
  showsExemplars,
  type ResultView,
} from "./metrics-address.ts";
import { stepText } from "./step.ts";

const views: readonly (readonly [ResultView, string])[] = [
  ["line", "Lines"],
  ["stacked", "Stacked"],
  ["heatmap", "Heat map"],
  ["table", "Table"],
];

export function ResultControls({ stepMs }: { readonly stepMs: number }) {
  return (
    <div class="row metrics-controls">
      <div class="metrics-choice" role="group" aria-label="Evaluation">
        <button
          type="button"
          class="button"
          aria-pressed={!isInstant.value}
          onClick={() => setParameters({ mode: undefined })}
        >
          Range
        </button>
        <button
          type="button"
          class="button"
          aria-pressed={isInstant.value}
          onClick={() => setParameters({ mode: "instant" })}
        >
          Instant
        </button>
      </div>
      {!isInstant.value && (
        <>
          <div class="metrics-choice" role="group" aria-label="Result as">
            {views.map(([view, title]) => (
              <button
                key={view}
                type="button"
                class="button"
                aria-pressed={resultView.value === view}
                onClick={() => setParameters({ view: view === "line" ? undefined : view })}
              >
                {title}
              </button>
            ))}
          </div>
          <StepField stepMs={stepMs} />
          {drawsExemplars.value && (
            <button
              type="button"
              class="button"
              aria-pressed={showsExemplars.value}
              onClick={() => setParameters({ exemplars: showsExemplars.value ? "0" : undefined })}
            >
              Exemplars
            </button>
          )}
        </>
      )}
    </div>
  );
}

function StepField({ stepMs }: { readonly stepMs: number }) {
  const invalid = useSignal(false);
  const apply = (text: string): void => {
    invalid.value = text.trim() !== "" && parseStep(text) === undefined;
    if (!invalid.value) setParameters({ step: text.trim() === "" ? undefined : text.trim() });
  };
  return (
    <label class="row metrics-step">
      <span class="small muted">Step</span>
      <input
        class="input"
        size={8}
        autocomplete="off"
        placeholder={`auto: ${stepText(stepMs)}`}
        value={givenStep.value ?? ""}
        aria-invalid={invalid.value}
        title={invalid.value ? "A duration such as 15s, 2m or 1h; empty chooses it from the width" : undefined}
        onChange={({ currentTarget }) => apply(currentTarget.value)}
      />
    </label>
  );
}

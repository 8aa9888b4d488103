/** Which model is called, and what to expect of it if it is not ready. */
import { useId } from "preact/hooks";
import { Notice } from "../../design/states.tsx";
import { href } from "../../state/address.ts";
import type { PlaygroundModel } from "./playground-model.ts";

export function ModelField({
  models,
  value,
  onChange,
}: {
  readonly models: readonly PlaygroundModel[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}) {
  const id = useId();
  const model = models.find((each) => each.id === value);
  return (
    <div class="field">
      <label for={id}>Model</label>
      <select id={id} class="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {model === undefined && <option value={value}>{value}</option>}
        {models.map((each) => (
          <option key={each.id} value={each.id}>
            {each.id}
            {each.state === "unavailable" ? " (unavailable)" : ""}
          </option>
        ))}
      </select>
      {model === undefined && (
        <Notice kind="warning">
          Your key cannot call the model <span class="foreign">{value}</span>. Select another one.
        </Notice>
      )}
      {model?.state === "not_loaded" && (
        <p class="hint">The first call loads this model into memory and takes longer.</p>
      )}
      {model?.state === "unavailable" && (
        <Notice kind="warning">
          Its latest calls failed: <span class="foreign">{model.state_reason ?? "no reason is known"}</span>. You can
          try it nevertheless, or see <a href={href(`models/${model.id}`)}>its targets</a>.
        </Notice>
      )}
    </div>
  );
}

/** Engines that are selected before others, and after them, when the address names no model. */
const engineRanks: Readonly<Record<string, number>> = { "sherpa-onnx": 0, "espeak-ng": 3, pocketsphinx: 3 };

/** The model to begin with: one that is made for this, is ready and sounds well. */
export function firstModel(models: readonly PlaygroundModel[]): string {
  const rank = ({ state, capabilities, engine }: PlaygroundModel): number =>
    (state === "unavailable" ? 10 : 0) + (capabilities.length > 1 ? 5 : 0) + (engineRanks[engine] ?? 1);
  return models.toSorted((one, other) => rank(one) - rank(other))[0]!.id;
}

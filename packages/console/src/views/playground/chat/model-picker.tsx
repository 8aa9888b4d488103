/** Selects the model, or two that are compared. */
import { Icon } from "../../../design/icons.tsx";
import type { PlaygroundModel } from "../playground-model.ts";
import type { ChatStore } from "./chat-store.ts";

export function ModelPicker({
  chat,
  models,
}: {
  readonly chat: ChatStore;
  readonly models: readonly PlaygroundModel[];
}) {
  const selected = chat.settings.value.models;
  const busy = chat.running.value;
  const choose = (column: number, id: string): void =>
    chat.change({ models: selected.map((each, index) => (index === column ? id : each)) });
  const other = models.find(({ id, state }) => id !== selected[0] && state !== "unavailable") ?? models[0];
  return (
    <div class="row chat-models">
      {selected.map((id, column) => (
        <ModelSelect
          key={column}
          label={selected.length === 1 ? "Model" : `Model ${column + 1}`}
          value={id}
          models={models}
          disabled={busy}
          onChange={(value) => choose(column, value)}
        />
      ))}
      {selected.length === 1 ? (
        <button
          type="button"
          class="button quiet"
          disabled={busy || other === undefined}
          onClick={() => chat.change({ models: [...selected, other!.id] })}
        >
          <Icon name="columns" />
          Compare
        </button>
      ) : (
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Stop comparing"
          title="Stop comparing"
          disabled={busy}
          onClick={() => chat.change({ models: selected.slice(0, 1) })}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

function ModelSelect({
  label,
  value,
  models,
  disabled,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly models: readonly PlaygroundModel[];
  readonly disabled: boolean;
  readonly onChange: (id: string) => void;
}) {
  const known = models.some(({ id }) => id === value);
  const reason = models.find(({ id }) => id === value)?.state_reason ?? undefined;
  return (
    <select
      class="select chat-model"
      aria-label={label}
      title={reason}
      disabled={disabled}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {!known && <option value={value}>{value} (not offered)</option>}
      {models.map(({ id, state }) => (
        <option key={id} value={id}>
          {id}
          {state === "unavailable" ? " (unavailable)" : ""}
        </option>
      ))}
    </select>
  );
}

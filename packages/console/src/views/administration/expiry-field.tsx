/** When a key expires: never, after a while, or on a day. */
import { useSignal, type Signal } from "@preact/signals";
import { Field } from "./form-dialog.tsx";

const daySeconds = 86_400;
const choices = [
  { id: "never", title: "Never" },
  { id: "7", title: "In 7 days" },
  { id: "30", title: "In 30 days" },
  { id: "90", title: "In 90 days" },
  { id: "365", title: "In a year" },
  { id: "day", title: "At the end of a day…" },
] as const;

type Choice = (typeof choices)[number]["id"];

/** @param expiresAt UNIX seconds; null: never */
export function ExpiryField({ expiresAt }: { readonly expiresAt: Signal<number | null> }) {
  const choice = useSignal<Choice>(expiresAt.value === null ? "never" : "day");
  const choose = (chosen: Choice) => {
    choice.value = chosen;
    if (chosen === "never") expiresAt.value = null;
    else expiresAt.value = Math.floor(Date.now() / 1000) + (chosen === "day" ? 30 : Number(chosen)) * daySeconds;
  };
  return (
    <div class="administration-expiry">
      <Field name="expires_at" label="Expires">
        {(props) => (
          <select
            {...props}
            class="select"
            value={choice.value}
            onChange={(event) => choose(event.currentTarget.value as Choice)}
          >
            {choices.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
      {choice.value === "day" && (
        <Field name="expires_on" label="Last day (UTC)">
          {(props) => (
            <input
              {...props}
              class="input"
              type="date"
              required
              value={new Date((expiresAt.value! - 1) * 1000).toISOString().slice(0, 10)}
              onInput={(event) => {
                const ms = event.currentTarget.valueAsNumber;
                if (Number.isFinite(ms)) expiresAt.value = ms / 1000 + daySeconds;
              }}
            />
          )}
        </Field>
      )}
    </div>
  );
}

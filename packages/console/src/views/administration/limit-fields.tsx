/** The limits of a key or an organization as fields of a form. */
import type { Signal } from "@preact/signals";
import type { LimitChanges } from "../../api/admin-types.ts";
import { Field } from "./form-dialog.tsx";

export type LimitName = keyof LimitChanges;

export const limitTitles: Readonly<Record<LimitName, string>> = {
  requests_per_minute: "Requests per minute",
  tokens_per_minute: "Tokens per minute",
  concurrent_requests: "Concurrent requests",
  tokens_per_month: "Tokens per month",
  compute_seconds_per_minute: "Compute seconds per minute",
};
const limitNames = Object.keys(limitTitles) as LimitName[];

/** What the fields contain; empty: no limit of its own. */
export type LimitTexts = Readonly<Record<LimitName, string>>;

export function limitTexts(limits: Readonly<Partial<Record<LimitName, number | null>>> = {}): LimitTexts {
  return Object.fromEntries(limitNames.map((name) => [name, limits[name]?.toString() ?? ""])) as LimitTexts;
}

/** The limits that differ; null removes one. Undefined if none does. */
export function limitChanges(before: LimitTexts, after: LimitTexts): LimitChanges | undefined {
  const changed = limitNames.filter((name) => before[name].trim() !== after[name].trim());
  if (changed.length === 0) return undefined;
  return Object.fromEntries(
    changed.map((name) => [name, after[name].trim() === "" ? null : Number(after[name])]),
  ) as LimitChanges;
}

export function LimitFields({ texts, open }: { readonly texts: Signal<LimitTexts>; readonly open: boolean }) {
  return (
    <details class="administration-limits" open={open}>
      <summary>Limits</summary>
      <p class="small muted">Empty: the limit of the server's configuration applies, if it has one.</p>
      <div class="administration-limit-fields">
        {limitNames.map((name) => (
          <Field key={name} name={`limits.${name}`} label={limitTitles[name]}>
            {(props) => (
              <input
                {...props}
                class="input"
                type="number"
                min="1"
                step="1"
                inputMode="numeric"
                placeholder="Not set"
                value={texts.value[name]}
                onInput={(event) => (texts.value = { ...texts.value, [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}

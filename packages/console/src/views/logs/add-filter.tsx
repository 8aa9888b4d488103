/** A form that adds a filter by an attribute or a trace. */
import { useSignal } from "@preact/signals";
import type { ValueFilter } from "./label-filter.ts";
import { filterBy } from "./log-filters.ts";

export function AddFilter({ onDone }: { readonly onDone: () => void }) {
  const problem = useSignal<string | undefined>(undefined);
  const apply = (form: FormData, exclude: boolean): void => {
    const name = textOf(form, "name").trim();
    const value = textOf(form, "value");
    const filter = filterOf(name, value);
    if (typeof filter === "string") {
      problem.value = filter;
      return;
    }
    filterBy(filter, exclude);
    onDone();
  };
  return (
    <form
      class="logs-add-filter"
      onSubmit={(event) => {
        event.preventDefault();
        const button = event.submitter as HTMLButtonElement | null;
        apply(new FormData(event.currentTarget), button?.value === "exclude");
      }}
    >
      <div class="field">
        <label for="logs-filter-name">Attribute</label>
        <input
          id="logs-filter-name"
          class="input mono"
          name="name"
          placeholder="user.id"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="logs-filter-help"
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autofocus
        />
      </div>
      <div class="field">
        <label for="logs-filter-value">Value</label>
        <input
          id="logs-filter-value"
          class="input mono"
          name="value"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={problem.value !== undefined}
          aria-describedby="logs-filter-help"
        />
      </div>
      <p id="logs-filter-help" class={problem.value === undefined ? "small muted" : "small logs-problem"}>
        {problem.value ?? "Of the line or its resource; also trace_id and span_id. The value must be equal."}
      </p>
      <div class="row">
        <button type="submit" class="button primary" value="include">
          Only these
        </button>
        <button type="submit" class="button" value="exclude">
          Exclude
        </button>
      </div>
    </form>
  );
}

const idLengths = { trace_id: 32, span_id: 16 } as const;

/** A text says what is wrong. */
function filterOf(name: string, value: string): ValueFilter | string {
  if (name === "") return "Enter the name of an attribute, such as user.id.";
  if (name !== "trace_id" && name !== "span_id") return { kind: "attribute", name, value };
  const digits = value.trim().toLowerCase();
  return /^[0-9a-f]+$/.test(digits) && digits.length === idLengths[name]
    ? { kind: "trace", name, value: digits }
    : `A ${name} has ${idLengths[name]} hexadecimal digits.`;
}

function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value : "";
}

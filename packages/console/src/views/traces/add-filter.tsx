/** A small form that adds a filter to the list of traces, with suggestions of what the telemetry contains. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useQuery } from "../../api/use-query.ts";
import { setParameters } from "../../state/address.ts";
import { moments } from "../../state/time-range.ts";
import { labelValues, type SuggestedLabel } from "../../telemetry/label-values.ts";
import { attributeFilters, setAttributeFilter } from "./trace-filters.ts";

interface Field {
  readonly title: string;
  readonly hint: string;
  readonly suggestions?: SuggestedLabel;
}

const fields = {
  service_name: { title: "Service", hint: "Traces with a span of this service.", suggestions: "service_name" },
  model: { title: "Model", hint: "The requested model, or the one that answered.", suggestions: "model_key" },
  operation: { title: "Operation", hint: "Such as chat, invoke_agent or execute_tool.", suggestions: "operation" },
  duration: { title: "Span duration", hint: "Traces with a span of this duration, in milliseconds." },
  attributes: { title: "Attribute", hint: "Of a span or its resource, with exactly this value." },
  conversation_id: { title: "Conversation", hint: "The conversation's or session's ID." },
} as const satisfies Readonly<Record<string, Field>>;
type FieldName = keyof typeof fields;

/** The API's limit. */
const mostAttributes = 16;

export function AddFilter({ onDone }: { readonly onDone: () => void }) {
  const field = useSignal<FieldName>("service_name");
  const id = useId();
  const { hint }: Field = fields[field.value];
  const full = field.value === "attributes" && Object.keys(attributeFilters.value).length >= mostAttributes;
  return (
    <form
      class="traces-add"
      onSubmit={(event) => {
        event.preventDefault();
        apply(field.value, new FormData(event.currentTarget));
        onDone();
      }}
    >
      <div class="field">
        <label for={`${id}-field`}>Filter by</label>
        <select
          id={`${id}-field`}
          class="select"
          value={field.value}
          onChange={({ currentTarget: { value } }) => void (field.value = value as FieldName)}
        >
          {Object.entries(fields).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <Values key={field.value} field={field.value} id={id} />
      <p class="small muted">{full ? `At most ${mostAttributes} attributes can be set. Remove one first.` : hint}</p>
      <button type="submit" class="button primary" disabled={full}>
        Add filter
      </button>
    </form>
  );
}

function Values({ field, id }: { readonly field: FieldName; readonly id: string }) {
  if (field === "duration") {
    return (
      <div class="traces-add-pair">
        <Input id={`${id}-min`} name="min" title="At least (ms)" type="number" required={false} />
        <Input id={`${id}-max`} name="max" title="At most (ms)" type="number" required={false} />
      </div>
    );
  }
  if (field === "attributes") {
    return (
      <div class="traces-add-pair">
        <Input id={`${id}-name`} name="name" title="Name" placeholder="http.route" />
        <Input id={`${id}-value`} name="value" title="Value" placeholder="/checkout" />
      </div>
    );
  }
  return <SuggestedValue field={field} id={id} />;
}

function SuggestedValue({ field, id }: { readonly field: FieldName; readonly id: string }) {
  const { suggestions, title }: Field = fields[field];
  const { data } = useQuery(
    (signal) => (suggestions === undefined ? undefined : labelValues(suggestions, moments.peek(), signal)),
    [field],
  );
  return (
    <>
      <Input id={`${id}-value`} name="value" title={title} list={`${id}-list`} />
      <datalist id={`${id}-list`}>
        {data.value?.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </>
  );
}

function Input({
  id,
  title,
  type = "text",
  required = true,
  ...rest
}: {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly type?: "text" | "number";
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly list?: string;
}) {
  return (
    <div class="field">
      <label for={id}>{title}</label>
      <input
        id={id}
        class="input"
        type={type}
        required={required}
        autocomplete="off"
        {...(type === "number" ? { min: 0, step: "any" } : { maxLength: 256 })}
        {...rest}
      />
    </div>
  );
}

function apply(field: FieldName, form: FormData): void {
  const text = (name: string): string | undefined => {
    const value = form.get(name);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  if (field === "attributes") setAttributeFilter(text("name") ?? "", text("value"));
  else if (field === "duration") setParameters({ min_duration_ms: text("min"), max_duration_ms: text("max") });
  else setParameters({ [field]: text("value") });
}

/** The controls that filter the list of traces: text or a trace ID, preset, project, status, and a menu of further filters. */
import type { TargetedEvent } from "preact";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { Icon } from "../../design/icons.tsx";
import { Menu } from "../../design/menu.tsx";
import { href, navigate, setParameters } from "../../state/address.ts";
import { ProjectSelect } from "../../telemetry/project-select.tsx";
import { AddFilter } from "./add-filter.tsx";
import { chips, clearFilters, defaultPreset, isFiltered, statuses, traceFilters, traceIdIn } from "./trace-filters.ts";

export function TraceFilterBar() {
  const { status = "" } = traceFilters.value;
  return (
    <div class="traces-filters">
      <TraceSearch />
      <PresetSelect />
      <ProjectSelect />
      <select
        class="select"
        aria-label="Span status"
        value={status ?? ""}
        onChange={({ currentTarget: { value } }) => setParameters({ status: value === "" ? undefined : value })}
      >
        <option value="">Any status</option>
        {Object.entries(statuses).map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
      <Menu
        button={
          <>
            <Icon name="plus" />
            Filter
          </>
        }
      >
        {(close) => <AddFilter onDone={close} />}
      </Menu>
      <FilterChips />
    </div>
  );
}

function FilterChips() {
  if (!isFiltered.value) return null;
  return (
    <div class="traces-chips" role="group" aria-label="Filters">
      {chips.value.map(({ name, value, remove }) => (
        <span key={name} class="traces-chip">
          <span class="muted clip">{name}</span>
          <span class="clip" dir="auto">
            {value.slice(0, 200)}
          </span>
          <button type="button" aria-label={`Remove the filter ${name.slice(0, 80)}`} onClick={remove}>
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
      <button type="button" class="button quiet" onClick={clearFilters}>
        Clear all
      </button>
    </div>
  );
}

/** A trace ID opens its trace at once. */
function TraceSearch() {
  const text = traceFilters.value.search ?? "";
  const openTrace = ({ currentTarget: { value } }: TargetedEvent<HTMLInputElement>): boolean => {
    const id = traceIdIn(value);
    if (id !== undefined) navigate(href(`traces/${id}`));
    return id !== undefined;
  };
  return (
    <form
      class="traces-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const search = new FormData(event.currentTarget).get("search");
        setParameters({ search: typeof search === "string" && search.trim() !== "" ? search.trim() : undefined });
      }}
    >
      <Icon name="search" />
      <input
        key={text}
        class="input"
        type="search"
        name="search"
        aria-label="Search text, or a trace ID"
        placeholder="Search text, or a trace ID"
        defaultValue={text}
        maxLength={1024}
        autocomplete="off"
        onInput={openTrace}
        // The field's own button that empties it.
        onSearch={({ currentTarget: { value } }: TargetedEvent<HTMLInputElement>) => {
          if (value === "") setParameters({ search: undefined });
        }}
      />
    </form>
  );
}

interface PresetList {
  readonly data: readonly { readonly name: string; readonly description: string }[];
}

function PresetSelect() {
  const { data } = useQuery((signal) => requestJson<PresetList>("observability/traces", { signal }));
  const { trace: selected } = traceFilters.value;
  // One of the built-in presets is another name of `agent_traces`.
  const presets = data.value?.data.filter(({ name }) => name !== "distiller_traces" || name === selected) ?? [];
  const names = presets.map(({ name }) => name);
  return (
    <select
      class="select"
      aria-label="Kind of traces"
      title={presets.find(({ name }) => name === selected)?.description}
      value={selected}
      onChange={({ currentTarget: { value } }) => setParameters({ trace: value === defaultPreset ? undefined : value })}
    >
      {[...new Set([...(names.length === 0 ? [defaultPreset] : names), selected])].map((name) => (
        <option key={name} value={name}>
          {presetTitle(name)}
        </option>
      ))}
    </select>
  );
}

/** `inference_traces` → `Inference traces`. */
function presetTitle(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The filters of the view "Logs" as controls and as chips that can be removed. */
import { useSignal } from "@preact/signals";
import type { LogHistogram } from "@sounding/client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { Menu } from "../../design/menu.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { parameter, parameters, setParameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { AddFilter } from "./add-filter.tsx";
import { levels } from "./log-entry.ts";
import type { LogFeed } from "./log-feed.ts";
import { clearFilters, filterChips, isFiltered, shownLevels, toggleLevel } from "./log-filters.ts";

export interface FilterBarProps {
  readonly feed: LogFeed;
  /** The projects that have logs. */
  readonly projects: readonly string[];
  readonly counts: LogHistogram | undefined;
}

export function FilterBar({ feed, projects, counts }: FilterBarProps) {
  const isBound = session.value?.project != null;
  const project = parameters.value.get("project") ?? "";
  return (
    <div class="logs-filters">
      <div class="row">
        <SearchField />
        {!isBound && (projects.length > 1 || project !== "") && (
          <select
            class="select logs-project"
            aria-label="Project"
            value={project}
            onChange={(event) => setParameters({ project: event.currentTarget.value || undefined })}
          >
            <option value="">All projects</option>
            {[...new Set([...projects, ...(project === "" ? [] : [project])])].map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
        <ServiceField feed={feed} />
        <Levels counts={counts} />
        <Menu
          button={
            <>
              <Icon name="filter" />
              Add filter
            </>
          }
        >
          {(close) => <AddFilter onDone={close} />}
        </Menu>
      </div>
      <Chips />
    </div>
  );
}

/** How long typing pauses before the search begins. */
const typingMs = 350;

function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  const search = useMemo(() => parameter("search"), []);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useShortcuts(() => [
    { keys: "/", description: "Search the lines", group: "This view", run: () => field.current?.focus() },
  ]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (field.current !== null && document.activeElement !== field.current) field.current.value = search.value ?? "";
  }, [search.value]);
  const apply = (text: string, replace: boolean) => {
    clearTimeout(timer.current);
    setParameters({ search: text === "" ? undefined : text.slice(0, 1024) }, { replace });
  };
  return (
    <input
      ref={field}
      class="input logs-search"
      type="search"
      aria-label="Search the lines"
      placeholder="Search the lines"
      autocomplete="off"
      spellcheck={false}
      defaultValue={search.peek() ?? ""}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => apply(value, search.peek() !== undefined), typingMs);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter") apply(event.currentTarget.value, true);
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}

/** With the services of the lines in view as suggestions. */
function ServiceField({ feed }: { readonly feed: LogFeed }) {
  const services = useSignal<readonly string[]>([]);
  const selected = parameters.value.get("service_name") ?? "";
  const suggest = () => {
    const names = new Set(feed.entries.peek().map(({ labels }) => labels["service_name"] ?? ""));
    services.value = [...names].filter((name) => name !== "").sort();
  };
  return (
    <>
      <input
        key={selected}
        class="input logs-service-field"
        aria-label="Service"
        placeholder="Any service"
        list="logs-services"
        autocomplete="off"
        spellcheck={false}
        maxLength={256}
        defaultValue={selected}
        onFocus={suggest}
        onChange={(event) => setParameters({ service_name: event.currentTarget.value || undefined })}
      />
      <datalist id="logs-services">
        {services.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}

function Levels({ counts }: { readonly counts: LogHistogram | undefined }) {
  const shown = shownLevels.value;
  const totals = useMemo(
    () =>
      new Map(levels.map((level) => [level, counts?.buckets.reduce((sum, bucket) => sum + bucket[level], 0)] as const)),
    [counts],
  );
  return (
    <div class="logs-levels" role="group" aria-label="Levels">
      {levels.map((level) => (
        <button
          key={level}
          type="button"
          class={`logs-level-toggle ${level}`}
          aria-pressed={shown.includes(level)}
          title={shown.length === levels.length ? `Only ${level}` : undefined}
          onClick={() => toggleLevel(level)}
        >
          <span class="logs-level-color" aria-hidden="true" />
          {level}
          <span class="muted">{formatCount(totals.get(level) ?? Number.NaN)}</span>
        </button>
      ))}
    </div>
  );
}

function Chips() {
  const chips = filterChips();
  if (chips.length === 0 && !isFiltered.value) return null;
  return (
    <ul class="logs-chips" aria-label="Filters">
      {chips.map((chip) => (
        <li key={`${chip.excluded ? "not" : ""} ${chip.name} ${chip.value}`} class={chip.excluded ? "excluded" : ""}>
          <span class="clip" title={`${chip.name} ${chip.excluded ? "is not" : "is"} ${chip.value}`}>
            <bdi>{chip.name}</bdi> {chip.excluded ? "≠" : "="} <bdi>{chip.value}</bdi>
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${chip.name} ${chip.excluded ? "≠" : "="} ${chip.value.slice(0, 80)}`}
            onClick={chip.remove}
          >
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
      <li class="plain">
        <button type="button" class="button quiet" onClick={clearFilters}>
          Clear filters
        </button>
      </li>
    </ul>
  );
}
